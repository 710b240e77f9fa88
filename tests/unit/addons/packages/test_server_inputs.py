"""The inputs of a packaged server."""

import pytest

from tui.addons.packages.server_inputs import (
    MAX_TABLE,
    MAX_TEXT,
    ServerInput,
    refuse_long_table,
    refuse_long_text,
    values_of,
)
from tui.core.errors import UsageError


def nobody(wanted: ServerInput) -> None:
    return None


def test_set_overrides_answers_and_answers_override_defaults():
    inputs = [ServerInput(name, required=True, default=("d",)) for name in "abc"]
    found = values_of(inputs, [("a", "1")], lambda wanted: ("2",) if wanted.name == "b" else None)
    assert found == {"a": ("1",), "b": ("2",), "c": ("d",)}


def test_only_required_and_secret_values_are_asked_for():
    asked = []
    inputs = [
        ServerInput("a"),
        ServerInput("b", secret=True),
        ServerInput("c", required=True, default=("x",)),
    ]
    values_of(inputs, [], lambda wanted: asked.append(wanted.name))
    assert asked == ["b", "c"]


@pytest.mark.parametrize(
    ("wanted", "text", "said"),
    [
        (ServerInput("a", kind="number"), "x", "a must be a number"),
        (ServerInput("a", kind="number", minimum=1), "0", "a must be at least 1"),
        (ServerInput("a", kind="number", maximum=9), "10", "a must be at most 9"),
        (ServerInput("a", kind="boolean"), "yes", "a must be true or false"),
        (ServerInput("a", choices=("x", "y")), "z", "a must be one of x, y"),
        (ServerInput("a", required=True), "", "a must not be empty"),
        (ServerInput("a"), "\0", "null character"),
        (ServerInput("b"), "1", "the server has no value “a”"),
    ],
)
def test_a_value_of_the_wrong_type_is_refused(wanted: ServerInput, text: str, said: str):
    with pytest.raises(UsageError, match=said):
        values_of([wanted], [("a", text)], nobody)


def test_several_values_are_accepted_only_for_inputs_that_allow_them():
    assert values_of([ServerInput("a", several=True)], [("a", "1"), ("a", "2")], nobody) == {"a": ("1", "2")}
    with pytest.raises(UsageError, match="set twice"):
        values_of([ServerInput("a")], [("a", "1"), ("a", "2")], nobody)


def test_texts_and_tables_have_a_maximum_size():
    refuse_long_text("x" * MAX_TEXT)
    refuse_long_table({"args": ["x" * MAX_TABLE]})
    with pytest.raises(UsageError, match="a text has 8,193 characters"):
        refuse_long_text("x" * (MAX_TEXT + 1))
    for key, value in (
        ("args", ["x"] * 70_000),
        ("env", {"A": "x" * 70_000}),
        ("headers", {"A": "x" * 70_000}),
    ):
        with pytest.raises(UsageError, match="more than 65,536"):
            refuse_long_table({key: value})
