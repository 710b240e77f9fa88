"""How a test file names the server of a call, and the folder for it."""

from dataclasses import replace
from pathlib import Path

import pytest

from tui.addons.tests.keep.exchange import Exchange
from tui.addons.tests.keep.home import command_in, file_name, folder_for, program_in, written
from tui.addons.tests.suite.case import Request, RequestKind, SuiteServer
from tui.core.errors import UsageError
from tui.core.servers import Reference, ServerSpec, Transport
from tui.runtime.copies.origin import Launched, Origin, StartsIn, origin_of
from tui.settings.locations import default_servers

KEY = "hunter2-hunter2"


def redact(text: str) -> str:
    return text.replace(KEY, "[redacted:API_KEY]")


def server(spec: ServerSpec, base: Path, folder: Path) -> SuiteServer:
    return written(Origin.of_spec(spec, str(base), configured=False), folder, redact).server


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a project with a server in a folder below."""
    (tmp_path / "src").mkdir()
    (tmp_path / ".git").mkdir()
    (tmp_path / "src" / "server.py").touch()
    return tmp_path


def test_a_command_is_written_as_it_was_typed_with_its_folder(project: Path):
    spec = ServerSpec("s", "python", ("server.py", "-v"))
    assert server(spec, project / "src", project) == SuiteServer(
        command=("python", "server.py", "-v"), cwd="src"
    )
    assert server(spec, project / "src", project / "src").cwd == ""


def test_absolute_paths_in_the_folder_of_the_file_become_relative(project: Path):
    (project / "run").touch()
    spec = ServerSpec("s", str(project / "run"), (str(project / "src" / "server.py"), "/etc/hosts"))
    assert server(spec, project, project).command == ("./run", "src/server.py", "/etc/hosts")


def test_a_server_in_a_folder_of_its_own_starts_in_the_folder_of_the_file(project: Path, tmp_path: Path):
    spec = ServerSpec("s", "python", (str(project / "src" / "server.py"),), folder=str(tmp_path / "state"))
    assert server(spec, project, project) == SuiteServer(command=("python", "src/server.py"))


def test_secrets_in_variables_and_headers_become_names(project: Path):
    env = {"API_KEY": "short", "MODE": "test", "OTHER": f"x{KEY}", "HOST": "from-env"}
    spec = ServerSpec(
        "s", "python", env=env, references={"env.HOST": Reference("${HOST_NAME}", ("HOST_NAME",))}
    )
    made = written(Origin.of_spec(spec, str(project), configured=False), project, redact)
    assert made.server.env == {
        "API_KEY": "${API_KEY}",
        "MODE": "test",
        "OTHER": "${OTHER}",
        "HOST": "${HOST_NAME}",
    }
    assert made.needs == ("API_KEY", "OTHER", "HOST_NAME")
    remote = ServerSpec(
        "my-api", url="https://h.example/mcp", transport=Transport.HTTP, headers={"Authorization": "Bearer x"}
    )
    assert server(remote, project, project).headers == {"Authorization": "${MY_API_AUTHORIZATION}"}


def test_a_url_with_a_secret_becomes_a_name(project: Path):
    spec = ServerSpec("api", url=f"https://h.example/mcp?k={KEY}", transport=Transport.HTTP)
    assert server(spec, project, project).url == "${API_URL}"


@pytest.mark.parametrize("words", [("--token", "abcdefgh12345678"), (f"--x={KEY}",), ("[redacted:token]",)])
def test_a_command_with_a_secret_is_refused(words: tuple[str, ...], project: Path):
    with pytest.raises(UsageError, match="contains a secret"):
        server(ServerSpec("s", "python", words), project, project)


def test_a_recorded_server_has_the_names_of_its_variables(project: Path):
    launched = Launched(("python", "server.py"), str(project / "src"), ("MODE",))
    exchange = Exchange("s", Request(RequestKind.TOOL, "t"), launched=launched)
    made = written(origin_of(exchange.server, exchange.launched, (), project), project, redact)
    assert made.server == SuiteServer(command=("python", "server.py"), env={"MODE": "${MODE}"}, cwd="src")


def test_a_recorded_header_with_a_secret_becomes_a_name(project: Path):
    headers = {"X-Api-Key": "[redacted:x-api-key]", "X-Mode": "test"}
    launched = Launched(url="http://127.0.0.1/mcp", headers=headers)
    exchange = Exchange("local", Request(RequestKind.TOOL, "t"), launched=launched)
    made = written(origin_of(exchange.server, exchange.launched, (), project), project, redact)
    assert made.server.headers == {"X-Api-Key": "${LOCAL_X_API_KEY}", "X-Mode": "test"}


def test_a_recorded_server_that_is_configured_alike_is_that_one(project: Path):
    launched = Launched(("python", "server.py"))
    exchange = Exchange("s", Request(RequestKind.TOOL, "t"), launched=launched)
    same, other = ServerSpec("s", "python", ("server.py",)), ServerSpec("s", "python", ("other.py",))
    assert origin_of(exchange.server, exchange.launched, [same], project).configured
    assert not origin_of(exchange.server, exchange.launched, [other], project).configured
    typed = replace(exchange, launched=replace(launched, is_unconfigured=True))
    assert not origin_of(typed.server, typed.launched, [same], project).configured


def test_a_recorded_server_in_a_folder_of_its_own_starts_in_that_of_the_file(project: Path):
    command = ("python", str(project / "src" / "server.py"))
    launched = Launched(command, str(project / "state"), starts_in=StartsIn.ITS_OWN)
    exchange = Exchange("s", Request(RequestKind.TOOL, "t"), launched=launched)
    made = written(origin_of(exchange.server, exchange.launched, (), project), project, redact)
    assert made.server == SuiteServer(command=("python", "src/server.py"))


def folder(words: tuple[str, ...], base: Path, current: Path) -> Path:
    command, *arguments = words
    spec = ServerSpec("s", command, tuple(arguments))
    return folder_for(Origin.of_spec(spec, str(base), configured=False), current)


def test_a_call_of_a_sample_is_kept_in_the_current_folder(tmp_path: Path):
    sample = Origin.of_spec(default_servers()[0], str(tmp_path), configured=True)
    assert folder_for(sample, tmp_path) == tmp_path


def test_the_file_belongs_to_the_project_of_the_script(
    project: Path, tmp_path_factory: pytest.TempPathFactory
):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    assert folder(("python", "server.py"), project / "src", elsewhere) == project
    assert folder(("python", str(project / "src" / "server.py")), elsewhere, elsewhere) == project
    assert folder(("python", "-m", "server"), project / "src", project / "src") == project
    assert folder(("npx", "server"), elsewhere, elsewhere) == elsewhere


def test_an_installed_package_is_no_project(project: Path):
    package = project / "node_modules" / "server"
    package.mkdir(parents=True)
    (package / "package.json").touch()
    (package / "index.js").touch()
    assert folder(("node", str(package / "index.js")), project, project / "src") == project


@pytest.mark.parametrize(("name", "file"), [("weather", "weather.mcp.toml"), ("a/b c", "a-b-c.mcp.toml")])
def test_the_file_is_named_after_the_server(name: str, file: str):
    assert file_name(name) == file


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Return a project with a server in a folder, and an empty folder beside it."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "srv").mkdir()
    (tmp_path / "sub").mkdir()
    (tmp_path / "srv" / "server.py").touch()
    return tmp_path


def test_a_path_of_the_project_is_relative_to_the_file_wherever_that_is(clone: Path):
    words = ("python", str(clone / "srv" / "server.py"))
    base = str(clone / "sub")
    assert command_in(clone / "sub", words, base, is_chosen=False) == (("python", "../srv/server.py"), "")
    assert command_in(clone, words, base, is_chosen=False) == (("python", "srv/server.py"), "")
    assert command_in(clone, ("python", "../srv/server.py"), base, is_chosen=False)[0][1] == "srv/server.py"


def test_the_folder_is_written_if_the_command_needs_it(clone: Path):
    (clone / "sub" / "data.json").touch()
    words = ("python", "../srv/server.py", "data.json")
    found = command_in(clone, words, str(clone / "sub"), is_chosen=False)
    assert found == (("python", "../srv/server.py", "data.json"), "sub")
    assert command_in(clone, ("npx", "server"), str(clone / "sub"), is_chosen=False)[1] == "sub"


def test_an_empty_folder_and_one_outside_of_the_project_are_not_written(
    clone: Path, tmp_path_factory: pytest.TempPathFactory
):
    assert command_in(clone, ("npx", "server"), str(clone / "sub"), is_chosen=False)[1] == ""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    words = ("python", str(clone / "srv" / "server.py"))
    assert command_in(clone, words, str(elsewhere), is_chosen=False) == (("python", "srv/server.py"), "")


def test_a_configured_folder_is_always_written(clone: Path):
    words = ("python", str(clone / "srv" / "server.py"))
    found = command_in(clone, words, str(clone / "sub"), is_chosen=True)
    assert found == (("python", "../srv/server.py"), "sub")


def test_a_file_in_no_project_names_what_is_near_it(tmp_path: Path):
    (tmp_path / "srv").mkdir()
    (tmp_path / "srv" / "server.py").touch()
    words = ("/bin/sh", str(tmp_path / "srv" / "server.py"), "/etc/hosts")
    found = command_in(tmp_path / "here", words, str(tmp_path), is_chosen=False)
    assert found == (("/bin/sh", "../srv/server.py", "/etc/hosts"), "")


def test_one_program_written_in_two_ways_is_the_same(clone: Path):
    one = program_in(clone, ("python", "srv/server.py"), "")
    assert one == program_in(clone, ("python", "server.py"), "srv")
    assert program_in(clone, ("npx", "server"), "srv") != program_in(clone, ("npx", "server"), "sub")
