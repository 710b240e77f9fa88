"""`mcptui agent --install HOST` and `--uninstall`, on real files."""

import json
import stat
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.protocol.command import in_this_process
from tui.addons.agent.install import ENTRIES, Place, _added, _table_of, entry_of
from tui.commands.config.host_files import launcher
from tui.settings.foreign.file import Source, read_foreign
from tui.settings.foreign.hosts import HOSTS

SERVERS = """\
{
  // mine
  "mcpServers": {
    "time": {"command": "uvx", "args": ["--key", "hunter2hunter2hunter2"]}
  }
}
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / ".config"))
    return tmp_path


def run(*words: str) -> tuple[int, str, str]:
    done = in_this_process(["agent", *words])
    return done.code, done.out, done.err


def written(host: str, home: Path) -> Any:
    """Return the only file of a host, parsed."""
    (path,) = (one for one in home.rglob("*") if one.is_file() and one.suffix in (".json", ".toml"))
    text = path.read_text()
    return tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)


@pytest.mark.parametrize("host", ENTRIES)
def test_each_host_gets_an_entry_in_a_new_file_that_is_deleted_again(host: str, home: Path):
    code, out, err = run("--install", host, "--yes")
    assert (code, err) == (0, "")
    assert "a new file" in out and f"undo: mcptui agent --uninstall {host}" in out
    entry = written(host, home)
    for key in (ENTRIES[host][0], "mcptui"):
        entry = entry[key]
    words = entry["command"] if isinstance(entry["command"], list) else [entry["command"], *entry["args"]]
    assert words == [*launcher(), "agent"]
    assert "is already a server of" in run("--install", host, "--yes")[1]
    assert "deleted" in run("--uninstall", host, "--yes")[1]
    assert [*home.rglob("*.json"), *home.rglob("*.toml")] == []


def test_comments_and_other_servers_of_a_file_stay_and_come_back(home: Path):
    path = home / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.write_text(SERVERS)
    path.chmod(0o640)
    code, out, _ = run("--install", "cursor", "--yes")
    assert code == 0 and "hunter2" not in out
    assert path.read_text().startswith(SERVERS.partition("\n  }")[0])
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    run("--uninstall", "cursor", "--yes")
    assert path.read_text() == SERVERS


def test_changes_made_meanwhile_stay_when_it_is_removed(home: Path):
    path = home / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.write_text(SERVERS)
    run("--install", "cursor", "--yes")
    path.write_text(path.read_text().replace("uvx", "npx"))
    run("--uninstall", "cursor", "--yes")
    assert path.read_text() == SERVERS.replace("uvx", "npx")


def test_a_toml_file_keeps_its_comments(home: Path):
    path = home / ".codex" / "config.toml"
    path.parent.mkdir()
    before = '# mine\nmodel = "gpt"\n\n[mcp_servers.time]\ncommand = "uvx"  # fast\n'
    path.write_text(before)
    run("--install", "codex", "--yes")
    assert path.read_text().startswith(before)
    assert tomllib.loads(path.read_text())["mcp_servers"]["mcptui"]["tool_timeout_sec"] == 330
    run("--uninstall", "codex", "--yes")
    assert path.read_text() == before


def test_nothing_is_written_without_a_yes(home: Path):
    assert run("--install", "cursor", "--dry-run")[0] == 0
    code, _, err = run("--install", "cursor")
    assert code == 2 and "Add --yes" in err
    assert list(home.rglob("*.json")) == []


def test_another_server_named_mcptui_is_not_replaced(home: Path):
    path = home / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.write_text('{"mcpServers": {"mcptui": {"command": "other"}}}')
    code, _, err = run("--install", "cursor", "--yes")
    assert code == 2 and "another server named mcptui" in err
    assert "other" in path.read_text()


def test_a_file_is_named_by_its_path_and_keeps_its_kind_of_table(home: Path):
    path = home / "some.json"
    path.write_text('{"servers": {}}')
    assert run("--install", str(path), "--yes")[0] == 0
    assert "mcptui" in json.loads(path.read_text())["servers"]


@pytest.mark.parametrize(
    ("text", "said"),
    [("{", "is not JSON"), ("[]", "is not a JSON object"), ('{"mcpServers": 5}', "not what mcptui expects")],
)
def test_a_file_that_cannot_be_changed_is_left_as_it_is(text: str, said: str, home: Path):
    path = home / "some.json"
    path.write_text(text)
    code, _, err = run("--install", str(path), "--yes")
    assert code == 2 and said in err
    assert path.read_text() == text


def test_an_unknown_host_is_refused_with_the_known_ones():
    code, _, err = run("--install", "curser")
    assert code == 2 and "did you mean “cursor”?" in err and "windsurf" in err


def test_the_configuration_of_this_command_is_in_the_entry(home: Path, tmp_path: Path):
    config = tmp_path / "mine.conf"
    config.write_text("")
    run("--config", str(config), "--install", "cursor", "--yes")
    entry = json.loads((home / ".cursor" / "mcp.json").read_text())["mcpServers"]["mcptui"]
    assert entry["args"][-2:] == ["--config", str(config)]


def test_the_file_that_a_host_has_is_used_and_no_file_with_other_tables(home: Path):
    jsonc, settings = (
        home / ".config" / place for place in ("amp/settings.jsonc", "Code/User/settings.json")
    )
    for path in (jsonc, settings):
        path.parent.mkdir(parents=True)
        path.write_text("{}")
    run("--install", "amp", "--yes")
    run("--install", "vscode", "--yes")
    assert "mcptui" in jsonc.read_text() and settings.read_text() == "{}"
    assert "mcptui" in settings.with_name("mcp.json").read_text()


@pytest.mark.parametrize("host", ENTRIES)
def test_an_entry_is_a_server_for_our_own_import(host: str):
    path = Path(HOSTS[host].files[0].rpartition("/")[2])
    text = _added(Place("", path, "", (ENTRIES[host][0],)), entry_of(host, ["/opt/mcptui", "agent"]))
    found = read_foreign(text, path)
    assert isinstance(found, Source)
    table = found.tree["servers"]["mcptui"]
    assert [table["command"], *table["args"]] == ["/opt/mcptui", "agent"]


@pytest.mark.parametrize(
    ("path", "tree", "table"),
    [
        ("/p/mcp.json", {"servers": {}}, ("servers",)),
        ("/p/mcp.json", {"mcp": {"servers": {}}}, ("mcp", "servers")),
        ("/p/.vscode/mcp.json", {}, ("servers",)),
        ("/p/any.json", {"other": 1}, ("mcpServers",)),
        ("/p/config.toml", {}, ("mcp_servers",)),
    ],
)
def test_a_file_keeps_the_table_that_it_has(path: str, tree: dict[str, object], table: tuple[str, ...]):
    text = json.dumps(tree) if tree else ""
    assert _table_of(Place("", Path(path), text)) == table
