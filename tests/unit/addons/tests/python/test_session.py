import asyncio
from pathlib import Path
from typing import Any

from tui.addons.tests.python.session import SuiteSession
from tui.addons.tests.run.outcome import Outcome, State
from tui.addons.tests.suite.case import Case, Expectation, Request, RequestKind, Suite

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
