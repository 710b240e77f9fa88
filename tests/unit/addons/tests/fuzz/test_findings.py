"""What is wrong with the response to a call."""

from types import SimpleNamespace
from typing import Any

import pytest

from tests.cases import each_case
from tui.addons.tests.fuzz.findings import Fault, faults_of, path_of, rule_of
from tui.addons.tests.run.instance import Exchange
from tui.addons.tests.suite.case import Request, RequestKind
from tui.core.tools import CallFailure
from tui.core.traffic import Finding, Severity
from tui.core.workbench import RawAnswer


class Instance:
    """Stands for a server that runs, and whose last words are known."""

    name = "weather"

    def __init__(self, *words: str) -> None:
        self.last_words = lambda: words
        self.workbench = SimpleNamespace(tool=self._nothing)

    async def _nothing(self, *_: Any) -> None:
        return None

    async def catch_up(self) -> None:
        """Everything is there already."""


async def faults(answer: RawAnswer, problem: str = "", *words: str, **more: Any) -> list[tuple[Fault, str]]:
    request = Request(RequestKind.TOOL, "get", {"city": "a"})
    exchange = Exchange(answer, "hand-1", 1.0, **more)
    found = await faults_of(exchange, request, problem, 1_000, Instance(*words))  # type: ignore[arg-type]
    return [one.key[:2] for one in found]


def failed(text: str) -> RawAnswer:
    return RawAnswer(result={"isError": True, "content": [{"type": "text", "text": text}]})


DONE = RawAnswer(result={"content": []})


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (DONE, []),
        (failed("no such city"), []),
        (failed("Invalid timezone: embedded null byte"), []),
        (failed("1 validation error for getArguments"), []),
        (failed("Error executing tool get: list index out of range"), [Fault.EXCEPTION]),
        (failed("Cannot read properties of undefined (reading 'a')"), [Fault.EXCEPTION]),
        (failed("KeyError: 'kelvin'"), [Fault.EXCEPTION]),
        (RawAnswer(error={"code": -32602, "message": "invalid"}), []),
        (RawAnswer(error={"code": -32603, "message": "oops"}), [Fault.INTERNAL_ERROR]),
        (RawAnswer(problem="ended", failure=CallFailure.SERVER_DIED), [Fault.CRASH]),
        (RawAnswer(problem="did not respond", failure=CallFailure.TIMEOUT), [Fault.HANG]),
        (
            RawAnswer(problem="late, although it reported progress", failure=CallFailure.TIMEOUT),
            [],
        ),
        (RawAnswer(problem="the response is invalid"), [Fault.NO_ANSWER]),
        (RawAnswer(problem="Not sent: a string contains an invalid character"), []),
        (RawAnswer(problem="Result too large", failure=CallFailure.TOO_LARGE), [Fault.LARGE_ANSWER]),
        (failed("Output validation error: None is not of type 'number'"), [Fault.INVALID_RESULT]),
    ],
)
async def test_each_response_has_its_fault(answer: RawAnswer, found: list[Fault]):
    assert [fault for fault, _ in await faults(answer)] == found


async def test_an_exception_that_the_sdk_hides_is_told_by_the_log():
    hidden = failed("Error executing tool get")
    words = ("IndexError: list index out of range", "at server.py:12 in get")
    assert await faults(hidden, "", *words) == [(Fault.EXCEPTION, "at server.py:12 in get")]


@pytest.mark.parametrize("before", ["", "Error executing tool get: "])
async def test_an_exception_with_a_traceback_is_its_words_and_its_place(before: str):
    head = 'Traceback (most recent call last):\n  File "shop.py", line 41, in get\n    total / count\n'
    (one,), (other,) = [
        await faults(failed(f"{before}{head}{words}"))
        for words in ("ZeroDivisionError: division by zero", "KeyError: 'total'")
    ]
    assert one == (Fault.EXCEPTION, "ZeroDivisionError at shop.py:41 in get")
    assert other == (Fault.EXCEPTION, "KeyError at shop.py:41 in get")


async def test_invalid_arguments_without_an_error_are_accepted():
    assert await faults(DONE, "'city' is a required property") == [(Fault.ACCEPTED, "required")]
    assert await faults(failed("city is missing"), "'city' is a required property") == []


async def test_values_that_libraries_convert_are_no_fault():
    assert await faults(DONE, "days: '5' is not of type 'integer'") == []
    assert await faults(DONE, "days: 'x' is not of type 'integer'") == [(Fault.ACCEPTED, "type")]


async def test_a_response_over_the_limit_and_output_on_stdout_are_faults():
    assert await faults(DONE, size=1_001) == [(Fault.LARGE_ANSWER, "")]
    stray = Finding(0, "stray-output", Severity.ERROR, "debug")
    assert await faults(DONE, findings=(stray,)) == [(Fault.STRAY_OUTPUT, "")]


@each_case(
    ("problem", "rule"),
    [
        ("'city' is a required property", "required"),
        ("days: 15 is greater than the maximum of 14", "maximum"),
        ("city: '' should be non-empty", "too-short"),
        ("unit: 'K' is not one of ['C', 'F']", "choice"),
        ("code: 'A' does not match '^[a-z]+$'", "pattern"),
        ("Additional properties are not allowed ('zz' was unexpected)", "unknown"),
        ("o: 4 is not valid under any of the given schemas", "type"),
    ],
)
def test_the_violated_rule_is_read_from_the_sentence(problem: str, rule: str):
    assert rule_of(problem) == rule


@each_case(
    ("problem", "path"),
    [
        ("'city' is a required property", "city"),
        ("place: 'city' is a required property", "place.city"),
        ("days: 15 is greater than the maximum of 14", "days"),
        ("days.3.least: 'a: b' is too short", "days.*.least"),
        ("{'a: b': 1} does not have enough properties", ""),
        ("Additional properties are not allowed ('a: b' was unexpected)", ""),
    ],
)
def test_the_argument_that_is_wrong_is_read_from_the_sentence(problem: str, path: str):
    assert path_of(problem) == path
