"""Values that are secret because of their name."""

import json
import time

from hypothesis import given
from hypothesis import strategies as st

from tui.core.secrets.named_values import named_values, without_named_arguments, without_named_values


def test_named_values_are_replaced_and_the_text_remains_valid_json():
    text = '{"password": "a\\"b", "pin": 12, "n": 1, "in": {"token": "x"}}'
    assert json.loads(without_named_values(text)) == {
        "password": "[redacted:password]",
        "pin": "[redacted:pin]",
        "n": 1,
        "in": {"token": "[redacted:token]"},
    }


def test_empty_values_and_names_that_only_refer_to_a_secret_are_kept():
    text = '{"token_file": "/x", "max_tokens": 3, "password": "", "secret": null, "api_key": false}'
    assert without_named_values(text) == text


def test_only_the_given_range_is_searched():
    raw = b'{"token": "a"} {"token": "b"}'
    assert [raw[place.start : place.end] for place in named_values(raw, 14, len(raw))] == [b'"b"']


def test_arguments_without_secret_names_are_returned_as_the_same_object():
    arguments = {"city": "Oslo"}
    assert without_named_arguments(arguments) is arguments
    assert without_named_arguments({"password": "x", "a": 1}) == {"password": "[redacted:password]", "a": 1}
    assert without_named_arguments({"password": object()}).keys() == {"password"}


_VALUES = st.recursive(
    st.text() | st.integers() | st.none() | st.booleans(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["password", "a", "token"]), inner),
    max_leaves=20,
)


@given(st.dictionaries(st.sampled_from(["password", "b"]), _VALUES))
def test_any_arguments_remain_json_with_the_same_keys(arguments: dict[str, object]):
    clear = without_named_values(json.dumps(arguments))
    assert json.loads(clear).keys() == arguments.keys()
    assert without_named_values(clear) == clear


def test_a_text_truncated_within_an_escape_is_searched_quickly():
    raw = b'{"token": 1, "q": "' + b'\\"' * 150_000 + b"\\"
    begun = time.perf_counter()
    assert [place.name for place in named_values(raw, 0, len(raw))] == ["token"]
    assert time.perf_counter() - begun < 5
