"""Arguments on the command line, converted by any schema."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tui.commands.call.arguments import Arguments
from tui.core.errors import UsageError
from tui.core.workbench import PromptArgument, PromptInfo


def of(properties: dict[str, Any], **more: Any) -> Arguments:
    return Arguments("tool", {"type": "object", "properties": properties, **more})


@each_case(
    ("schema", "text", "value"),
    [
        ({"type": "string"}, "null", "null"),
        ({"type": "string"}, "", ""),
        ({"type": ["string", "null"]}, "null", "null"),
        ({"type": ["integer", "null"]}, "null", None),
        ({"type": ["integer", "string"]}, "5", 5),
        ({"type": ["integer", "string"]}, "five", "five"),
        ({"anyOf": [{"type": "string"}, {"type": "array"}]}, "[1]", [1]),
        ({"anyOf": [{"type": "string"}, {"type": "array"}]}, "[1", "[1"),
        ({"$ref": "#/$defs/Size"}, "2", 2),
        ({"const": 3}, "3", 3),
        ({"enum": [1, "1x"]}, "1", 1),
        ({}, '{"a": null}', {"a": None}),
        (True, "5", 5),
    ],
)
def test_a_text_is_converted_to_the_type_in_its_schema(schema: Any, text: str, value: Any):
    takes = of({"x": schema}, **{"$defs": {"Size": {"type": "integer"}}})
    found = takes.from_pairs([f"x={text}"])["x"]
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize(
    ("schema", "text", "said"),
    [
        ({}, "words", """Write JSON, such as x='"text"'"""),
        ({"type": "array"}, "[1", """Write JSON, such as x='["a", "b"]'"""),
        ({"type": "boolean"}, "yes", "x is not true or false: “yes”. Its arguments: [x=true|false]"),
        ({"type": ["integer", "boolean"]}, "yes", "matches none of its types ("),
    ],
)
def test_an_invalid_value_is_rejected_with_a_suggestion(schema: Any, text: str, said: str):
    with pytest.raises(UsageError) as caught:
        of({"x": schema}).from_pairs([f"x={text}"])
    assert said in str(caught.value)


def test_a_schema_without_properties_accepts_any_arguments_and_converts_them():
    assert Arguments("tool", {"type": "object"}).from_pairs(["a=1"]) == {"a": 1}
    assert of({}, additionalProperties={"type": "string"}).from_pairs(["a=1"]) == {"a": "1"}


def test_names_from_a_server_cannot_move_the_cursor():
    takes = of({"\x1b[2Jx": {"type": "string"}}, required=["\x1b[2Jx"])
    with pytest.raises(UsageError) as caught:
        takes.require({})
    assert "\x1b" not in str(caught.value)


@given(
    st.dictionaries(
        st.text(max_size=5),
        st.recursive(
            st.none() | st.booleans() | st.text(max_size=5),
            lambda x: (
                st.lists(x, max_size=3)
                | st.dictionaries(st.sampled_from(["type", "enum", "anyOf", "items"]), x, max_size=3)
            ),
            max_leaves=6,
        ),
        max_size=4,
    ),
    st.text(max_size=10),
)
def test_any_schema_from_a_server_raises_nothing_but_a_usage_error(properties: dict[str, Any], text: str):
    takes = of(properties)
    for name in properties:
        if name and "=" not in name:
            try:
                takes.from_pairs([f"{name}={text}"])
            except UsageError as error:
                assert str(error)


PROMPT = PromptInfo("s", "p", arguments=(PromptArgument("style"), PromptArgument("topic", required=True)))


def test_the_arguments_of_a_prompt_stay_strings():
    takes = Arguments("p", PROMPT.schema)
    assert takes.from_pairs(["topic=5", "style="]) == {"topic": "5", "style": ""}
    assert takes.signature == "topic=TEXT [style=TEXT]"
