import asyncio
from pathlib import Path
from typing import Any

from tui.addons.tests.python.session import SuiteSession
from tui.addons.tests.run.findings import ServerTraffic
from tui.addons.tests.run.outcome import Outcome, State
from tui.addons.tests.suite.case import Case, Expectation, Request, RequestKind, Suite
from tui.core.traffic import Finding, Severity
from tui.host.schemas.judge import ModelJudge

FIRST = Case("first", 1, Request(RequestKind.TOOL, "order"), Expectation(text="<any>"), save={"id": "$.id"})
OTHER = Case("other", 2, Request(RequestKind.TOOL, "count"), Expectation(text="1"))
SECOND = Case("second", 3, Request(RequestKind.TOOL, "get", {"id": "${id}"}), Expectation(text="<any>"))


class Noted:
    """Notes which cases run, and passes them."""

    def __init__(self) -> None:
        self.names: list[str] = []

    async def run(self, case: Case, instance: Any) -> Outcome:
        self.names.append(case.name)
        return Outcome(case.name, case.line, State.PASSED)


def test_a_case_runs_once_before_those_that_use_its_values():
    noted = Noted()
    suite = Suite(Path("/x/shop.mcp.toml"), None, (FIRST, OTHER, SECOND))
    session = SuiteSession(suite, None, None, noted)  # type: ignore[arg-type]

    async def selected() -> None:
        for case in (OTHER, SECOND, SECOND):
            await session.run(case)

    asyncio.run(selected())
    assert noted.names == ["other", "first", "second", "second"]


def test_a_response_that_comes_again_after_its_case_is_the_outcome_of_the_end():
    traffic = ServerTraffic(ModelJudge(), str)
    finding = Finding(0, "duplicate-answer", Severity.ERROR, "It already has a response.")

    class Hosted:
        def __init__(self) -> None:
            self.traffic, self.spec = traffic, None

        async def catch_up(self) -> None:
            traffic.late.append((1, finding))

        async def close(self) -> None:
            pass

    class Passing:
        async def run(self, case: Case, instance: Any) -> Outcome:
            traffic.begin()
            return Outcome(case.name, case.line, State.PASSED, call="hand-1", case=case)

    async def ended() -> Outcome | None:
        suite = Suite(Path("/x/shop.mcp.toml"), None, (OTHER,))
        session = SuiteSession(suite, None, Hosted(), Passing())  # type: ignore[arg-type]
        await session.run(OTHER)
        return await session.close()

    late = asyncio.run(ended())
    assert late is not None and late.problem == "finding duplicate-answer: It already has a response."
