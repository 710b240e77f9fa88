"""The scanner that finds the positions of keys."""

import json
import tomllib
from typing import Any

import tomli_w
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import each_case
from tui.settings.key_positions import KeyPath, json_places, line_of, toml_places

EXAMPLE = '''\
default_model = "big"   # a comment with = and [brackets]
"quoted key".x = 1

[servers.weather]
command = "python"
args = [
  "a.py",  # [not a header]
  "b = 2",
]
env = { KEY = "v", "dotted.name" = "w" }
text = """
[not.a.header]
also = "not a key"
"""
literal = \'\'\'
x = 1\'\'\'
after = 12:30:00

[servers."two words"]
command = 'it'
[[items]]
name = "first"
[[items]]
name = "second"
'''


@each_case(
    ("path", "line", "value"),
    [
        (("default_model",), 1, '"big"'),
        (("quoted key", "x"), 2, "1"),
        (("servers", "weather", "command"), 5, '"python"'),
        (("servers", "weather", "args", 1), 8, '"b = 2"'),
        (("servers", "weather", "env"), 10, '{ KEY = "v", "dotted.name" = "w" }'),
        (("servers", "weather", "env", "KEY"), 10, '"v"'),
        (("servers", "weather", "env", "dotted.name"), 10, '"w"'),
        (("servers", "weather", "literal"), 15, "'''\nx = 1'''"),
        (("servers", "weather", "after"), 17, "12:30:00"),
        (("servers", "two words", "command"), 20, "'it'"),
        (("items", 1, "name"), 24, '"second"'),
    ],
)
def test_each_toml_key_is_found_with_its_line_and_value(path: KeyPath, line: int, value: str):
    place = toml_places(EXAMPLE)[path]
    assert place.line == line
    assert EXAMPLE[place.start : place.end] == value


def test_a_table_header_has_its_line_and_the_offset_after_it():
    place = toml_places(EXAMPLE)["servers", "weather"]
    assert place.header
    assert place.line == 4
    assert EXAMPLE[place.start :].startswith("command")


def test_text_in_a_string_or_comment_is_not_a_key():
    found = {part for path in toml_places(EXAMPLE) for part in path}
    assert found.isdisjoint({"also", "not", "brackets", "b"})


def test_an_unknown_path_has_the_line_of_its_nearest_known_parent():
    assert line_of(toml_places(EXAMPLE), ("servers", "weather", "nothing", 3)) == 4
    assert line_of(toml_places(EXAMPLE), ("nowhere",)) == 0


def test_json_keys_are_found_too():
    text = '{\n "mcpServers": {\n  "a": {"command": "x", "args": [1,\n 2]},\n  "b": {}\n }\n}'
    places = json_places(text)
    assert places["mcpServers", "a", "command"].line == 3
    assert places["mcpServers", "a", "args", 1].line == 4
    assert places["mcpServers", "b"].line == 5
    assert text[places["mcpServers", "a", "args"].start : places["mcpServers", "a", "args"].end] == "[1,\n 2]"


@given(st.text(alphabet="ab=[]{}\"'#\n.,\\ 1:", max_size=80))
def test_any_text_is_scanned_without_an_exception(text: str):
    toml_places(text)
    json_places(text)


def test_huge_nested_and_unclosed_texts_are_scanned_without_an_exception():
    toml_places("a." * 50_000 + "b = 1")
    toml_places("a = " + "[" * 50_000)
    toml_places('a = """' + '"x\\' * 50_000)


leaves = st.one_of(st.text(max_size=8), st.integers(), st.booleans())
keys = st.text(min_size=1, max_size=5)
trees = st.dictionaries(
    keys,
    st.recursive(
        leaves,
        lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(keys, inner, max_size=3)),
        max_leaves=8,
    ),
    max_size=4,
)


def leaf_paths(value: Any, path: KeyPath = ()) -> list[tuple[KeyPath, Any]]:
    if isinstance(value, dict):
        return [found for key, inner in value.items() for found in leaf_paths(inner, (*path, key))]
    if isinstance(value, list):
        return [found for index, inner in enumerate(value) for found in leaf_paths(inner, (*path, index))]
    return [(path, value)]


@settings(deadline=None)
@given(trees)
def test_the_span_of_every_value_in_any_document_is_that_value(tree: dict[str, Any]):
    text = tomli_w.dumps(tree)
    places = toml_places(text)
    for path, value in leaf_paths(tomllib.loads(text)):
        place = places[path]
        assert tomllib.loads(f"v = {text[place.start : place.end]}")["v"] == value
        assert text[: place.start].count("\n") + 1 >= place.line
    text = json.dumps(tree, indent=1)
    places = json_places(text)
    for path, value in leaf_paths(tree):
        assert json.loads(text[places[path].start : places[path].end]) == value
