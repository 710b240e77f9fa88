import asyncio
from pathlib import Path
from typing import Any

import pytest

from tui.addons.tests.python.session import SuiteSession
from tui.addons.tests.run.outcome import Outcome, State
from tui.addons.tests.suite.case import Case, Suite
from tui.addons.tests.suite.read import suite_of

SUITE = suite_of(
    """
[server]
command = ["x"]

[[call]]
name = "first"
tool = "order"
text = "<any>"
save = { id = "$.id" }

[[call]]
name = "unrelated"
tool = "count"
text = "1"

[[call]]
name = "second"
tool = "get"
args = { id = "${id}" }
text = "<any>"
save = { owner = "$.owner" }

[[call]]
name = "third"
tool = "get"
args = { id = "7" }
text = "${owner}"
""",
    Path("/x/shop.mcp.toml"),
)


class Noted:
    """Notes which cases run, and passes them."""

    def __init__(self) -> None:
        self.names: list[str] = []

    async def run(self, case: Case, instance: Any) -> Outcome:
        self.names.append(case.name)
        return Outcome(case.name, case.line, State.PASSED)


@pytest.mark.parametrize(
    ("selected", "run"),
    [
        (["unrelated"], ["unrelated"]),
        (["second"], ["first", "second"]),
        (["third"], ["first", "second", "third"]),
        (["first", "third"], ["first", "second", "third"]),
        (["third", "second"], ["first", "second", "third", "second"]),
    ],
)
def test_a_case_runs_after_those_whose_values_it_uses(selected: list[str], run: list[str]):
    suite: Suite = SUITE
    noted = Noted()
    session = SuiteSession(suite, None, None, noted)  # type: ignore[arg-type]

    async def all_of_them() -> None:
        for name in selected:
            await session.run(next(case for case in suite.cases if case.name == name))

    asyncio.run(all_of_them())
    assert noted.names == run
