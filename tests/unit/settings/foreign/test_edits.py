"""Members that are added to another host's JSON file, and removed again."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tui.core.errors import ConfigError
from tui.settings.foreign.edits import HostFile

PATH = ("mcpServers", "mcptui")
ENTRY = {"command": "/opt/mcptui", "args": ["agent"]}
COMMENTED = """\
// all servers
{
  "mcpServers": {
    // the time
    "time": {
      "command": "uvx"  // a launcher
    },  // and no more
  },
  "theme": "dark"
}
"""


@each_case(
    "text",
    [
        COMMENTED,
        "{}",
        '{"a": 1}\n',
        '{\n\t"mcpServers": {}\n}\n',
        '{\n    "mcpServers": {\n        "time": {"command": "uvx"}\n    }\n}\n',
        '{"mcpServers": {"time": {"command": "uvx"},}}',
        '{\r\n  "mcpServers": {\r\n    "a": {}\r\n  }\r\n}\r\n',
        '{\n  "other": {"b": [1, 2]} // why\n}',
    ],
)
def test_a_member_is_added_and_removed_with_the_rest_as_it_was(text: str):
    added = HostFile(text).with_member(PATH, ENTRY)
    assert added.at(PATH) == ENTRY
    for comment in ("// all servers", "// the time", "// a launcher", "// and no more", "// why"):
        assert (comment in text) is (comment in added.text)
    removed = added.without_member(PATH)
    assert PATH[1] not in removed.text
    rest = HostFile(text).tree
    assert {**rest, "mcpServers": removed.tree["mcpServers"]} == {"mcpServers": {}, **rest}


def test_a_new_member_is_written_like_its_neighbours():
    added = HostFile(COMMENTED).with_member(PATH, ENTRY).text
    assert added == COMMENTED.replace(
        "// and no more\n",
        '// and no more\n    "mcptui": {\n      "command": "/opt/mcptui",\n      "args": [\n        "agent"\n'
        "      ]\n    },\n",
    )


@pytest.mark.parametrize("text", ["[]", '{"mcpServers": []}', '{"mcpServers": {"mcptui": 1}}'])
def test_a_file_of_another_shape_is_refused(text: str):
    with pytest.raises(ConfigError, match="not what mcptui expects"):
        HostFile(text).with_member(PATH, ENTRY)


trees = st.recursive(
    st.none() | st.integers() | st.text(max_size=8),
    lambda inner: st.dictionaries(st.text(max_size=5), inner, max_size=4) | st.lists(inner, max_size=3),
    max_leaves=12,
)


@given(
    rest=st.dictionaries(st.text(max_size=5), trees, max_size=4),
    servers=st.none() | st.dictionaries(st.text(max_size=5), trees, max_size=4),
    indent=st.sampled_from([None, 1, 2, 4, "\t"]),
)
def test_any_file_is_changed_only_in_that_member(rest: Any, servers: Any, indent: Any):
    tree = rest if servers is None else {**rest, "mcpServers": servers}
    text = json.dumps(tree, indent=indent)
    try:
        added = HostFile(text).with_member(PATH, ENTRY)
    except ConfigError:
        assert not isinstance(tree.get("mcpServers"), dict) and "mcpServers" in tree
        return
    assert added.tree == {**tree, "mcpServers": {**(tree.get("mcpServers") or {}), "mcptui": ENTRY}}
    assert added.without_member(PATH).tree == {**tree, "mcpServers": servers or {}}
