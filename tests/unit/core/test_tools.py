"""Tools that are turned off for the model, by patterns."""

import pytest

from tui.core.tools import is_off, switched

NAMES = ["get", "delete_a", "delete_b", "odd[1]*"]


@pytest.mark.parametrize(
    ("patterns", "off"),
    [((), []), (("*",), NAMES), (("delete_*",), ["delete_a", "delete_b"]), (("get", "x"), ["get"])],
)
def test_a_pattern_turns_off_the_tools_that_it_matches(patterns, off):
    assert [name for name in NAMES if is_off(name, patterns)] == off


@pytest.mark.parametrize("name", NAMES)
def test_turning_off_affects_only_the_named_tool(name):
    patterns = switched((), name, NAMES)
    assert [one for one in NAMES if is_off(one, patterns)] == [name]
    assert switched(patterns, name, NAMES) == ()


def test_turning_a_tool_on_replaces_its_pattern_by_the_names_of_the_others():
    assert switched(("get", "delete_*"), "delete_a", NAMES) == ("get", "delete_b")
    assert switched(("*",), "odd[1]*", NAMES) == ("get", "delete_a", "delete_b")
