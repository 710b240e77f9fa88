"""Calls from a parser become requests, or report what is wrong with them."""

import json
from typing import Any

import pytest

from tests.cases import each_case
from tui.core.ports import ToolSpec
from tui.model.dialects.argument_repair import keywords
from tui.model.dialects.call_maker import CallMaker, OfferedTools, sample

TOOL = ToolSpec("srv__add", "Add.", {"type": "object", "properties": {"n": {}}}, "srv", "add")


def maker() -> CallMaker:
    return CallMaker(OfferedTools([TOOL]))


@pytest.mark.parametrize("text", ['{"n": 1e999}', '{"n": -1e999,}', "{'n': [1e999]}", '"{\\"n\\": 1e999}"'])
def test_a_number_out_of_range_is_reported_to_the_model(text: str) -> None:
    call = maker().call("add", text)
    assert "not valid JSON" in call.problem


@each_case("written", ["n=1e999", "n={1, 2}", "n=b'x'", "n=1j", "n={(1, 2): 3}"])
def test_a_python_value_that_json_lacks_is_reported_to_the_model(written: str) -> None:
    call = maker().of_value("add", keywords(written))
    assert "not valid JSON" in call.problem


@pytest.mark.parametrize("value", [{"n": 1.5}, {"n": (1, 2)}, {"n": None}])
def test_other_values_are_arguments(value: Any) -> None:
    call = maker().of_value("add", value)
    assert not call.problem and json.loads(call.arguments).keys() == {"n"}


@pytest.mark.parametrize("kind", [{"allOf": [{"type": "integer"}]}, {"type": ["null", "integer"]}])
def test_an_example_has_a_value_of_the_type_in_the_schema(kind: Any) -> None:
    schema = {"properties": {"n": kind, "m": {"oneOf": [{"const": None}, kind]}}, "required": ["n", "m"]}
    assert sample(ToolSpec("add", "", schema)) == {"n": 1, "m": 1}


@pytest.mark.parametrize("written", ["read", "functions.read", "default_api.read"])
def test_the_exact_name_of_a_tool_comes_before_others_with_the_same_words(written: str) -> None:
    offered = OfferedTools([ToolSpec("read", "", {}), ToolSpec("fs__read", "", {}, "fs", "read")])
    assert offered.find(written) is offered.tools[0]
