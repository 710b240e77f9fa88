"""What other folders of this add-on bring to `mcptui test`, by place; each is imported when it is used.

A place is `module:name` below `tui.addons.tests`. A part that is not there is an error in one sentence.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from tui.addons.tests.run.outcome import Outcome, RunOutcome
from tui.addons.tests.suite.case import Suite, TurnCase
from tui.core.errors import UsageError

if TYPE_CHECKING:
    from tui.addons.tests.contract.listing import ServerListing
    from tui.addons.tests.turns.recorded_turns import RecordedTurns
    from tui.runtime.runtime import Runtime

PARTS: Mapping[str, str] = {
    "review": "review.review:review",
    "init": "python.init:init",
    "schema": "suite.schema:print_schema",
    "pytest": "python.pytest_file:write",
    "lock": "contract.update:lock",
    "contract": "contract.check:check_contract",
    "coverage": "contract.coverage:coverage",
    "turns": "turns.run:run_turns",
    "model": "turns.case_models:require_model",
    "json": "reports.json_lines:json_reporter",
    "reports": "reports:REPORTS",
    "automatic": "reports:AUTOMATIC",
    "last runs": "review.last_runs:last_runs_reporter",
}
"""The parts, by name.

- review, init, pytest, lock: commands, `(args: argparse.Namespace) -> int`. schema: `() -> int`.
- contract: a `ContractCheck`. turns: a `TurnRuns`. coverage: a `CoverageOf`.
- model: `async (runtime, replay_models) -> None`, which raises why the model of the command line is unusable.
- json: `(write: Callable[[str], object]) -> Reporter`.
- reports: a `ReporterOf`, or "module:function" of one, by kind, for `--report KIND=FILE`.
- automatic: functions `(environ) -> Reporter | None`, or "module:function" of them: annotations of GitHub.
- last runs: `(runtime) -> Reporter`, which keeps the state of each case for screens and badges.
"""


@dataclass(frozen=True, slots=True)
class PartContext:
    """What the check of a contract and turn cases need of the run.

    Attributes:
        server: the name of the suite's server, which runs, in `runtime.host`.
        replay_models: the replies of models in the recording of `--replay-models`, or None.
    """

    runtime: "Runtime"
    server: str
    replay_models: "RecordedTurns | None" = None


class ContractCheck(Protocol):
    """Compares the definitions of a running server with the lock of its suite."""

    async def __call__(self, suite: Suite, context: PartContext) -> Outcome: ...


class TurnRuns(Protocol):
    """Runs the turn cases of a suite, those that the command line selects; yields the outcome of each."""

    def __call__(
        self, suite: Suite, turns: Sequence[TurnCase], context: PartContext
    ) -> AsyncIterator[Outcome]: ...


class Coverage(Protocol):
    """What of the definitions of servers the cases of a run use. `percent` is from 0 to 100."""

    @property
    def percent(self) -> float: ...

    def lines(self) -> Sequence[str]:
        """Return a table, and what is not covered, as clean lines."""

    def missing_lines(self) -> Sequence[str]:
        """Return what is not covered, as clean lines."""

    def as_json(self) -> Mapping[str, Any]:
        """Return it as a JSON object, for reports."""


class CoverageOf(Protocol):
    """Returns the coverage of a run; `listings` are what each suite's server lists, by the suite's path."""

    def __call__(self, run: RunOutcome, listings: "Mapping[Path, ServerListing]") -> Coverage: ...


def part(name: str) -> Any:
    """Return a part, imported. Raises UsageError if it is not there."""
    if (found := part_if_there(name)) is None:
        raise UsageError(f"this version of mcptui test has no {name}.")
    return found


def part_if_there(name: str) -> Any | None:
    """Return a part, imported, or None."""
    module, _, attribute = PARTS[name].partition(":")
    place = f"tui.addons.tests.{module}"
    try:
        found = import_module(place)
    except ModuleNotFoundError as error:
        if error.name is None or not place.startswith(error.name):
            raise
        return None
    return getattr(found, attribute, None)
