from collections.abc import Mapping
from typing import Any

from tests.cases import each_case
from tui.addons.tests.run.outcome import ABSENT, Mismatch
from tui.addons.tests.suite.case import TurnCase
from tui.addons.tests.turns.expectation import FinishedTurn, MadeCall, contains, mismatches_of
from tui.core.events import EndReason, LimitName

QUESTION = "What is the weather in Hangzhou?"


def case(**expected: Any) -> TurnCase:
    return TurnCase(QUESTION, 1, **expected)


def call(tool: str, why: str = "", **arguments: Any) -> MadeCall:
    return MadeCall(tool, arguments, why)


def turn(*calls: MadeCall, **more: Any) -> FinishedTurn:
    return FinishedTurn(calls, **{"steps": 2, **more})


def found(expected: Mapping[str, Any], finished: FinishedTurn) -> list[tuple[str, str]]:
    return [(one.path, one.why) for one in mismatches_of(case(**expected), finished)]


HANGZHOU = call("get_weather", location="Hangzhou, China")
PARIS = call("get_weather", location="Paris")


def test_a_turn_with_the_expected_call_passes() -> None:
    assert not found({"calls": ("get_weather location~hangzhou",)}, turn(HANGZHOU))


def test_a_case_that_expects_nothing_passes() -> None:
    assert not found({}, turn())


def test_other_calls_may_come_between_the_expected_ones() -> None:
    calls = ("find_city", "get_weather location~hangzhou")
    assert not found({"calls": calls}, turn(call("find_city"), call("ping"), HANGZHOU))


def test_a_call_that_was_made_once_is_not_two_calls() -> None:
    calls = ("get_weather", "get_weather")
    assert found({"calls": calls}, turn(HANGZHOU)) == [("calls[1]", "called in another order")]


def test_a_missing_call_is_named_with_the_calls_that_were_made() -> None:
    assert mismatches_of(case(calls=("get_weather",)), turn(call("ping", n=1))) == (
        Mismatch("calls[0]", "get_weather", ["ping n=1"], "not called"),
    )


def test_a_turn_without_calls_says_that_the_expected_one_is_missing() -> None:
    (one,) = mismatches_of(case(calls=("get_weather location~Hangzhou",)), turn())
    assert (one.expected, one.got, one.why) == ("get_weather location~Hangzhou", ABSENT, "not called")


def test_a_call_with_other_arguments_says_which_one_differs() -> None:
    (one,) = mismatches_of(case(calls=("get_weather location~Hangzhou",)), turn(PARIS))
    assert (one.got, one.why) == ("get_weather location=Paris", 'location is "Paris"')


def test_the_closest_of_several_wrong_calls_is_named() -> None:
    calls = ("move from=A to=B",)
    (one,) = mismatches_of(case(calls=calls), turn(call("move"), call("move", **{"from": "A", "to": "C"})))
    assert one.why == 'to is "C"'


def test_calls_in_another_order_are_named_so() -> None:
    calls = ("find_city", "get_weather")
    assert found({"calls": calls}, turn(HANGZHOU, call("find_city"))) == [
        ("calls[1]", "called in another order")
    ]


def test_a_call_with_invalid_arguments_does_not_count() -> None:
    finished = turn(call("get_weather", "invalid arguments", location=3))
    assert found({"calls": ("get_weather",)}, finished) == [
        ("calls[0]", "the call did not run: invalid arguments")
    ]


def test_a_call_that_failed_at_the_server_counts() -> None:
    assert not found({"calls": ("get_weather",)}, turn(call("get_weather", "timeout")))


def test_a_forbidden_call_is_named_with_its_pattern() -> None:
    finished = turn(call("delete_all", "denied", sure=True))
    assert mismatches_of(case(never=("drop_*", "delete_*")), finished) == (
        Mismatch("never[1]", "delete_*", "delete_all sure=true", "delete_all was called, and must never be"),
    )


def test_a_forbidden_call_counts_even_if_the_tool_does_not_exist() -> None:
    finished = turn(call("delete_all", "unknown tool"), call("delete_all", "unknown tool"))
    assert found({"never": ("delete_*",)}, finished) == [
        ("never[0]", "delete_all was called 2 times, and must never be")
    ]


def test_each_text_must_be_in_the_answer() -> None:
    finished = turn(answer="Light rain in Hangzhou, 22 °C.")
    assert not found({"answer": ("hangzhou", "<number> °C")}, finished)
    assert found({"answer": ("hangzhou", "snow")}, finished) == [("answer[1]", "not in the answer")]
    assert found({"answer": ("snow",)}, turn()) == [("answer", "no answer")]


@each_case(
    ("answer", "text", "is_in"),
    [
        ("It is 22 °C, not A 5 °C.", "A <number> °C", True),
        ("A b, A 5 °C", "A <number> °C", True),
        ("22 °C", "<number> °C", True),
        ("It is 22 °C", "<number> °C", True),
        ("It is warm", "<number> °C", False),
        ("On 2026-11-28 it rains", "On <time> it", True),
        ("two\nlines", "<re:^lines$>", False),
        ("the id is <id>", "<<id>", True),
        ("the id is 7", "<<id>", False),
        ("7 < 8", "<number> <", True),
        ("two\nlines", "<re:l.n>", True),
        ("STRASSE", "straße", True),
        ("anything", "", True),
        ("x" * 50_000, "<number>", False),
    ],
)
def test_an_answer_contains_a_text(answer: str, text: str, is_in: bool) -> None:
    assert contains(answer, text) is is_in


def test_more_steps_than_expected_are_named() -> None:
    finished = turn(steps=3, end=EndReason.LIMIT, limit=LimitName.MAX_STEPS)
    assert found({"max_steps": 2}, finished) == [("max_steps", "more steps were needed")]
    assert found({"max_steps": 2}, turn(steps=3)) == [("max_steps", "")]
    assert not found({"max_steps": 3}, turn(steps=3))


def test_a_limit_of_the_configuration_fails_the_turn() -> None:
    finished = turn(steps=21, end=EndReason.LIMIT, limit=LimitName.MAX_STEPS)
    assert found({"max_steps": 30}, finished) == [("turn", "the turn reached its limit max_steps")]


def test_a_turn_without_an_answer_fails() -> None:
    assert found({}, turn(end=EndReason.EMPTY)) == [("turn", "the model returned nothing")]


def test_a_turn_that_costs_too_much_fails() -> None:
    assert not found({"cost": 0.01}, turn(cost=0.01))
    assert found({"cost": 0.01}, turn(cost=0.02)) == [("cost", "")]
    assert found({"cost": 0.01}, turn()) == [("cost", "the profile of the model has no prices")]
    stopped = turn(cost=0.01, end=EndReason.LIMIT, limit=LimitName.TURN_COST)
    assert found({"cost": 0.01}, stopped) == [("cost", "the run was stopped at this cost")]


def test_forbidden_calls_come_first() -> None:
    finished = turn(call("delete_all"), steps=9)
    expected = {"calls": ("get_weather",), "never": ("delete_*",), "answer": ("rain",), "max_steps": 2}
    assert [path for path, _ in found(expected, finished)] == ["never[0]", "calls[0]", "answer", "max_steps"]
