"""The calls of one tool, with a server that breaks as the tests say."""

import math
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

from tui.addons.tests.fuzz.findings import Fault
from tui.addons.tests.fuzz.tool_fuzz import MOST_COSTLY, MOST_OF_A_KIND, Limits, ToolFuzz
from tui.addons.tests.run.instance import Exchange
from tui.addons.tests.suite.case import Request
from tui.core.time_limits import CallTimeout
from tui.core.tools import CallFailure, Tool
from tui.core.workbench import RawAnswer

DONE = RawAnswer(result={"content": []})
DEAD = RawAnswer(problem="ended", failure=CallFailure.SERVER_DIED)
LATE = RawAnswer(problem="did not respond within 1 s.", failure=CallFailure.TIMEOUT)

Behavior = Callable[[Mapping[str, Any], float, int], RawAnswer]
"""What a call returns, by its arguments, its time limit in seconds, and its number in this process."""


class Server:
    """Stands for processes and the one that runs."""

    name, problem = "server", ""

    def __init__(self, behavior: Behavior) -> None:
        self._behavior = behavior
        self._number = 0
        self.workbench = SimpleNamespace(
            check=self._check, tool=self._nothing, is_running=lambda name: self.is_running
        )
        self.is_running = True
        self.traffic = SimpleNamespace(begin=lambda: None)
        self.drops = 0

    async def _check(self, tool: Tool, arguments: Mapping[str, Any]) -> str:
        small = [name for name, value in arguments.items() if name.startswith("n") and value < 1]
        if small:
            return f"{small[0]}: 0 is less than the minimum of 1"
        return "" if "text" in arguments else "'text' is a required property"

    async def _nothing(self, *_: Any) -> None:
        return None

    async def running(self) -> "Server":
        return self

    async def send(self, request: Request, *, seconds: CallTimeout) -> Exchange:
        self._number += 1
        answer = self._behavior(request.arguments, seconds.seconds, self._number)
        self.is_running = not answer.lost and "dies later" not in request.arguments
        return Exchange(answer, "hand-1", 1.0)

    async def log_end(self) -> None:
        """Everything is there already."""

    async def responds(self) -> bool:
        return self.is_running

    def last_words(self) -> tuple[str, ...]:
        return ()

    def drop(self) -> None:
        self.drops += 1
        self._number, self.is_running = 0, True


def fuzzing(behavior: Behavior) -> ToolFuzz:
    answers: Any = SimpleNamespace(during=lambda name, script: nullcontext())
    processes: Any = Server(behavior)
    return ToolFuzz(Tool("server", "echo"), processes, answers, Limits(5.0, 1_000, math.inf))


def texts(*lengths: int) -> list[dict[str, str]]:
    return [{"text": "a" * length} for length in lengths]


def invalid(given: Mapping[str, Any]) -> RawAnswer:
    return RawAnswer(error={"code": -32602, "message": "no text"}) if "text" not in given else DONE


async def test_a_group_ends_with_the_first_that_breaks_the_tool():
    fuzz = fuzzing(lambda given, seconds, number: DEAD if len(given["text"]) >= 10 else DONE)
    await fuzz.run([texts(1, 10, 100, 1_000)])
    (finding,) = fuzz.findings
    assert finding.found.fault is Fault.CRASH and finding.arguments == {"text": "a" * 10}


async def test_a_slow_call_is_no_hang_and_the_next_ones_have_its_time():
    limits = []

    def slow(given: Mapping[str, Any], seconds: float, number: int) -> RawAnswer:
        limits.append(seconds)
        return LATE if seconds < 5 and given["text"] else DONE

    fuzz = fuzzing(slow)
    await fuzz.run([texts(1), texts(2)])
    assert fuzz.findings == [] and limits == [1.0, 5.0, 5.0]


async def test_a_tool_that_always_breaks_is_left_after_a_while():
    def dead(given: Mapping[str, Any], seconds: float, number: int) -> RawAnswer:
        return DEAD if given.get("text") else invalid(given)

    fuzz = fuzzing(dead)
    await fuzz.run([{"text": letter}] for letter in "bcdefghijklmnop")
    assert fuzz.unfinished == f"{MOST_COSTLY} calls failed or took long" and len(fuzz.findings) == 1


async def test_arguments_that_only_repeat_a_crash_are_not_sent():
    def dead(given: Mapping[str, Any], seconds: float, number: int) -> RawAnswer:
        return DEAD if "\x00" in given.get("text", "") else invalid(given)

    fuzz = fuzzing(dead)
    await fuzz.run([[{"text": "a\x00"}]])
    before = fuzz.calls
    await fuzz.run([[{"text": "\x00b"}], [{"text": "b"}]])
    assert fuzz.findings[0].arguments == {"text": "\x00"} and fuzz.calls == before + 1


async def test_a_finding_that_needs_earlier_calls_does_not_repeat():
    def third(given: Mapping[str, Any], seconds: float, number: int) -> RawAnswer:
        return RawAnswer(error={"code": -32603, "message": "full"}) if number >= 3 else invalid(given)

    fuzz = fuzzing(third)
    await fuzz.run([texts(1), texts(2), texts(3)])
    await fuzz.confirm()
    (finding,) = fuzz.findings
    assert finding.found.fault is Fault.INTERNAL_ERROR and not finding.repeats


async def test_a_crash_after_a_response_is_that_of_the_call_before():
    fuzz = fuzzing(lambda given, seconds, number: invalid(given))
    await fuzz.run([texts(1), [{"text": "a", "dies later": 0}], texts(2)])
    (finding,) = fuzz.findings
    assert finding.found.fault is Fault.CRASH and finding.arguments == {"text": "", "dies later": 0}


async def test_the_time_of_a_run_is_bounded():
    fuzz = fuzzing(lambda given, seconds, number: DONE)
    fuzz.limits.ends = 0.0
    await fuzz.run([texts(1)])
    assert fuzz.calls == 0 and fuzz.unfinished == "the time is up"


async def test_each_argument_that_accepts_what_it_must_not_is_a_finding_of_its_own():
    fuzz = fuzzing(lambda given, seconds, number: DONE)
    valid = fuzz.base = {"text": "", "n1": 1, "n2": 1}
    await fuzz.run([[{**valid, "n1": 0}], [{**valid, "n2": 0}], [{**valid, "n1": -1}]])
    assert [one.found.path for one in fuzz.findings] == ["n1", "n2"]
    assert [one.arguments for one in fuzz.findings] == [{"text": "", "n1": 0}, {"text": "", "n2": 0}]


async def test_shrinking_makes_nothing_else_invalid():
    fuzz = fuzzing(lambda given, seconds, number: DONE if len(given) == 3 else invalid({}))
    valid = fuzz.base = {"text": "", "n1": 1, "n2": 1}
    await fuzz.run([[{**valid, "n1": 0, "n2": 7}]])
    assert [one.arguments for one in fuzz.findings] == [{"text": "", "n1": 0, "n2": 1}]


async def test_only_the_first_findings_of_a_kind_are_shrunk_and_more_are_counted():
    fuzz = fuzzing(lambda given, seconds, number: DONE if given.get("text") else invalid({}))
    fuzz.base = {"text": "a"}
    await fuzz.run([{"text": "a", f"n{number}": 0}] for number in (*range(MOST_OF_A_KIND + 2), 9))
    assert len(fuzz.findings) == MOST_OF_A_KIND and len(fuzz.more) == 2
