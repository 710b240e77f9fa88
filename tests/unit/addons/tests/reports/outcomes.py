"""Outcomes made by hand, for the tests of reports."""

from pathlib import Path
from typing import Any

from tui.addons.tests.run.outcome import Mismatch, Outcome, RunOutcome, State, SuiteOutcome
from tui.addons.tests.suite.case import Case, Request, RequestKind, Suite, SuiteServer

BASE = Path("/home/ada/project")
PATH = BASE / "tests" / "weather.mcp.toml"
SERVER = SuiteServer(command=("python", "weather.py"), line=2)
CASE = Case("rain", 12, Request(RequestKind.TOOL, "get_weather", {"location": "Hangzhou"}))

WRONG = Mismatch("result.rain", expected=3, got="three")

PASSED = Outcome("sun", 5, State.PASSED, ms=41.2, case=CASE)
FAILED = Outcome(
    "rain",
    12,
    State.FAILED,
    mismatches=[WRONG, Mismatch("text", expected="light\nrain", got="no\nrain")],
    ms=1234.5,
    said=["starting", "\x1b[31mno data\x1b[0m"],
    repeat="mcptui call get_weather location=Hangzhou -- python weather.py",
    server="weather",
    call="hand-7",
    case=CASE,
)
ERROR = Outcome("snow", 20, State.ERROR, "The server ended before it responded.")
SKIPPED = Outcome("hail", 30, State.SKIPPED, "not in summer")


def suite_outcome(*outcomes: Outcome, path: Path = PATH, **more: Any) -> SuiteOutcome:
    return SuiteOutcome(Suite(path, SERVER), outcomes, **more)


def run_outcome(*outcomes: Outcome, **more: Any) -> RunOutcome:
    """Return a run of one suite."""
    return RunOutcome([suite_outcome(*outcomes, seconds=1.5)], seconds=2.0, **more)


MIXED = run_outcome(PASSED, FAILED, ERROR, SKIPPED)
NOT_STARTED = RunOutcome([suite_outcome(problem="python: not found", not_started=True)], seconds=0.1)
EMPTY = RunOutcome()
