"""Calls that were saved in the state folder, as cases of a test file."""

from tui.addons.tests.keep.moved import to_move, without_moved
from tui.addons.tests.suite.case import Request, RequestKind
from tui.core.workbench import CallKey, CallKind, CallMemory

TOOL = CallKey("weather", CallKind.TOOL, "get_weather")
OTHER = CallKey("notes", CallKind.TOOL, "add")
RESOURCE = CallKey("weather", CallKind.RESOURCE, "note://{name}")


def test_the_saved_calls_of_a_server_become_cases_that_expect_nothing():
    memory = CallMemory().with_saved(TOOL, "usual", {"location": "Oslo"}).with_saved(OTHER, "milk", {})
    (moved,) = to_move(memory, "weather", ())
    assert moved.case.request == Request(RequestKind.TOOL, "get_weather", {"location": "Oslo"})
    assert (moved.case.name, moved.case.expected.is_empty) == ("usual", True)
    assert without_moved([moved], memory).saved == {OTHER: {"milk": {}}}


def test_a_name_that_the_file_has_gets_a_number_and_keeps_its_own_in_the_state_folder():
    memory = CallMemory().with_saved(TOOL, "usual", {}).with_saved(TOOL, "usual 2", {})
    names = [(one.name, one.case.name) for one in to_move(memory, "weather", {"usual"})]
    assert names == [("usual", "usual (2)"), ("usual 2", "usual 2")]


def test_the_arguments_of_a_template_stay_where_they_are():
    memory = CallMemory().with_saved(RESOURCE, "mine", {"name": "a"})
    assert to_move(memory, "weather", ()) == []
