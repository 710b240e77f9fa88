"""Arguments of tools are checked, and a wrong one is named."""

from typing import Any

import pytest

from tui.addons.agent.tools import all_tools, arguments, checked, number, text
from tui.core.context.context_meter import estimate
from tui.core.errors import UsageError
from tui.core.jsonrpc.reader import json_text

SCHEMA = arguments(
    ["entry"],
    entry=number("the entry", 1, 100),
    order=text("the order"),
    calls={"type": "boolean", "description": "whole calls"},
)


def test_arguments_that_fit_are_returned_without_nulls():
    assert checked({"entry": 7, "order": None, "calls": True}, SCHEMA) == {"entry": 7, "calls": True}


def test_a_number_may_be_written_as_text():
    assert checked({"entry": "7"}, SCHEMA) == {"entry": 7}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "entry is required: the entry"),
        ({"entry": 0}, "entry is not from 1 to 100"),
        ({"entry": True}, "entry is not a JSON integer"),
        ({"entry": "x"}, "entry is not a JSON integer"),
        ({"entry": 1, "ordr": "newest"}, "no argument “ordr”. Arguments: entry, order, calls."),
        ({"entry": 1, "calls": 1}, "calls is not a JSON boolean"),
        ({"entry": 1, "order": "x" * 5_000}, "order is longer than 4000 characters"),
    ],
)
def test_a_wrong_argument_is_named(given: dict[str, Any], said: str):
    with pytest.raises(UsageError) as caught:
        checked(given, SCHEMA)
    assert said in str(caught.value)


READING = (
    *("recordings", "find_entries", "read_entry", "explain", "lint", "compare"),
    *("statistics", "slowest", "turn"),
)


def test_tools_that_read_say_so():
    tools = all_tools()
    hints = [tools[name].definition["annotations"] for name in READING]
    assert all(hint == {"readOnlyHint": True, "openWorldHint": False} for hint in hints)


def test_the_definitions_of_the_tools_that_read_are_small():
    tools = all_tools()
    assert estimate(json_text([tools[name].definition for name in READING])) < 2_000
