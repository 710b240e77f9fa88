"""A call that cannot run says why, in words that the model can act on."""

from tests.cases import each_case
from tui.core.context.tool_results import cut
from tui.core.conversation.conversation import CallRequest, ToolMessage
from tui.core.schemas.tool_names import NameTable
from tui.core.servers import ServerState
from tui.core.tools import Tool
from tui.core.turn.prepared_calls import (
    CANCELLED,
    CANCELLED_FOR_MODEL,
    EXAMPLE,
    plain_reason,
    prepare,
    shown_result,
)

TABLE = NameTable([Tool("weather", "get_weather")])


def test_a_valid_call_has_a_tool_arguments_and_no_problem():
    item = prepare(CallRequest("1", "weather__get_weather", '{"location": "Oslo"}'), TABLE, {})
    assert (item.server, item.name, item.arguments, item.problem) == (
        "weather",
        "get_weather",
        {"location": "Oslo"},
        "",
    )


@each_case(
    ("call", "said", "why"),
    [
        (CallRequest("1", "weather__get_weather", "{}", truncated=True), "truncated", "invalid arguments"),
        (CallRequest("1", "weather__get_weather", "{city: Oslo}"), "not valid JSON", "invalid arguments"),
        (CallRequest("1", "weather__get_weather", "{city: Oslo}"), "{city: Oslo}", "invalid arguments"),
        (CallRequest("1", "weather__get_wether", "{}"), "weather__get_weather", "unknown tool"),
        (CallRequest("1", "weather__get_weather", "{}", problem="Say it so"), "Say it so", "invalid call"),
    ],
)
def test_a_call_that_cannot_run_is_answered_with_its_problem(call, said, why):
    item = prepare(call, TABLE, {})
    assert said in item.problem and item.problem.startswith("not run: ") and item.why == why


def test_a_call_to_a_server_that_is_not_running_says_so_and_suggests_no_other():
    absent = {"time": ServerState.STARTING, "files": ServerState.STOPPED}
    item = prepare(CallRequest("1", "time__get_weather", "{}"), TABLE, absent)
    assert item.why == "server not running" and "the server time is still starting" in item.problem
    item = prepare(CallRequest("1", "files__read", "{}"), TABLE, absent)
    assert "the server files is not running" in item.problem
    assert "Did you mean" not in item.problem


def test_a_call_to_a_tool_that_is_turned_off_says_so_and_suggests_no_other():
    item = prepare(CallRequest("1", "weather__forecast", "{}"), TABLE, {}, [Tool("weather", "forecast")])
    assert (item.tool, item.why) == (None, "turned off")
    assert "forecast of weather is disabled" in item.problem and "Did you mean" not in item.problem


def test_a_name_with_a_server_suggests_only_tools_of_that_server():
    table = NameTable([Tool("weather", "get_weather"), Tool("notes", "read_notes")])
    item = prepare(CallRequest("1", "notes__get_weather_note", "{}"), table, {})
    assert "weather__get_weather" not in item.problem


def test_the_reason_shown_to_people_omits_the_advice_to_the_model():
    absent = {"files": ServerState.STOPPED}
    item = prepare(CallRequest("1", "files__read", "{}"), TABLE, absent)
    shown = plain_reason(item.problem, item.why)
    assert shown == "not run: the server files is not running, so its tools are not available."
    assert item.problem == f"{shown} Answer without it, or tell the user that it is missing."
    item = prepare(CallRequest("1", "weather__get_weather", "{", truncated=True), TABLE, {})
    assert plain_reason(item.problem, item.why) == "not run: the arguments were truncated."
    assert plain_reason(CANCELLED_FOR_MODEL, "cancelled") == CANCELLED
    assert (
        plain_reason(f"not run: not valid JSON.{EXAMPLE}<call/>", "invalid call")
        == "not run: not valid JSON."
    )


def test_text_from_a_server_is_not_shortened():
    text = f"Try later.{EXAMPLE}x Send the complete call again."
    assert plain_reason(text, "") == text


def test_a_truncated_result_is_shown_without_the_advice_to_the_model():
    message = ToolMessage("c1", "read", cut("line\n" * 1000, 1000, "result-1"), kept="result-1", seconds=1.0)
    assert "call read_result" in message.text
    text, _ = shown_result(message)
    assert "read_result" not in text and "[… shortened: 4,2" in text
