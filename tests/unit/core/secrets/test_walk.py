"""Redaction of JSON values: names, texts and numbers, at any depth."""

import json

from hypothesis import given
from hypothesis import strategies as st

from tui.core.secrets.redact import Redactor
from tui.core.secrets.walk import redacted, texts_in

SECRET = "canary-7f3a9c-secret"
clear = Redactor({"KEY": SECRET}).redact_spoken

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(VALUES)
def test_a_value_without_secrets_equals_its_copy(value):
    assert redacted(value, clear) == value


@given(VALUES)
def test_the_original_value_is_not_changed(value):
    before = json.dumps(value)
    redacted(value, lambda text: text + "!")
    assert json.dumps(value) == before


def test_secrets_are_replaced_in_texts_and_keys():
    value = {SECRET: [1, {"a": f"x {SECRET} y"}], "b": [[SECRET]], "n": None, "t": True}
    mark = "[redacted:KEY]"
    assert redacted(value, clear) == {
        mark: [1, {"a": f"x {mark} y"}],
        "b": [[mark]],
        "n": None,
        "t": True,
    }


def test_a_number_that_is_a_secret_becomes_a_placeholder():
    clear = Redactor({"PIN": "1234567890"}).redact_spoken
    assert redacted([1234567890, 12345, 1.5], clear) == ["[redacted:PIN]", 12345, 1.5]


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
    assert set(texts_in({"a": ["b", {"c": 1234567890}], "d": 1, "e": None})) == {
        "a",
        "b",
        "c",
        "d",
        "e",
        "1234567890",
    }
