"""Configuration files of other hosts: what each becomes, and what an import of it writes."""

import re
import tomllib
from pathlib import Path

import pytest

from tests.other_hosts import BECOMES
from tests.other_hosts import CORPUS as HOSTS
from tui.settings.files import read_bounded
from tui.settings.foreign.file import read_foreign
from tui.settings.load import load
from tui.settings.problems import Source
from tui.settings.save import add_tables, edited
from tui.settings.server_import import plan_import

PROJECT = Path("/home/ada/project/.vscode")


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")


def read(name: str) -> Source:
    found = read_foreign(read_bounded(HOSTS / name), PROJECT / name)
    assert isinstance(found, Source)
    return found


def test_every_file_of_a_host_has_an_expectation():
    names = {path.name for path in HOSTS.iterdir()} - {"README.md"}
    assert names == BECOMES.keys()


@pytest.mark.parametrize("name", BECOMES)
def test_the_file_of_a_host_is_converted(name: str):
    assert read(name).tree["servers"] == BECOMES[name]


@pytest.mark.parametrize("form", ["bom", "crlf", "comments"])
@pytest.mark.parametrize(
    "name", ["claude_code.json", "vscode_mcp.jsonc", "codex.toml", "opencode.jsonc", "goose.yaml"]
)
def test_a_byte_order_mark_crlf_and_comments_change_nothing(name: str, form: str, tmp_path: Path):
    raw = (HOSTS / name).read_bytes()
    mark = b"# a comment\n" if name.endswith((".toml", ".yaml")) else b"// a comment\n/* another */\n"
    made = {"bom": b"\xef\xbb\xbf" + raw, "crlf": raw.replace(b"\n", b"\r\n"), "comments": mark + raw}[form]
    (tmp_path / name).write_bytes(made)
    found = read_foreign(read_bounded(tmp_path / name), PROJECT / name)
    assert isinstance(found, Source)
    assert found.tree["servers"] == BECOMES[name]


@pytest.mark.parametrize("name", BECOMES)
def test_an_import_writes_servers_that_the_check_accepts(name: str, tmp_path: Path):
    """Only variables that are not set may be missing; nothing is left as the other host writes it."""
    target = tmp_path / "config.toml"
    plan = plan_import(HOSTS / name, target)
    assert not plan.unusable
    target.write_text(edited("", lambda document: add_tables(document, "servers", plan.new)))
    errors = [problem.message for problem in load(target, {"HOME": "/home/ada"}).errors]
    assert all(message.endswith(("is not set", "cannot be read")) for message in errors)
    assert not re.search(r"(?<!\$)\{(?:env|file):|\$\{(?:input|env|config)|\$\(|\$\{\{", target.read_text())
    assert tomllib.loads(target.read_text())["servers"].keys() == plan.new.keys()


@pytest.mark.parametrize("name", ["goose.yaml", "continue.yaml"])
def test_yaml_is_recognized_under_any_suffix(name: str, tmp_path: Path):
    path = tmp_path / f"{name}.json"
    path.write_bytes((HOSTS / name).read_bytes())
    found = read_foreign(read_bounded(path), PROJECT / name)
    assert isinstance(found, Source)
    assert found.tree["servers"] == BECOMES[name]


def test_the_configuration_of_codex_can_be_used_directly():
    loaded = load(HOSTS / "codex.toml", {"FIGMA_TOKEN": "t", "FIGMA_ORG": "o"})
    assert not loaded.errors
    assert loaded.settings.servers["docs"].start_seconds == 20.0
    assert loaded.settings.servers["figma"].headers["Authorization"] == "Bearer t"


NOTES = [
    ("claude_code.json", "db-api", "is a server of the project /home/ada/api"),
    ("claude_code.json", "local", "is disabled: `disabledMcpServers` lists it"),
    ("claude_desktop.json", "db", "“~/test.db” becomes “/home/ada/test.db”: no shell replaces the ~"),
    ("codex.toml", "docs", "`env_vars`: DOCS_TOKEN read from your environment, empty if not set"),
    ("codex.toml", "docs", "`enabled_tools` not imported: all tools are offered"),
    ("codex_more.toml", "remote", "settings in `tools` of single tools not imported"),
    ("continue.yaml", "SQLite", "${{ secrets.DB_PATH }} is read from the environment variable DB_PATH"),
    ("continue.yaml", "upstash/context7-mcp", "provided by its host, so it is not imported"),
    (
        "goose.yaml",
        "github",
        "`env_keys`: GITHUB_TOKEN read from your environment, not from the keychain of goose, empty",
    ),
    ("goose.yaml", "linear", "`available_tools` not imported: all tools are offered"),
    ("goose.yaml", "todo", "provided by its host, so it is not imported"),
    ("qwen.json", "http", "`trust` (run all its tools without approval) not imported"),
    ("crush.json", "stream", "(the output of a command) is read from the environment variable STREAM"),
    ("cursor.json", "line", "`command` is a command line: it starts “npx” with the rest as arguments"),
    ("gemini.json", "remote", "is disabled: `mcp.excluded` lists it"),
    ("gemini.json", "other", "is disabled: `mcp.allowed` does not list it"),
    ("opencode.jsonc", "local", "{file:~/.secrets/key}: uses the content of ~/.secrets/key"),
    ("vscode_mcp.jsonc", "files", "${input:path} is read from the environment variable INPUT_PATH, default"),
    ("vscode_mcp.jsonc", "files", "`env.OFF` is null and is ignored"),
    ("witsy.json", "off", "is disabled: `mcp.disabledMcpServers` lists it"),
    ("zed.jsonc", "extension", "provided by its host, so it is not imported"),
]


@pytest.mark.parametrize(("name", "server", "text"), NOTES)
def test_what_is_converted_or_left_out_is_noted(name: str, server: str, text: str):
    assert any(note.keys[1:] == (server,) and text in note.message for note in read(name).problems)
