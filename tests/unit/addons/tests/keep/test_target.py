"""The file of a kept call: which one, and that nothing else in it changes."""

import os
from pathlib import Path
from typing import Any

import pytest

from tui.addons.tests.keep.target import Target, replaced, target_for, write
from tui.addons.tests.suite.case import Case, Expectation, Request, RequestKind, SuiteServer
from tui.core.errors import UsageError
from tui.core.servers import ServerSpec
from tui.runtime.copies.origin import Origin

CASE = Case("rain", 0, Request(RequestKind.TOOL, "get"), Expectation(text="Rain."))
OURS = '[server]\ncommand = ["python", "server.py"]\n'
OTHERS = '[server]\ncommand = ["python", "other.py"]\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "server.py").touch()
    return tmp_path


def origin(project: Path, *, configured: bool = False) -> Origin:
    return Origin.of_spec(
        ServerSpec("weather", "python", ("server.py",)), str(project), configured=configured
    )


def proposed(project: Path, **more: bool) -> Target:
    return target_for("", origin(project, **more), project, str)


def test_a_new_file_is_named_after_the_server(project: Path):
    found = proposed(project)
    assert (found.path, found.is_new) == (project / "weather.mcp.toml", True)


def test_a_new_file_has_the_command_of_a_configured_server_unless_it_needs_more_than_the_project(
    project: Path,
):
    def server(project: Path, **more: Any) -> SuiteServer:
        spec = ServerSpec("weather", "python", ("server.py",), **more)
        return target_for("", Origin.of_spec(spec, str(project), configured=True), project, str).server.server

    assert server(project).command == ("python", "server.py")
    assert server(project, env={"API_KEY": "k"}).name == "weather"
    (project / "server.py").unlink()
    assert server(project).name == "weather"


def test_a_new_file_names_the_schema_in_its_first_line(project: Path):
    write(proposed(project), [CASE])
    text = (project / "weather.mcp.toml").read_text()
    assert text.startswith("#:schema ./mcp-toml.schema.json\n\n[server]")


def test_a_file_of_the_folder_that_tests_the_server_is_taken(project: Path):
    (project / "weather.mcp.toml").write_text(OTHERS)
    (project / "zzz.mcp.toml").write_text(OURS)
    assert proposed(project).path == project / "zzz.mcp.toml"
    (project / "zzz.mcp.toml").write_text('server = "weather"\n')
    assert proposed(project, configured=True).path == project / "zzz.mcp.toml"


def test_a_file_of_another_server_is_not_taken(project: Path):
    (project / "weather.mcp.toml").write_text(OTHERS)
    (project / "damaged.mcp.toml").write_text("no toml")
    assert proposed(project).path == project / "weather-2.mcp.toml"


def test_a_typed_name_gets_the_ending_of_test_files(project: Path):
    for typed in ("rain", "rain.toml", "rain.mcp.toml"):
        assert (
            target_for(str(project / typed), origin(project), project, str).path == project / "rain.mcp.toml"
        )


def test_a_typed_file_that_tests_another_server_is_refused(project: Path):
    (project / "other.mcp.toml").write_text(OTHERS)
    with pytest.raises(UsageError, match=r"other\.mcp\.toml tests another server: python other\.py"):
        target_for("other", origin(project), project, str)


def test_a_case_is_written_at_the_end_and_the_rest_stays(project: Path):
    file = project / "weather.mcp.toml"
    file.write_text(f"# ours\n{OURS}")
    file.chmod(0o640)
    write(proposed(project), [CASE])
    assert file.read_text() == f'# ours\n{OURS}\n[[call]]\nname = "rain"\ntool = "get"\ntext = "Rain."\n'
    assert os.stat(file).st_mode & 0o777 == 0o640


def test_a_file_that_has_changed_meanwhile_is_not_written(project: Path):
    found = proposed(project)
    found.path.write_text(OURS)
    with pytest.raises(UsageError, match="has changed in the meantime"):
        write(found, [CASE])
    assert found.path.read_text() == OURS


def test_a_folder_that_cannot_be_written_is_named_in_the_error(project: Path):
    missing = target_for(str(project / "missing" / "a"), origin(project), project, str)
    with pytest.raises(UsageError, match=r"a\.mcp\.toml: cannot write it: "):
        write(missing, [CASE])


def test_a_device_and_a_link_that_leads_nowhere_are_refused(project: Path):
    with pytest.raises(UsageError, match="/dev/full: this is not a file"):
        target_for(str(Path("/dev/full")), origin(project), project, str)
    (project / "a.mcp.toml").symlink_to("nowhere")
    with pytest.raises(UsageError, match=r"a\.mcp\.toml: a symbolic link that leads to no file"):
        target_for(str(project / "a"), origin(project), project, str)


def test_a_case_is_replaced_by_another_one(project: Path):
    write(proposed(project), [CASE])
    found = proposed(project)
    assert found.suite is not None
    write(replaced(found, found.suite.cases[0], Case("sun", 0, CASE.request)), ())
    again = proposed(project)
    assert again.suite is not None and [case.name for case in again.suite.cases] == ["sun"]
