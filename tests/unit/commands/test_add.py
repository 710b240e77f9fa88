"""`mcptui add` and `mcptui remove` as a user runs them."""

import asyncio
import tomllib
from pathlib import Path

import pytest

from tui.cli import dispatch
from tui.commands.command_line import build_parser
from tui.core.secrets.stored_sign_in import StoredSignIn
from tui.host.sign_in.token_store import TokenStore
from tui.settings.locations import bundles_dir, state_dir


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "sub" / "config.toml"


def mcptui(*words: str) -> int:
    return dispatch(build_parser().parse_args(words))


def servers(file: Path):
    return tomllib.loads(file.read_text())["servers"]


def test_a_url_is_added_with_options_after_it(file: Path, capsys):
    header = "Authorization: Bearer ${TOKEN}"
    assert mcptui("add", "--config", str(file), "https://mcp.linear.app/mcp", "--header", header) == 0
    expected = {"url": "https://mcp.linear.app/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}}
    assert servers(file) == {"linear": expected}
    said = capsys.readouterr().out
    assert '[servers.linear]\nurl = "https://mcp.linear.app/mcp"\n' in said
    assert "note: the environment variable TOKEN is not set" in said and f"wrote {file}" in said


def test_adding_a_url_without_credentials_says_how_to_sign_in(file: Path, capsys):
    assert mcptui("add", "--config", str(file), "https://mcp.linear.app/mcp") == 0
    assert "if it requires signing in: mcptui login linear\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "name", "expected"),
    [
        ("--name x python3 -m m --name y", "x", {"command": "python3", "args": ["-m", "m", "--name", "y"]}),
        ("--env A=1 -- python3 a", "a", {"command": "python3", "args": ["a"], "env": {"A": "1"}}),
    ],
)
def test_options_after_a_command_or_two_dashes_belong_to_it(file: Path, words: str, name: str, expected):
    assert mcptui("add", "--config", str(file), *words.split()) == 0
    assert servers(file) == {name: expected}


@pytest.mark.parametrize(("words", "noted"), [("python3 a --help", True), ("-- python3 a --help", False)])
def test_a_note_says_that_help_after_a_command_belongs_to_it(file: Path, capsys, words: str, noted: bool):
    assert mcptui("add", "--config", str(file), *words.split()) == 0
    assert ("note: --help belongs to the command." in capsys.readouterr().out) is noted


def test_a_name_before_the_command_is_refused_with_its_option(file: Path, capsys):
    assert mcptui("add", "--config", str(file), "weather-server", "python3", "a") == 2
    assert "write --name weather-server" in capsys.readouterr().err


def test_an_existing_file_is_not_treated_as_a_registry_name(file: Path, tmp_path: Path, monkeypatch):
    (tmp_path / "io.x").mkdir()
    (tmp_path / "io.x" / "server").write_text("")
    monkeypatch.chdir(tmp_path)
    assert mcptui("add", "--config", str(file), "--name", "s", "io.x/server") == 0
    assert servers(file)["s"]["command"] == str(tmp_path / "io.x" / "server")


def test_a_relative_path_is_stored_as_absolute(file: Path, tmp_path: Path, monkeypatch):
    (tmp_path / "weather.py").write_text("")
    monkeypatch.chdir(tmp_path)
    assert mcptui("add", "--config", str(file), "python3", "weather.py") == 0
    assert servers(file)["weather"]["args"] == [str(tmp_path / "weather.py")]


def test_a_dry_run_writes_nothing(file: Path, capsys):
    assert mcptui("add", "--config", str(file), "--dry-run", "https://h.example/mcp") == 0
    assert not file.exists() and "nothing written" in capsys.readouterr().out


def test_a_duplicate_is_refused_and_the_file_is_unchanged(file: Path, capsys):
    assert mcptui("add", "--config", str(file), "https://h.example/mcp") == 0
    before = file.read_text()
    assert mcptui("add", "--config", str(file), "https://other.example/mcp", "--name", "h") == 2
    assert mcptui("add", "--config", str(file), "https://h.example/mcp", "--name", "again") == 2
    assert file.read_text() == before
    said = capsys.readouterr().err
    assert (
        "mcptui: a server named “h” is already configured. Choose another one with --name, or remove" in said
    )
    assert "already configured as “h”." in said


def test_the_name_is_asked_for_on_a_terminal(file: Path, monkeypatch):
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda prompt: "Mine")
    assert mcptui("add", "--config", str(file), "https://h.example/mcp") == 0
    assert list(servers(file)) == ["Mine"]


def test_the_file_of_another_program_is_not_changed(tmp_path: Path, capsys):
    path = tmp_path / "mcp.json"
    path.write_text('{"mcpServers": {}}')
    assert mcptui("add", "--config", str(path), "https://h.example/mcp") == 2
    assert "belongs to another program" in capsys.readouterr().err


def test_the_tokens_of_a_removed_server_are_deleted(file: Path, capsys):
    store = TokenStore(state_dir() / "sign-in", use_keychain=False)
    url = "https://h.example/mcp"
    assert mcptui("add", "--config", str(file), url) == 0
    asyncio.run(store.save(StoredSignIn("h", url, tokens={"access_token": "t"})))
    assert mcptui("remove", "--config", str(file), "h") == 0
    assert "its tokens were also deleted" in capsys.readouterr().out
    assert asyncio.run(store.listed()) == []


def test_a_server_is_removed_and_an_unknown_one_refused(file: Path, capsys):
    file.parent.mkdir()
    file.write_text('# top\n[servers.a]\ncommand = "a"\n# about b\n[servers.b]\ncommand = "b"\n')
    assert mcptui("remove", "--config", str(file), "a") == 0
    assert file.read_text() == '# top\n# about b\n[servers.b]\ncommand = "b"\n'
    assert mcptui("remove", "--config", str(file), "a") == 2
    assert "Configured servers: b." in capsys.readouterr().err


def test_removing_the_last_server_says_how_to_get_the_samples_back(file: Path, capsys):
    file.parent.mkdir()
    file.write_text('[servers.a]\ncommand = "a"\n')
    assert mcptui("remove", "--config", str(file), "a") == 0
    assert "delete the line [servers] there" in capsys.readouterr().out
    assert file.read_text() == "[servers]\n"


def test_the_files_of_a_bundle_are_deleted_with_its_last_server(file: Path, capsys):
    folder = bundles_dir() / "sample-1.0.0-abc"
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text("{}")
    file.parent.mkdir()
    file.write_text(
        f'[servers.a]\ncommand = "a"\ncwd = "{folder}"\n[servers.b]\ncommand = "b"\ncwd = "{folder}"\n'
    )
    assert mcptui("remove", "--config", str(file), "a") == 0
    assert "deleted" not in capsys.readouterr().out and folder.is_dir()
    assert mcptui("remove", "--config", str(file), "b") == 0
    assert f"deleted the files of its bundle in {folder}" in capsys.readouterr().out
    assert not folder.exists()


@pytest.mark.parametrize(
    "words", [("https://mcp.linear.app/mcp", "--era", "legacy"), ("--era", "legacy", "npx")]
)
def test_the_protocol_era_is_added(file: Path, monkeypatch, words: tuple[str, ...]):
    monkeypatch.setattr("tui.commands.add.is_command", lambda word: word == "npx")
    assert mcptui("add", "--config", str(file), *words) == 0
    assert [table["era"] for table in servers(file).values()] == ["legacy"]
