import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import each_case
from tui.addons.tests.suite.read import suite_of
from tui.addons.tests.turns.call_pattern import pattern_of
from tui.addons.tests.turns.keep import KeptCall, MadeTurn, TurnKeeping, made_turn, said_part
from tui.core.conversation.conversation import (
    AssistantMessage,
    CallRequest,
    Message,
    ToolMessage,
    UserMessage,
)
from tui.core.errors import UsageError
from tui.core.servers import ServerSpec
from tui.core.text import fold
from tui.core.tools import Tool
from tui.runtime.copies.origin import Origin

NAMES = st.text(alphabet="ab. =~\"'", max_size=4)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(alphabet="a b\"'\\{<>\n"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
TOOLS = [Tool("weather", "get_weather"), Tool("weather", "find_city"), Tool("notes", "add")]
QUESTION = "What is the weather in Hangzhou for 3 days?"


def called(name: str, is_error: bool = False, why: str = "", **arguments: Any) -> list[Message]:
    """Return a call and its result."""
    ident = f"{name}-{json.dumps(arguments)}"
    call = CallRequest(ident, name, json.dumps(arguments))
    return [AssistantMessage("", calls=(call,)), ToolMessage(ident, name, "ok", is_error, why=why)]


def talk(*calls: list[Message], question: str = QUESTION) -> list[Message]:
    return [UserMessage(question), *(one for call in calls for one in call), AssistantMessage("Rain.")]


def made(messages: list[Message], at: int, server: str = "weather") -> tuple[str, ...]:
    """Return the question of the turn of a message, and its calls of a server."""
    turn = made_turn(messages, at, TOOLS)
    return () if turn is None else (turn.question, *map(str, turn.calls_of(server)))


WEATHER = called("weather__get_weather", location="Hangzhou, China", days=3, units="metric")


EXPECTED = "get_weather location~Hangzhou days=3"


def test_any_message_of_a_turn_stands_for_it() -> None:
    messages = [*talk(WEATHER), *talk(called("notes__add", text="milk"), question="Add milk to my notes")]
    assert [made(messages, at) for at in range(4)] == [(QUESTION, EXPECTED)] * 4
    assert made(messages, 7, "notes") == ("Add milk to my notes", "add text~milk")


def test_a_message_that_was_added_to_a_running_turn_does_not_begin_one() -> None:
    messages = [UserMessage(QUESTION), *WEATHER, UserMessage("in metric units"), AssistantMessage("Rain.")]
    assert made(messages, 3)[0] == QUESTION


def test_calls_that_failed_or_did_not_run_are_left_out() -> None:
    messages = talk(
        called("weather__find_city", is_error=True),
        called("weather__find_city", why="not run"),
        called("weather__unknown"),
        WEATHER,
        WEATHER,
    )
    assert made(messages, 0) == (QUESTION, EXPECTED)


def test_each_server_has_its_calls() -> None:
    messages = talk(WEATHER, called("notes__add", text="rain"))
    turn = made_turn(messages, 0, TOOLS)
    assert turn is not None and turn.servers == ["weather", "notes"]
    assert made(messages, 0, "notes") == (QUESTION, "add text~rain")
    assert made(talk(), 0) == (QUESTION,)


def test_without_a_question_there_is_no_turn() -> None:
    assert not any((made([], 0), made([AssistantMessage("Hi")], 0), made([UserMessage("  ")], 0)))


@each_case(
    ("question", "value", "part"),
    [
        ("weather in Hangzhou?", "Hangzhou, China", "Hangzhou"),
        ("flights to New York City", "New York City, NY", "New York City"),
        ("flights to new york", "New York", "New York"),
        ("杭州天气如何", "杭州市", "杭州"),
        ("weather in Paris", "is", ""),
        ("show it", "i", ""),
        ("hangover", "hang", ""),
        ("zip 01234", "01234", "01234"),
        ("", "Paris", ""),
        ("line one two", "one\n two", "one two"),
    ],
)
def test_the_longest_run_of_words_that_the_question_has_is_kept(question: str, value: str, part: str) -> None:
    assert said_part(fold(question), value) == part


ARGUMENTS = {
    "filter": {"city": "Paris", "days": 3, "a.b": 1},
    "tags": ["art", "food"],
    "a.b": "Paris",
    "x": None,
    "note": "more " * 100,
    "empty": "",
    "units": "metric",
}


def test_what_the_question_says_is_expected_and_the_rest_is_proposed() -> None:
    call = KeptCall.of("t", "art in Paris for 3 days", ARGUMENTS)
    assert str(call) == "t filter.city~Paris filter.days=3 tags~art a.b~Paris"
    assert [str(one.pattern) for one in call.arguments if not one.is_on] == [
        "tags~food",
        "x=null",
        'empty=""',
        "units~metric",
    ]
    assert str(call.switched(2).switched(7)) == "t filter.city~Paris filter.days=3 a.b~Paris units~metric"


def test_all_arguments_are_expected_if_the_question_says_none() -> None:
    assert str(KeptCall.of("get_weather", "杭州天气", {"location": "Hangzhou", "days": 3})) == (
        "get_weather location~Hangzhou days=3"
    )


def test_each_proposed_argument_matches_the_call_that_it_was_made_of() -> None:
    for question in ("art in Paris for 3 days", "?"):
        for one in KeptCall.of("t", question, ARGUMENTS | {"n": 2.0, "b": True, "big": 10**400}).arguments:
            assert pattern_of(f"t {one.pattern}").matches(
                "t", ARGUMENTS | {"n": 2, "b": True, "big": 10**400}
            )


@settings(max_examples=20)
@given(st.text(max_size=30), st.dictionaries(NAMES, VALUES, max_size=4))
def test_a_proposed_call_can_be_read_and_matches(question: str, arguments: dict[str, Any]) -> None:
    call = KeptCall.of("t", question, arguments)
    assert pattern_of(str(call)).matches("t", arguments)


def test_arguments_that_make_a_call_too_long_are_left_out() -> None:
    arguments = {f"{number}" * 100: "x" * 200 for number in range(100)}
    assert str(KeptCall.of("t", "?", arguments)) == "t"


def test_a_long_text_is_looked_through_in_bounded_time() -> None:
    assert said_part("word " * 100_000, "other " * 100_000) == ""


TURN = MadeTurn(
    "Weather in Hangzhou, and note milk",
    (
        ("weather", "get_weather", {"location": "Hangzhou"}),
        ("notes", "add", {"text": "milk"}),
        ("notes", "list", {}),
        ("gone", "x", {}),
    ),
)


def origins(folder: Path, *names: str) -> dict[str, Origin]:
    made = {}
    for name in names:
        spec = ServerSpec(name, "python", (f"{name}.py",))
        made[name] = Origin.of_spec(spec, str(folder), configured=True)
    return made


def keeping(
    folder: Path, *names: str, server: str = "", redact: Callable[[str], str] = str, turn: MadeTurn = TURN
) -> TurnKeeping:
    (folder / "pyproject.toml").touch()
    return TurnKeeping.of(turn, origins(folder, *names), folder, redact, server)


def test_a_turn_is_kept_for_the_first_server_that_is_known(tmp_path: Path) -> None:
    made = keeping(tmp_path, "notes", "weather")
    assert (made.server, made.servers) == ("weather", ["weather", "notes"])
    assert made.case.calls == ("get_weather location~Hangzhou",)
    assert made.for_next_server().case.calls == ("add text~milk", "list")
    assert made.for_next_server().for_next_server().server == "weather"
    assert keeping(tmp_path, "notes", "weather", server="notes").server == "notes"


def test_the_file_has_the_turn_at_its_end(tmp_path: Path) -> None:
    made = keeping(tmp_path, "notes").switched(1)
    target = made.target()
    said = made.keep(target)
    assert said == "Kept in notes.mcp.toml. Run it with: mcptui test notes.mcp.toml"
    text = (tmp_path / "notes.mcp.toml").read_text("utf-8")
    assert text == made.preview(target)
    (turn,) = suite_of(text, tmp_path / "notes.mcp.toml").turns
    assert (turn.question, turn.calls, turn.runs, turn.passing) == (TURN.question, ("add text~milk",), 5, 0.8)


def test_a_turn_is_kept_once_and_its_question_with_other_calls_needs_a_name(tmp_path: Path) -> None:
    made = keeping(tmp_path, "notes")
    made.keep(made.target())
    target = made.target()
    with pytest.raises(UsageError, match=r"notes.mcp.toml already expects these calls for this question"):
        made.named("milk").keep(target)
    other = made.switched(1)
    with pytest.raises(UsageError, match="already has a turn case with this question"):
        other.keep(target)
    assert other.free_name(target) == f"{TURN.question} (2)"
    other.named("milk").keep(target)
    with pytest.raises(UsageError, match="already has a turn case with this name"):
        made.switched(0).named("milk").keep(made.target())


def test_calls_and_arguments_can_be_left_out(tmp_path: Path) -> None:
    made = keeping(tmp_path, "weather").switched(0)
    assert made.problem(made.target()) == "A turn case expects at least one call."
    assert made.switched(0).problem(made.target()) == ""
    assert made.switched(0).switched(0, 0).case.calls == ("get_weather",)


def test_a_turn_without_a_call_that_worked_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Nothing to keep: no call of this turn succeeded"):
        keeping(tmp_path, "other")


@pytest.mark.parametrize("text", ["[redacted]", "[redacted:notes.env.KEY]", "Hangzhou"])
def test_a_secret_is_refused(tmp_path: Path, text: str) -> None:
    turn = MadeTurn(f"Weather in {text}", TURN.calls)
    with pytest.raises(UsageError, match="contains a secret"):
        keeping(tmp_path, "weather", redact=lambda one: one.replace("Hangzhou", "***"), turn=turn)


def test_an_argument_with_a_secret_is_not_proposed(tmp_path: Path) -> None:
    turn = MadeTurn("Weather?", (("weather", "get_weather", {"location": "Oslo", "key": "s3cret"}),))
    made = keeping(tmp_path, "weather", redact=lambda one: one.replace("s3cret", "***"), turn=turn)
    assert made.case.calls == ("get_weather location~Oslo",)
