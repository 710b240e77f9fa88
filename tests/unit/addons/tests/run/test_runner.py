"""Which cases run, the names of servers, and the order of reports."""

import asyncio
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.cases import each_case
from tui.addons.tests.run.answers import CaseAnswers
from tui.addons.tests.run.outcome import Outcome, RunOutcome, State, SuiteOutcome
from tui.addons.tests.run.plan import PlannedSuite, RunOptions, with_names
from tui.addons.tests.run.reporter import Reporter, RunStart
from tui.addons.tests.run.runner import OrderedReports, SuiteRunner, report_not_run
from tui.addons.tests.suite.case import Suite
from tui.addons.tests.suite.read import suite_of
from tui.core.errors import UsageError
from tui.core.servers import ServerSpec


@each_case(
    ("options", "selected"),
    [
        (RunOptions(), True),
        (RunOptions(matching="RAIN"), True),
        (RunOptions(matching="hangzhou rain"), True),
        (RunOptions(matching="rain snow"), False),
        (RunOptions(tags=("slow", "network")), True),
        (RunOptions(tags=("slow",)), False),
        (RunOptions(matching="rain", tags=("slow",)), False),
    ],
)
def test_words_and_tags_select_cases(options: RunOptions, selected: bool):
    assert options.selects("rain in Hangzhou", ["network"]) is selected


def test_a_case_that_saves_a_value_is_selected_with_those_that_use_it():
    text = """
[[call]]
name = "order"
tool = "order"
save = { id = "$.id" }
[[call]]
name = "other"
tool = "count"
[[call]]
name = "paid"
tool = "count"
then = [ { tool = "get", args = { id = "${id}" } } ]
[[turn]]
question = "Is it paid?"
"""
    chosen = RunOptions(matching="paid").chosen(suite_of(text, Path("x.mcp.toml")))
    assert [one.line for one in chosen] == [2, 9, 13]


class Listener:
    """Writes down what it is told. Fails at one of its methods."""

    def __init__(self, fails: str = "") -> None:
        self.told: list[str] = []
        self._fails = fails

    def _tell(self, what: str) -> None:
        if what == self._fails:
            raise UsageError(f"cannot write {what}.")
        self.told.append(what)

    def began(self, run: RunStart) -> None:
        self._tell("began")

    def suite_began(self, suite: Suite) -> None:
        self._tell(f"{suite.path} began")

    def case_ended(self, suite: Suite, outcome: Outcome) -> None:
        self._tell(f"{suite.path}::{outcome.name}")

    def suite_ended(self, outcome: SuiteOutcome) -> None:
        self._tell(f"{outcome.path} ended")

    def ended(self, run: RunOutcome) -> None:
        self._tell("ended")


SUITES = [Suite(Path(name)) for name in "abc"]


def outcome(state: State = State.PASSED, name: str = "one") -> Outcome:
    return Outcome(name, 1, state)


def run_through(reports: OrderedReports, *numbers: int) -> None:
    """Begin all suites, then end them in this order."""
    for number, suite in enumerate(SUITES):
        reports.of_suite(number, lambda to, suite=suite: to.suite_began(suite))
    for number in numbers:
        suite = SUITES[number]
        reports.of_suite(number, lambda to, suite=suite: to.case_ended(suite, outcome()))
        reports.of_suite(number, lambda to, suite=suite: to.suite_ended(SuiteOutcome(suite)))
        reports.suite_ended(number)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2), (2, 0, 1)])
def test_reports_are_in_the_order_of_the_files(order: tuple[int, ...]):
    listener = Listener()
    run_through(OrderedReports([listener]), *order)
    assert listener.told == [
        word for name in "abc" for word in (f"{name} began", f"{name}::one", f"{name} ended")
    ]


def test_the_first_suite_that_has_not_ended_is_reported_at_once():
    listener = Listener()
    reports = OrderedReports([listener])
    run_through(reports, 0)
    assert listener.told[-1] == "b began"
    reports.of_suite(1, lambda to: to.case_ended(SUITES[1], outcome()))
    assert listener.told[-1] == "b::one"


def test_a_report_that_cannot_be_written_does_not_affect_the_others():
    broken, listener = Listener("a::one"), Listener()
    reports = OrderedReports([broken, listener])
    run_through(reports, 0, 1, 2)
    assert reports.problems == ["cannot write a::one."]
    assert broken.told == ["a began"] and len(listener.told) == 9


def test_the_run_ends_when_nobody_reads_its_output_and_reports_are_still_written():
    class Closed(Listener):
        def case_ended(self, suite: Suite, outcome: Outcome) -> None:
            raise BrokenPipeError

    listener, ended = Listener(), list[bool]()
    reports = OrderedReports([Closed(), listener], lambda: ended.append(True))
    run_through(reports, 0, 1, 2)
    assert isinstance(reports.error, BrokenPipeError)
    assert ended == [True] and len(listener.told) == 9


async def test_a_run_whose_reader_is_gone_at_its_end_has_an_outcome_for_the_reports():
    class Closed(Reporter):
        def suite_ended(self, outcome: SuiteOutcome) -> None:
            raise BrokenPipeError

    traffic = SimpleNamespace(path=Path(), mark_calls=lambda calls: None)
    runtime: Any = SimpleNamespace(traffic=traffic, redactor=SimpleNamespace(redact=str))
    runner = SuiteRunner(runtime, CaseAnswers(), RunOptions(), [Closed()])
    ran = await runner.run([PlannedSuite(SUITES[0], None, "invalid")])
    assert [one.problem for one in ran.suites] == ["invalid"]


async def test_a_run_that_is_interrupted_twice_has_an_outcome_for_the_reports():
    class Interrupting(Reporter):
        def suite_began(self, suite: Suite) -> None:
            runner.interrupt()
            running.cancel()

    traffic = SimpleNamespace(path=Path(), mark_calls=lambda calls: None)
    runtime: Any = SimpleNamespace(traffic=traffic, redactor=SimpleNamespace(redact=str))
    runner = SuiteRunner(runtime, CaseAnswers(), RunOptions(), [Interrupting()])
    running = asyncio.create_task(runner.run([PlannedSuite(suite, None, "invalid") for suite in SUITES]))
    ran = await running
    assert ran.interrupted and [one.suite for one in ran.suites] == SUITES


async def test_the_second_interrupt_may_come_when_all_suites_have_ended(monkeypatch: pytest.MonkeyPatch):
    class Interrupting(Reporter):
        def suite_began(self, suite: Suite) -> None:
            if suite is SUITES[-1]:
                runner.interrupt()
                ending.set()

    loaded, ending = threading.Event(), asyncio.Event()
    monkeypatch.setattr("tui.addons.tests.run.runner.load_wire_models", lambda: loaded.wait(10))
    traffic = SimpleNamespace(path=Path(), mark_calls=lambda calls: None)
    runtime: Any = SimpleNamespace(traffic=traffic, redactor=SimpleNamespace(redact=str))
    runner = SuiteRunner(runtime, CaseAnswers(), RunOptions(), [Interrupting()])
    running = asyncio.create_task(runner.run([PlannedSuite(suite, None, "invalid") for suite in SUITES]))
    await ending.wait()
    for _ in range(5):  # now it waits only for what is loaded
        await asyncio.sleep(0)
    running.cancel()
    await asyncio.sleep(0)
    loaded.set()
    assert [one.suite for one in (await running).suites] == SUITES


def test_a_run_that_is_interrupted_before_its_servers_start_has_reports():
    class Ended(Listener):
        def ended(self, run: RunOutcome) -> None:
            assert run.interrupted and run.suites[0].outcomes[0].problem == "not run: interrupted"
            self.told.append("ended")

    listener = Ended()
    case = suite_of('[[call]]\nname = "one"\ntool = "t"', Path("a"))
    report_not_run([PlannedSuite(case)], RunOptions(), [listener])
    assert listener.told == ["began", "a began", "a::one", "a ended", "ended"]


def planned(file: str, spec: ServerSpec | None, configured: str = "") -> PlannedSuite:
    return PlannedSuite(Suite(Path(file)), spec, configured=configured)


def test_servers_of_files_have_different_names_and_a_configured_one_keeps_its_own():
    weather, prod = ServerSpec("weather", "a"), ServerSpec("prod", "b")
    found = with_names(
        [
            planned("a/weather.mcp.toml", weather),
            planned("b/weather.mcp.toml", weather),
            planned("invalid.mcp.toml", None),
            planned("one.mcp.toml", prod, "prod"),
            planned("two.mcp.toml", prod, "prod"),
        ]
    )
    names = [one.spec.name if one.spec is not None else "" for one in found]
    assert names == ["weather", "weather-2", "", "prod", "prod"]
