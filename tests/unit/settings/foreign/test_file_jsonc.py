"""JSON with comments."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.settings.foreign.file import without_comments


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1, // one\n "b": 2,}', {"a": 1, "b": 2}),
        ('/* head */ ["x", /* y */ "z",\n]', ["x", "z"]),
        (
            '{"url": "https://h//p", "c": "/* no */", "d": ",]"}',
            {"url": "https://h//p", "c": "/* no */", "d": ",]"},
        ),
        ('["a\\"// b",]', ['a"// b']),
        ("[1, // last\n]", [1]),
    ],
)
def test_comments_and_trailing_commas_are_removed_and_strings_are_unchanged(text: str, value: object):
    assert json.loads(without_comments(text)) == value


def test_removing_comments_keeps_every_line_in_place():
    text = '{\n/* a\n b */\n"x": 1 // c\n}'
    assert without_comments(text).count("\n") == text.count("\n")
    assert len(without_comments(text)) == len(text)


values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(alphabet='a/*",]}\\', max_size=6)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=20,
)


@given(values)
def test_plain_json_is_unchanged(value: Any):
    text = json.dumps(value)
    assert without_comments(text) == text


@given(st.text(alphabet='"/*,]}\\\n a', max_size=40))
def test_any_text_keeps_its_length(text: str):
    assert len(without_comments(text)) == len(text)
