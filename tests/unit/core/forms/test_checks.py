"""Typed text is converted to a value and checked while typing."""

from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tui.core.forms.checks import parse_json, read_text, shown_text
from tui.core.forms.schema import SchemaReader


def read(text, **schema):
    return read_text(SchemaReader({}).spec(schema), text)


@each_case(
    ("text", "schema", "value"),
    [
        (" 12 ", {"type": "integer"}, 12),
        ("-0", {"type": "integer"}, 0),
        ("1e3", {"type": "integer"}, 1000.0),
        ("+.5", {"type": "number"}, 0.5),
        ("7.", {"type": "number"}, 7.0),
        ("12345678901234567890", {"type": "number"}, 12345678901234567890),
        ("TRUE", {"type": "boolean"}, True),
        (" x ", {"type": "string"}, " x "),
        ('{"a": [null]}', {}, {"a": [None]}),
    ],
)
def test_valid_texts_become_values(text, schema, value):
    assert read(text, **schema) == (value, "")


@each_case(
    ("text", "schema", "problem"),
    [
        ("1.5", {"type": "integer"}, "is not an integer"),
        ("1e999", {"type": "number"}, "is too large"),
        ("0x1", {"type": "number"}, "is not a number"),
        ("NaN", {"type": "number"}, "is not a number"),
        ("٣", {"type": "string", "minLength": 2}, "needs at least 2 characters"),
        ("9" * 5000, {"type": "integer"}, "is not an integer"),
        ("0", {"type": "integer", "minimum": 1}, "must be at least 1"),
        ("11", {"type": "integer", "maximum": 10}, "must be at most 10"),
        ("1", {"type": "number", "exclusiveMinimum": 1}, "must be more than 1"),
        ("1", {"type": "number", "exclusiveMaximum": 1}, "must be less than 1"),
        ("7", {"type": "integer", "multipleOf": 2}, "must be a multiple of 2"),
        ("yes", {"type": "boolean"}, "is not true or false"),
        ("abcd", {"type": "string", "maxLength": 3}, "may have at most 3 characters"),
        ("A", {"type": "string", "pattern": "^[a-z]+$"}, "does not match ^[a-z]+$"),
        ("\ud800", {"type": "string"}, "contains an invalid character (a lone surrogate)"),
        ("2026-02-30", {"type": "string", "format": "date"}, "is not a date"),
        ("nobody", {"type": "string", "format": "email"}, "is not an email"),
        ("example.org", {"type": "string", "format": "uri"}, "is not a uri"),
        ("{", {}, "is not JSON: a name in double quotes is missing at line 1, column 2"),
    ],
)
def test_each_problem_is_described(text, schema, problem):
    assert read(text, **schema)[1] == problem


@each_case(
    ("text", "shape"),
    [
        ("2026-02-28", "date"),
        ("2026-02-28T12:00:00Z", "date-time"),
        ("2026-02-28t12:00:00.5+01:00", "date-time"),
        ("12:00:00Z", "time"),
        ("a@b", "email"),
        ("urn:x", "uri"),
        ("123e4567-e89b-12d3-a456-426614174000", "uuid"),
        ("whatever", "unheard-of"),
    ],
)
def test_texts_that_are_not_certainly_invalid_are_accepted(text, shape):
    assert read(text, type="string", format=shape) == (text, "")


def test_json_that_is_too_long_is_not_parsed():
    assert parse_json(" " * 2_000_000)[1] == "is longer than 1,048,576 characters"


@given(st.integers() | st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_survive_a_round_trip_through_text(number):
    spec = SchemaReader({}).spec({"type": "number"})
    text = shown_text(spec, number)
    assert text is not None
    value, problem = read_text(spec, text)
    assert (repr(value), problem) == (repr(number), "")
