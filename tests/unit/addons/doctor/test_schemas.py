"""What providers make of definitions."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tui.addons.doctor.schemas import schema_step
from tui.addons.doctor.steps import State
from tui.core.tools import Tool

OBJECT: dict[str, Any] = {"type": "object"}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
)


def tool(name: str = "a", **schema: Any) -> Tool:
    return Tool("s", name, "", "Does.", {**OBJECT, **schema})


def test_a_plain_definition_is_accepted():
    assert schema_step([tool()], ()).state is State.OK


@each_case(
    ("one", "said"),
    [
        (tool(oneOf=[{"required": ["a"]}]), "OpenAI, Anthropic: oneOf at the root"),
        (tool("a b"), "OpenAI, Anthropic, Google: name"),
        (tool("x" * 65), "OpenAI: name"),
        (tool("2nd"), "Google, Moonshot: name has characters"),
        (tool(type="array", items={}), "every provider: inputSchema is not"),
        (tool(properties={"a": {"type": "array"}}), "OpenAI, Google: an array without `items`"),
        (tool(properties={"a": {"type": ["null", "array"]}}), "OpenAI, Google: an array without `items`"),
        (tool(properties={"a": {"$ref": "#/nowhere"}}), "Google, Moonshot: $ref to nothing: #/nowhere"),
    ],
)
def test_what_a_provider_rejects_is_named_with_the_tool(one: Tool, said: str):
    found = schema_step([one], ())
    assert found.state is State.FAILED and said in found.seen and one.name[:50] in found.seen


@pytest.mark.parametrize(
    "one",
    [
        tool(properties={"a": {"type": "array", "items": {}}}),
        tool(properties={"a": {"$ref": "#/$defs/b"}}, **{"$defs": {"b": {"type": "string"}}}),
        tool(properties={"a": {"$ref": "#"}}),
        tool(properties={"type": {"enum": ["array"]}, "a": {"default": {"type": "array"}}}),
    ],
)
def test_arrays_with_items_and_references_to_something_are_accepted(one: Tool):
    assert schema_step([one], ()).state is State.OK


def test_a_tool_that_mcptui_omits_is_a_failure():
    found = schema_step([], [("b", "its inputSchema is missing")])
    assert found.state is State.FAILED and "b: its inputSchema is missing" in found.seen


@given(st.dictionaries(st.sampled_from(["properties", "items", "$ref", "anyOf", "type"]), JSON))
def test_any_schema_is_judged(schema: dict[str, Any]):
    assert schema_step([Tool("s", "a", "", "", schema)], ()).name == "schemas"
