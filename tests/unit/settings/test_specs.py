"""Converting settings to the types used by the rest of the program."""

from pathlib import Path

import pytest

from tests.cases import each_case
from tui.core.permission.rules import Rules
from tui.core.servers import EraChoice, ServerSpec, Transport
from tui.core.turn.limits import Limits
from tui.settings.load import load_text
from tui.settings.locations import server_folder
from tui.settings.schema import ApprovalSettings, LimitSettings
from tui.settings.specs import approval_rules, resolved, server_specs


def specs(text: str, path: Path = Path("/nowhere/config.toml")) -> tuple[ServerSpec, ...]:
    return server_specs(load_text(text, path, {}))


def test_the_defaults_of_the_configuration_are_those_of_the_core():
    assert Limits(**LimitSettings().model_dump()) == Limits()
    assert approval_rules(ApprovalSettings()) == Rules()


def test_a_server_with_only_a_command_gets_the_defaults_of_the_core():
    own = str(server_folder("a"))
    assert specs('[servers.a]\ncommand = "x"\n') == (ServerSpec("a", "x", folder=own),)
    assert specs('[servers.a]\nurl = "https://h/mcp"\ntransport = "http"\n')[0].starts_in is None


def test_tools_are_pinned_by_one_pattern_or_by_several():
    one, several = specs(
        '[servers.a]\ncommand = "x"\npin = "get_*"\n[servers.b]\ncommand = "x"\npin = ["a", "b"]\n'
    )
    assert (one.pins, several.pins) == (("get_*",), ("a", "b"))
    assert one.digest() == ServerSpec("a", "x").digest()


def test_servers_keep_the_order_of_the_file_and_disabled_ones_are_omitted():
    entry = '[servers.{}]\ncommand = "x"\ndisabled = {}\n'
    text = entry.format("b", "false") + entry.format("off", "true") + entry.format("a", "false")
    assert [spec.name for spec in specs(text)] == ["b", "a"]


def test_the_samples_run_only_if_no_servers_are_configured():
    assert [spec.name for spec in specs('[ui]\ntheme = "quay"\n')] == ["weather", "notes", "slow"]
    assert specs("[servers]\n") == ()
    assert specs('[servers.a]\ncomand = "broken"\n') == ()
    assert specs("a = ") == ()


@each_case(
    ("body", "transport"),
    [
        ('url = "https://h"', Transport.HTTP),
        ('url = "wss://h"', Transport.WEBSOCKET),
        ('transport = "sse"\nurl = "https://h"', Transport.SSE),
        ('transport = "websocket"\nurl = "wss://h"', Transport.WEBSOCKET),
        ('command = "x"', Transport.STDIO),
    ],
)
def test_the_transport_follows_from_the_given_keys(body: str, transport: Transport):
    assert specs(f"[servers.a]\n{body}\n")[0].transport is transport


def test_only_a_url_without_a_transport_can_fall_back_to_http_sse():
    assert specs('[servers.a]\nurl = "https://h"\n')[0].sse_fallback
    assert not specs('[servers.a]\nurl = "https://h"\ntransport = "http"\n')[0].sse_fallback


def test_paths_of_existing_files_are_relative_to_the_configuration(tmp_path: Path):
    (tmp_path / "server.py").write_text("")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "run").write_text("")
    found = resolved(["./bin/run", "server.py", "missing.py", "-x.py", "/abs.py"], tmp_path)
    assert found == [str(tmp_path / "bin/run"), str(tmp_path / "server.py"), "missing.py", "-x.py", "/abs.py"]
    (tmp_path / "run").mkdir()
    assert resolved(["bin", "run"], tmp_path) == ["bin", "run"]  # bare words are no paths


def test_cwd_is_relative_to_the_configuration_and_leaves_paths_unchanged(tmp_path: Path):
    (tmp_path / "server.py").write_text("")
    text = '[servers.a]\ncommand = "python"\nargs = ["server.py"]\ncwd = "sub"\n'
    (found,) = specs(text, tmp_path / "config.toml")
    assert found.cwd == str(tmp_path / "sub")
    assert found.args == ("server.py",)


def test_a_tilde_is_the_home_directory(separate_home: Path):
    (found,) = specs('[servers.a]\ncommand = "~/bin/x"\ncwd = "~"\n')
    assert found.command == str(separate_home / "bin/x")
    assert found.cwd == str(separate_home)


def test_roots_become_absolute_paths():
    [spec] = specs('[servers.a]\ncommand = "x"\nroots = ["data", "/srv/b/../c", "file:///tmp/a%20b"]\n')
    assert spec.roots == ("/nowhere/data", "/srv/c", "/tmp/a b")


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('roots = ["https://a.example/"]', "must be a directory"),
        ('sampling = "always"', "must be never, ask or allow"),
    ],
)
def test_an_invalid_permission_is_reported(line, problem):
    (found,) = load_text(f'[servers.a]\ncommand = "x"\n{line}\n', Path("c.toml"), {}).problems
    assert problem in str(found)


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ("args = 3\ncolour = 1", "args: must be an array, not a number. colour: unknown key."),
        ('comand = "y"', "comand: unknown key, did you mean “command”?"),
    ],
)
def test_each_problem_of_a_server_is_a_sentence(lines: str, problem: str):
    loaded = load_text(f'[servers.a]\ncommand = "x"\n{lines}\n', Path("c.toml"), {})
    assert server_specs(loaded, disabled=True)[0].problem == f"invalid configuration: {problem}"


@pytest.mark.parametrize(
    ("line", "era"),
    [("", EraChoice.AUTO), ('era = "legacy"', EraChoice.LEGACY), ('era = "modern"', EraChoice.MODERN)],
)
def test_the_protocol_era_is_read(line: str, era: EraChoice):
    assert specs(f'[servers.a]\ncommand = "x"\n{line}\n')[0].era is era
    assert specs(f'[servers.a]\nurl = "https://h/mcp"\n{line}\n')[0].era is era
