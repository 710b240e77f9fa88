"""One entry of another host's file, whatever is in it."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tui.settings.foreign.entry import in_common_format, is_provided

KEYS = st.sampled_from("command args env environment url httpUrl type oauth auth trust tools x".split())
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@each_case(
    ("entry", "made"),
    [
        ({"auth": "t0ken"}, {"headers": {"Authorization": "Bearer t0ken"}}),
        ({"apiKey": "t"}, {"headers": {"Authorization": "Bearer t"}}),
        ({"auth": "oauth"}, {}),
        ({"auth": {"type": "bearer", "token": "t"}}, {"headers": {"Authorization": "Bearer t"}}),
        ({"bearer_token": "t", "headers": {"A": "b"}}, {"headers": {"Authorization": "Bearer t", "A": "b"}}),
        ({"headers": ["A: b", {"name": "C", "value": "d"}]}, {"headers": {"A": "b", "C": "d"}}),
        ({"headers": "A: b\nC: d"}, {"headers": {"A": "b", "C": "d"}}),
        ({"env": ["A=b=c"]}, {"env": {"A": "b=c"}}),
        ({"state": "disabled"}, {"disabled": True}),
        ({"enabled": "false"}, {"disabled": True}),
        ({"isActive": True}, {"disabled": False}),
        ({"enabled": True, "disabled": True}, {"disabled": True}),
        ({"command": "x y", "args": ["z"]}, {"command": "x", "args": ["y", "z"]}),
        ({"command": "x", "args": "y 'a b'"}, {"command": "x", "args": ["y", "a b"]}),
        ({"command": "x", "url": "https://h", "type": "http"}, {"url": "https://h", "type": "http"}),
        ({"command": "x", "url": "https://h", "type": "stdio"}, {"command": "x", "type": "stdio"}),
        ({"tools": {"a": False, "b": True, "c": {"enabled": False}}}, {"off": ["a", "c"]}),
        ({"requestInit": {"headers": {"A": "b"}}}, {"headers": {"A": "b"}}),
    ],
)
def test_each_form_of_a_setting_becomes_the_usual_one(entry, made):
    assert in_common_format(entry, lambda text: None) == made


@given(st.dictionaries(KEYS, VALUES))
def test_an_entry_of_any_shape_raises_no_error(entry):
    notes = []
    assert isinstance(in_common_format(entry, notes.append), dict)
    assert all(isinstance(note, str) and "\n" not in note for note in notes)


@each_case(
    "entry",
    [
        {"type": "builtin", "name": "developer"},
        {"enabled": True, "config": {"type": "platform", "name": "todo"}},
        {"uses": "anthropic/memory-mcp", "with": {"A": "b"}},
        {"type": "sse-ide", "url": "http://127.0.0.1:1"},
        {"type": "sdk", "name": "x"},
    ],
)
def test_a_server_that_only_its_host_can_start_is_provided(entry: dict[str, Any]):
    assert is_provided(entry)


def test_a_shell_is_noted_without_the_secrets_in_its_command():
    canary = "ghp_Canary0123456789abcdefghijklmnopqrst"
    said: list[str] = []
    in_common_format({"command": "sh", "args": ["-c", f"x --token {canary}"]}, said.append)
    assert said[0].startswith("runs a shell: sh -c x --token ") and canary not in said[0]
