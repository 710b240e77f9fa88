"""Values that are secret because of their name."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tui.core.secrets.named_values import (
    BY_NAME,
    SecretArguments,
    named_values,
    secret_names,
    without_named_arguments,
    without_named_values,
)


def test_named_values_are_replaced_and_the_text_remains_valid_json():
    text = '{"password": "a\\"b", "pin": 12, "n": 1, "in": {"token": "x"}}'
    inner = {"token": "[redacted:token]"}
    kept = {"password": "[redacted:password]", "pin": "[redacted:pin]", "n": 1, "in": inner}
    assert json.loads(without_named_values(text)) == kept


@pytest.mark.parametrize(
    ("name", "mark"),
    [
        ("abc+def/ghi=_token", "token"),
        ("s3cr3t hunter: API key", "api_key"),
        ("x" * 60 + "abc_" * 9 + "pin", "pin"),
    ],
)
def test_no_part_of_a_name_that_may_have_a_secret_is_in_a_mark(name: str, mark: str):
    assert json.loads(without_named_values(json.dumps({name: "x"}))) == {name: f"[redacted:{mark}]"}


def test_empty_values_names_that_only_refer_to_a_secret_and_other_ranges_are_kept():
    text = '{"token_file": "/x", "max_tokens": 3, "password": "", "secret": null, "api_key": false}'
    assert without_named_values(text) == text
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


SECRET = {"type": "string", "format": "password"}


@each_case(
    ("schema", "names"),
    [
        ({"properties": {"a": SECRET, "b": {"type": "string"}}}, {"a"}),
        ({"properties": {"a": {"writeOnly": True}}}, {"a"}),
        ({"properties": {"a": {"properties": {"b": SECRET}}}}, {"b"}),
        ({"properties": {"a": {"items": {"properties": {"b": SECRET}}}}}, {"b"}),
        ({"properties": {"a": {"items": SECRET}}}, {"a"}),
        ({"properties": {"a": {"additionalProperties": SECRET}}}, {"a"}),
        ({"properties": {"a": {"anyOf": [{"type": "null"}, SECRET]}}}, {"a"}),
        ({"properties": {"a": {"$ref": "#/$defs/S"}}, "$defs": {"S": SECRET}}, {"a"}),
        ({"properties": {"a": {"$ref": "#s"}}, "$defs": {"S": {**SECRET, "$anchor": "s"}}}, {"a"}),
        ({"properties": {"a": {"$ref": "#/properties/a"}}}, set()),
        ({"properties": {"a": {"$ref": "https://example.com/s"}}}, set()),
        ({"properties": {"a": True, "format": {"type": "string"}}}, set()),
        ({"additionalProperties": SECRET}, {"*"}),
        (None, set()),
    ],
)
def test_secret_arguments_are_read_from_the_schema(schema: object, names: set[str]):
    assert secret_names(schema) == names


def test_a_huge_schema_can_be_read():
    schema: dict[str, object] = {}
    for number in range(5000):
        schema = {"properties": {str(number): schema}, "items": schema}
    assert secret_names(schema) == frozenset()


def test_a_secret_argument_remains_secret_when_the_schema_changes():
    known = SecretArguments()
    known.learn("s", "t", {"properties": {"a": SECRET}})
    known.learn("s", "t", {"properties": {"a": {}}})
    assert known.of("s", "t").includes("a") and not known.of("other", "t").includes("a")


@each_case(
    ("rule", "secret", "other"),
    [
        ("login.ssn", ("login", "ssn"), ("logout", "ssn")),
        ("*.ssn", ("logout", "ssn"), ("login", "name")),
        ("ssn", ("logout", "ssn"), ("login", "name")),
        ("log*.s?n", ("login", "sin"), ("find", "ssn")),
        ("a.b.ssn", ("a.b", "ssn"), ("a", "ssn")),
    ],
)
def test_a_rule_makes_an_argument_of_a_tool_secret(
    rule: str, secret: tuple[str, str], other: tuple[str, str]
):
    known = SecretArguments()
    known.set_rules({"s": [rule]})
    assert known.of("s", secret[0]).declares(secret[1])
    assert not known.of("s", other[0]).declares(other[1])
    assert known.of("t", secret[0]) == BY_NAME
    assert known.of_model_name(f"s__{secret[0]}").declares(secret[1])
    assert not known.of_model_name(f"s__{other[0]}").declares(other[1])


@each_case("name", ["s-1__log_in", "S_1__log-in", "log_in", "s_1__log_in_0a1b2c3d", "x" * 60])
def test_a_tool_is_also_found_by_the_name_that_models_use(name: str):
    known = SecretArguments()
    known.learn("s 1", "log.in", {"properties": {"a": SECRET}})
    assert known.of_model_name(name).declares("a")
    assert not known.of_model_name("s_1__other").declares("a")
