"""What other hosts do with the text of their files, which mcptui reads tolerantly."""

from pathlib import Path
from typing import Any

import pytest

from tests.cases import each_case
from tui.addons.doctor.host_format import entry_steps, file_steps
from tui.addons.doctor.steps import State

GOOD = b'{"mcpServers": {"s": {"command": "x", "args": ["// no comment", ",}"]}}}'


def test_plain_json_is_fine_for_every_host():
    assert [*file_steps("Claude Desktop", GOOD)] == []
    entry = {"command": "x", "args": ["a"], "env": {"A": "1"}}
    assert [*entry_steps("Claude Desktop", entry, "mcpServers")] == []


@each_case(
    ("title", "raw", "state", "said"),
    [
        ("Claude Desktop", b'{\n"a": 1,\n}', State.FAILED, "rejects a trailing comma in line 2"),
        ("Claude Desktop", b'{ // ,}\n"a": 1}', State.FAILED, "rejects a comment in line 1"),
        ("Claude Desktop", b"\xef\xbb\xbf{}", State.FAILED, "rejects a byte order mark"),
        ("Roo Code", b"{/* , */}", State.FAILED, "rejects a comment in line 1"),
        ("Cursor", b'{"a": 1,}', State.WARNING, "mcptui reads it, Cursor may not"),
        ("This host", b'{"a": 1,}', State.WARNING, "mcptui reads it, this host may not"),
    ],
)
def test_a_text_that_a_host_may_not_read_is_told(title: str, raw: bytes, state: State, said: str):
    (found,) = file_steps(title, raw)
    assert found.state is state and said in found.seen


@pytest.mark.parametrize("raw", [b'{"a": 1, // x\n}', b'{"a": [1,],}'])
def test_vs_code_reads_comments_and_trailing_commas(raw: bytes):
    assert [*file_steps("VS Code", raw)] == []


@each_case(
    ("title", "entry", "state", "said"),
    [
        ("Claude Code", {"command": "npx -y pkg"}, State.FAILED, "rejects arguments in `command`"),
        ("Cursor", {"command": "npx -y pkg"}, State.WARNING, "Cursor may not"),
        ("Cursor", {"command": "x", "args": "a b"}, State.WARNING, "`args` that is no list"),
        ("Roo Code", {"command": "x", "args": "a b"}, State.FAILED, "`args` that is no list"),
        ("Cursor", {"command": "x", "env": {"PORT": 80}}, State.WARNING, "no string (PORT)"),
        ("VS Code", {"command": "x", "envFile": "/no/such"}, State.FAILED, "does not exist: /no/such"),
        ("Cursor", {"command": "x", "envFile": "/no/such"}, State.WARNING, "does not exist: /no/such"),
    ],
)
def test_an_entry_that_a_host_may_not_read_is_told(
    title: str, entry: dict[str, Any], state: State, said: str
):
    (found,) = entry_steps(title, entry, None)
    assert found.state is state and said in found.seen


def test_what_a_host_is_known_to_read_is_not_told(tmp_path: Path):
    (tmp_path / ".env").touch()
    assert [*entry_steps("VS Code", {"command": "x", "env": {"A": 1}}, "servers")] == []
    assert [*entry_steps("VS Code", {"command": "x", "envFile": str(tmp_path / ".env")}, "servers")] == []
    assert [*entry_steps("VS Code", {"command": "x", "envFile": "${env:HOME}/x"}, "servers")] == []


@each_case(
    ("title", "table", "is_read"),
    [
        ("Claude Desktop", "servers", False),
        ("Cursor", "mcpServers", True),
        ("VS Code", "mcpServers", False),
        ("VS Code", "servers", True),
        ("VS Code", "mcp.servers", True),
        ("Windsurf", "servers", True),  # not known
    ],
)
def test_servers_under_a_key_that_the_host_does_not_read_are_a_failure(title: str, table: str, is_read: bool):
    found = [*entry_steps(title, {"command": "x"}, table)]
    assert [one.state for one in found] == ([] if is_read else [State.FAILED])
