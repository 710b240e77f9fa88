"""The tokens of the definitions, by tool, and their change."""

from tui.addons.tests.contract.listing import Kind, ServerListing
from tui.addons.tests.contract.tokens import INSTRUCTIONS, TokenTable, tokens_of


def test_tokens_are_counted_by_tool_and_for_the_instructions():
    tool = {"description": "Adds.", "inputSchema": {"type": "object"}}
    listing = ServerListing({Kind.TOOL: {"a": tool, "b": {**tool, "description": "Adds. " * 50}}}, "Hi.")
    found = tokens_of(listing)
    assert found.keys() == {"a", "b", INSTRUCTIONS} and found["b"] > found["a"] > 0


def test_a_table_names_each_tool_with_its_change():
    table = TokenTable({"a": 120, "b": 30, "c": 5}, {"a": 100, "b": 30, "d": 7})
    assert table.total == 155 and table.change == 18
    assert [line.split() for line in table.lines()] == [
        ["120", "+20", "a"],
        ["30", "b"],
        ["5", "new", "c"],
        ["–", "gone", "d"],
        ["155", "+18", "total"],
    ]


def test_without_a_known_size_before_there_is_no_change():
    table = TokenTable({"a": 1})
    assert table.change is None and [line.split() for line in table.lines()] == [["1", "a"], ["1", "total"]]
