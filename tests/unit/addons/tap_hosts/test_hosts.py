"""Edits of the configuration of other hosts."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tui.addons.tap_hosts.hosts import (
    argv_of,
    checked,
    tap_length,
    tapped,
    untapped,
)
from tui.core.errors import ConfigError
from tui.settings.foreign.edits import HostFile

TAP = ["/opt/mcptui", "tap", "--name", "time", "--"]
KEYS = ("mcpServers", "time")

COMMENTED = """\
// all servers
{
  "mcpServers": {
    "time": {
      "command": "uvx",  // a launcher
      "args": [
        "mcp-server-time",
        "--local", // and no more
      ],
      "env": {"NAME": "é"},
    },
  },
}
"""


def into(text: str, keys: tuple[str, ...] = KEYS) -> str:
    file = HostFile(text)
    return checked(file, keys, tapped(file, keys, TAP), [*TAP, *argv_of(file, keys)]).text


def out(text: str, keys: tuple[str, ...] = KEYS) -> str:
    file = HostFile(text)
    return checked(file, keys, untapped(file, keys), argv_of(file, keys)[len(TAP) :]).text


def test_comments_and_formatting_around_the_command_line_are_kept():
    changed = into(COMMENTED)
    expected = COMMENTED.replace('"uvx"', '"/opt/mcptui"').replace(
        '        "mcp', '        "tap", "--name", "time", "--", "uvx",\n        "mcp'
    )
    assert changed == expected
    assert out(changed) == COMMENTED


@each_case(
    ("text", "changed"),
    [
        (
            '{"mcpServers": {"time": {"command": "x", "args": []}}}',
            '{"mcpServers": {"time": {"command": "/opt/mcptui", '
            '"args": ["tap", "--name", "time", "--", "x"]}}}',
        ),
        (
            '{"mcpServers": {"time": {"args": [ /* a */ "y" ], "command": "x"}}}',
            '{"mcpServers": {"time": {"args": ["tap", "--name", "time", "--", "x", /* a */ "y" ], '
            '"command": "/opt/mcptui"}}}',
        ),
        (
            '{"mcpServers": {"time": {\r\n  "command": "x"\r\n}}}',
            '{"mcpServers": {"time": {\r\n  "command": "/opt/mcptui",\r\n  '
            '"args": ["tap", "--name", "time", "--", "x"]\r\n}}}',
        ),
        (
            '{"mcpServers": {"time": {"command": ["x", "y"]}}}',
            '{"mcpServers": {"time": {"command": ["/opt/mcptui", "tap", "--name", "time", "--", "x", "y"]}}}',
        ),
        (
            '{"mcpServers": {"time": {"command": {"path": "x", "args": ["y"]}}}}',
            '{"mcpServers": {"time": {"command": {"path": "/opt/mcptui", '
            '"args": ["tap", "--name", "time", "--", "x", "y"]}}}}',
        ),
    ],
)
def test_every_form_of_a_command_line_can_be_tapped(text: str, changed: str):
    assert into(text) == changed


WORDS = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)


@given(
    st.text(min_size=1, max_size=8),
    WORDS,
    st.lists(WORDS, min_size=1, max_size=4),
    st.sampled_from([None, 2]),
)
def test_removing_a_tap_restores_the_text(name: str, command: str, args: list[str], indent: int | None):
    tree: dict[str, Any] = {"a": [1], "mcpServers": {name: {"command": command, "args": args}, "b": {}}}
    text = json.dumps(tree, indent=indent, ensure_ascii=False)
    keys = ("mcpServers", name)
    assert out(into(text, keys), keys) == text


def test_the_last_of_two_servers_with_the_same_name_is_tapped():
    text = '{"mcpServers": {"time": {"command": "a"}, "time": {"command": "x", "args": ["y"]}}}'
    assert into(text).startswith('{"mcpServers": {"time": {"command": "a"}, "time": {"command": "/opt')


def test_indistinguishable_names_are_refused():
    text = '{"mcpServers": {"é": {"command": "a", "args": []}, "è": {"command": "b", "args": []}}}'
    with pytest.raises(ConfigError, match="safely"):
        into(text, ("mcpServers", "é"))


@each_case(
    ("words", "length"),
    [
        ([*TAP, "uvx", "x"], 5),
        (["python3", "-m", "tui", "tap", "--", "x"], 5),
        (["uvx", "mcptui-host", "tap", "--", "x"], 4),
        (["mcptui", "tap", "--listen", "1"], 0),
        (["mcptui", "tap", "--"], 0),
        (["uvx", "tap", "--", "x"], 0),
        ([], 0),
    ],
)
def test_a_tap_is_recognized_by_its_command_line(words: list[str], length: int):
    assert tap_length(words) == length


def test_servers_of_the_project_come_first():
    tree = {"mcpServers": {"a": {"command": "1"}}, "projects": {"/p": {"mcpServers": {"a": {"url": "2"}}}}}
    found = list(HostFile(json.dumps(tree)).servers("/p"))
    assert found == [("projects", "/p", "mcpServers", "a"), ("mcpServers", "a")]
