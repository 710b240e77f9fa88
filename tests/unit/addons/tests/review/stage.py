"""A test file with two failed cases, a contract that failed, and one case without a result."""

from pathlib import Path
from typing import Any

from tui.addons.tests.review.failures import Failure, failures_of
from tui.addons.tests.run.judge import Response, judge
from tui.addons.tests.run.outcome import Outcome, RunOutcome, State, SuiteOutcome
from tui.addons.tests.suite.case import Case
from tui.addons.tests.suite.read import read_suite

TEXT = """\
# kept in November
[server]
command = ["python", "server.py"]

[contract]
lock = "weather.lock.json"

[[call]]
name = "the weather"   # of one place
tool = "weather"
text = "rain, <number> °C"

[[call]]
name = "an order"
tool = "order"
result = '{ "id": "<id>", "state": "open" }'
save = { id = "$.id" }

[[call]]
name = "its state"
tool = "state"
args = { id = "${id}" }
text = "${id} is open"
then = [ { tool = "count", result = '{ "n": 1 }' } ]

[[call]]
name = "saved"
tool = "weather"
"""
ORDER = {"content": [], "structuredContent": {"id": "a-1", "state": "closed"}}


def text(said: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": said}]}


def outcome(case: Case, got: Any, *then: Any, state: State = State.FAILED, **more: Any) -> Outcome:
    step, last = (case.then[len(then) - 1], then[-1]) if then else (case, got)
    found = judge(step.expected, Response(step.request.kind, last)).mismatches
    problem = f"{found[0].path} differs" if found else ""
    more = {"mismatches": found, "problem": problem, **more}
    return Outcome(case.name, case.line, state, ms=4.0, got=got, case=case, then_got=then, **more)


def failed_run(path: Path) -> RunOutcome:
    """Write the file, and return what came of its run."""
    path.write_text(TEXT)
    suite = read_suite(path)
    weather, order, state, saved = suite.cases
    outcomes = [
        Outcome("contract", 5, State.FAILED, "a tool is gone"),
        outcome(
            weather, text("snow, 3 °C"), said=["cannot open \x1b[1mdatabase"], repeat="mcptui call weather"
        ),
        outcome(order, ORDER),
        outcome(state, text("a-1 is open"), {"content": [], "structuredContent": {"n": 2}}),
        outcome(saved, text("rain, 4 °C"), state=State.SKIPPED, mismatches=(), problem="expects nothing yet"),
    ]
    return RunOutcome([SuiteOutcome(suite, outcomes)])


def failures(path: Path) -> list[Failure]:
    return failures_of(failed_run(path))
