"""Expectations on recordings."""

from dataclasses import replace

from tests.cases import each_case
from tui.addons.tests.recorded.expectations import (
    Expectation,
    KnownTools,
    SeenRequest,
    latency_limit,
    no_errors,
    tool_expected,
    tool_forbidden,
)
from tui.core.traffic import Outcome

MS = 1_000_000
CALL = SeenRequest(7, "weather", "tools/call", "get_weather", Outcome.OK, 40 * MS)
LIST = SeenRequest(3, "weather", "tools/list", "", Outcome.OK, 900 * MS)
TOOLS = KnownTools(["get_weather"], ["get_weather", "delete_city"])


def problem(expectation: Expectation, *requests: SeenRequest, tools: KnownTools = TOOLS) -> str:
    for request in requests:
        expectation.see(request)
    found = expectation.problem(tools)
    return found.sentence if found is not None else ""


@each_case("pattern", ["get_weather", "get_*", "weather/get_weather", "*/get_*", "*"])
def test_an_expected_tool_was_called(pattern: str):
    assert problem(tool_expected(pattern), LIST, CALL) == ""


def test_an_expected_tool_that_was_not_called_names_those_that_were():
    assert problem(tool_expected("delete_city"), CALL) == "It was not called. Called: get_weather."
    assert problem(tool_expected("delete_*"), tools=KnownTools((), ["delete_city"])) == (
        "It was not called. Called: no tool."
    )


def test_a_tool_that_the_recording_does_not_have_is_named_with_the_one_that_was_meant():
    said = "The recording has no tool “get_wether”. Did you mean “get_weather”?"
    assert problem(tool_expected("get_wether"), CALL) == said
    assert TOOLS.unknown("weather/get_wether").endswith("Did you mean “get_weather”?")
    assert TOOLS.unknown("zzz") == "The recording has no tool “zzz”."


def test_a_forbidden_tool_names_its_first_call_and_counts_the_others():
    calls = [replace(CALL, seq=seq) for seq in (7, 9, 11)]
    assert problem(tool_forbidden("get_*"), *calls) == "#7 tools/call get_weather (weather), and 2 more"
    assert problem(tool_forbidden("delete_*"), *calls) == ""


def test_later_rounds_of_a_forbidden_call_are_not_counted():
    assert "more" not in problem(tool_forbidden("get_*"), CALL, replace(CALL, seq=9, is_later=True))


def limit(pattern: str, ms: int) -> Expectation:
    return latency_limit(pattern, ms * MS, f"{pattern}={ms}ms")


def test_the_slowest_call_over_a_limit_is_named():
    calls = [replace(CALL, seq=seq, took_ns=ms * MS) for seq, ms in ((7, 50), (9, 900), (11, 60), (13, 1))]
    assert (
        problem(limit("get_*", 40), *calls) == "#9 tools/call get_weather (weather) took 900 ms, and 2 more"
    )
    assert problem(limit("get_*", 900), *calls) == ""


def test_a_limit_for_all_tools_is_for_calls_only():
    assert problem(limit("*", 100), LIST, CALL) == ""


def test_a_call_without_a_response_is_over_each_limit():
    lost = replace(CALL, outcome=Outcome.LOST, took_ns=-1)
    assert problem(limit("*", 100), lost) == "#7 tools/call get_weather (weather) has no response"


def test_a_limit_that_compared_nothing_does_not_hold():
    assert problem(limit("*", 100), LIST) == "No tool was called, so no latency was compared."
    assert problem(limit("delete_city", 100), CALL) == "It was not called, so no latency was compared."
    assert "Did you mean" in problem(limit("delete_cty", 100), CALL)


@each_case(
    ("outcome", "method", "said"),
    [
        (Outcome.OK, "tools/call", ""),
        (Outcome.PROBE, "server/discover", ""),
        (Outcome.CANCELLED, "tools/list", ""),
        (Outcome.LOST, "subscriptions/listen", ""),
        (Outcome.ERROR, "resources/read", "#3 resources/read (weather): error"),
        (Outcome.TOOL_ERROR, "tools/call", "#3 tools/call (weather): tool error"),
        (Outcome.LOST, "tools/call", "#3 tools/call (weather): lost"),
    ],
)
def test_no_errors_means_no_failed_request(outcome: Outcome, method: str, said: str):
    assert problem(no_errors(), replace(LIST, outcome=outcome, method=method)) == said


def test_a_call_that_was_cancelled_has_no_answer():
    assert problem(no_errors(), replace(CALL, outcome=Outcome.CANCELLED)).endswith(": cancelled")


def test_a_request_of_one_of_several_recordings_names_it():
    assert str(replace(CALL, label="monday")) == "monday #7 tools/call get_weather (weather)"


def test_an_option_is_said_as_it_was_written():
    found = [tool_expected("a"), tool_forbidden("b"), limit("c", 5), no_errors()]
    assert [one.option for one in found] == [
        "--expect-tool a",
        "--forbid-tool b",
        "--max-latency c=5ms",
        "--no-errors",
    ]
