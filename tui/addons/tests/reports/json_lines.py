"""`mcptui test --json`: an object a line on stdout, in ASCII, as the run goes on.

Each object has a `type`:

- `case`: `suite` (path of the file), `line`, `case` (its name), `kind` (tool, read, prompt, list, turn or
  contract), `state` (passed, failed, error, skipped), `problem` (a sentence, or ""), `mismatches` (objects
  with `path`, `why`, and `expected` and `got` unless that side has no value), `notes`, `ms` (null without a
  response), `era` (legacy or modern, "" if it did not run), `server` and `call` (its name and the id of the
  call in the recording), `repeat` (a command, or ""). A turn case has `turn` too: its `model` with what
  share of its `runs` passed, their `tokens`, `cost` and `ms`, and each run with its calls and answer. A case
  with injected faults has `faults`, each as in its rule, and `fails_anyway` (true) if it fails without them
  too: it is printed again for that, after its suite has run.
- `suite`, after its cases: `suite`, `problem` (why it could not be run, or ""), `not_started`, `warnings`,
  `seconds`, and the number of cases in each state. With faults that were injected before the cases,
  `start_faults`: the `fault` and the `method` of each.
- `run`, last: `seconds`, `interrupted`, `recording` (its path, or null), and the number of cases in each
  state. With --coverage or --min-coverage, `coverage` too: `percent`, `kinds` (the `covered` and the `total`
  of tools, arguments, …), and what is `missing`. With --fault, `faults`: the rules.

Of a value or text longer than `MOST_CHARS`, only the beginning is printed, as text: `expected_head`,
`got_head`.
"""

import json
from collections.abc import Callable, Sequence
from typing import Any

from tui.addons.tests.reports import details
from tui.addons.tests.run.outcome import ABSENT, Mismatch, Outcome, RunOutcome, State, SuiteOutcome
from tui.addons.tests.run.reporter import Reporter
from tui.addons.tests.suite.case import Case, Suite, TurnCase
from tui.addons.tests.turns.table import cell_object
from tui.commands.table import json_line
from tui.core.text import compact

MOST_CHARS = 64 * 1024
"""Characters of a value as JSON."""

HEAD_CHARS = 4_000


class JsonLines(Reporter):
    """Prints a run as JSON lines. `write` takes a line at a time."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write

    def case_ended(self, suite: Suite, outcome: Outcome) -> None:
        self._print(case_object(suite, outcome))

    def suite_ended(self, outcome: SuiteOutcome) -> None:
        for one in outcome.outcomes:
            if one.fails_anyway:
                self.case_ended(outcome.suite, one)
        found: dict[str, Any] = {
            "type": "suite",
            "suite": str(outcome.path),
            "problem": outcome.problem,
            "not_started": outcome.not_started,
            "warnings": list(outcome.suite.warnings),
            "seconds": round(outcome.seconds, 3),
        }
        if outcome.start_faults:
            found["start_faults"] = [
                {"method": method, "fault": fault} for method, fault in outcome.start_faults
            ]
        self._print(found | _counts(outcome.outcomes))

    def ended(self, run: RunOutcome) -> None:
        found = {
            "type": "run",
            "seconds": round(run.seconds, 3),
            "interrupted": run.interrupted,
            "recording": None if run.recording is None else str(run.recording),
            **run.extra,
        }
        self._print(found | _counts([one for suite in run.suites for one in suite.outcomes]))

    def _print(self, value: dict[str, Any]) -> None:
        # In the log of a job of CI, `##[` would begin a command. It can only be in a text.
        self._write(json_line(value).replace("##", "#\\u0023") + "\n")


def case_object(suite: Suite, outcome: Outcome) -> dict[str, Any]:
    """Return an outcome as an object."""
    return {
        "type": "case",
        "suite": str(suite.path),
        "line": outcome.line,
        "case": outcome.name,
        "kind": _kind(outcome),
        "state": str(outcome.state),
        "problem": outcome.problem,
        "mismatches": [_mismatch(one) for one in outcome.mismatches[: details.MOST_MISMATCHES]],
        "notes": list(outcome.notes),
        "ms": None if outcome.ms is None else round(outcome.ms, 3),
        "era": outcome.era or outcome.spoken,
        "server": outcome.server,
        "call": outcome.call,
        "repeat": outcome.repeat,
        **({"faults": list(outcome.faults)} if outcome.faults else {}),
        **({"fails_anyway": True} if outcome.fails_anyway else {}),
        **({"turn": cell_object(outcome.cell)} if outcome.cell is not None else {}),
    }


def _kind(outcome: Outcome) -> str:
    match outcome.case:
        case Case(request=request):
            return str(request.kind)
        case TurnCase():
            return "turn"
        case None:
            return "contract"


def _mismatch(mismatch: Mismatch) -> dict[str, Any]:
    found: dict[str, Any] = {"path": mismatch.path}
    for name, value in (("expected", mismatch.expected), ("got", mismatch.got)):
        if value is not ABSENT:
            is_short = _is_writable(value)
            found[name if is_short else f"{name}_head"] = value if is_short else compact(value, HEAD_CHARS)
    return found | {"why": mismatch.why}


def _is_writable(value: Any) -> bool:
    """Return whether a value is JSON of a bounded size: not nan, not nested too deeply."""
    try:
        return len(json.dumps(value, allow_nan=False)) <= MOST_CHARS
    except (ValueError, TypeError, RecursionError):
        return False


def _counts(outcomes: Sequence[Outcome]) -> dict[str, int]:
    return {str(state): sum(one.state is state for one in outcomes) for state in State}
