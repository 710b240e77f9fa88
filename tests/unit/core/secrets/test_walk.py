"""Redaction of JSON values and of our own types: names, texts and numbers, at any depth."""

import json
from base64 import b64decode, b64encode

from hypothesis import given
from hypothesis import strategies as st

from tui.core.secrets.redact import Redactor
from tui.core.secrets.walk import redacted, texts_in, unchanged, without_secrets
from tui.core.tools import BinaryContent, LinkContent, Tool, ToolResult

SECRET = "canary-7f3a9c-secret"
clear = Redactor({"KEY": SECRET}).redact_spoken

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(VALUES)
def test_a_value_without_secrets_equals_its_copy_and_the_original_is_never_changed(value):
    assert redacted(value, clear) == value
    before = json.dumps(value)
    redacted(value, lambda text: text + "!")
    assert json.dumps(value) == before


def test_secrets_are_replaced_in_texts_and_keys():
    value = {SECRET: [1, {"a": f"x {SECRET} y"}], "b": [[SECRET]], "n": None, "t": True}
    mark = "[redacted:KEY]"
    kept = {mark: [1, {"a": f"x {mark} y"}], "b": [[mark]], "n": None, "t": True}
    assert redacted(value, clear) == kept
    of_number = Redactor({"PIN": "1234567890"}).redact_spoken
    assert redacted([1234567890, 12345, 1.5], of_number) == ["[redacted:PIN]", 12345, 1.5]


def test_a_value_nested_beyond_the_recursion_limit_is_redacted():
    value: object = SECRET
    for _ in range(5000):
        value = [{"a": value}]
    inner = redacted(value, clear)
    for _ in range(5000):
        inner = inner[0]["a"]
    assert inner == "[redacted:KEY]"
    assert SECRET in texts_in(value)


def test_every_text_key_and_integer_is_found():
    found = set(texts_in({"a": ["b", {"c": 1234567890}], "d": 1, "e": None}))
    assert found == {*"abcde", "1234567890"}


def test_our_own_types_are_redacted_except_for_the_names_by_which_they_are_asked_for():
    tool = Tool(SECRET, SECRET, SECRET, schema={"title": SECRET}, digest=SECRET)
    found = without_secrets(ToolResult((LinkContent(SECRET, SECRET),), {"tools": [tool]}), clear)
    mark = "[redacted:KEY]"
    assert found.content == (LinkContent(mark, mark),)
    assert found.structured["tools"] == [Tool(SECRET, SECRET, mark, schema={"title": mark}, digest=SECRET)]
    result = ToolResult((LinkContent("a", "b"),), {"a": ["b", 1234567890]})
    assert without_secrets(result, clear) is result


def test_a_file_is_redacted_in_its_bytes_unless_it_stays_unchanged():
    data = b64encode(f"a {SECRET} b".encode()).decode()
    file = BinaryContent("blob", "text/plain", 24, data)
    found = without_secrets(file, clear)
    assert b64decode(found.data) == b"a [redacted:KEY] b" and found.size == 18
    assert without_secrets(file, clear, unchanged) is file
