"""What other folders of this add-on bring to `mcptui test`, by place; each is imported when it is used.

A place is `module:name` below `tui.addons.tests`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from tui.addons.tests.run.outcome import Outcome
from tui.addons.tests.suite.case import Suite

if TYPE_CHECKING:
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
- contract: a `ContractCheck`. coverage: `(run, listings by path of the suite) -> Coverage`.
- turns: `(suite, turns, context) -> AsyncIterator[Outcome]`, the outcome of each of some turn cases.
- model: `async (runtime, replay_models) -> None`, which raises why the model of the command line is unusable.
- json: `(write: Callable[[str], object]) -> Reporter`.
- reports: the place of a `(path: Path) -> Reporter`, by kind, for `--report KIND=FILE`.
- automatic: places of `(environ) -> Reporter | None`: annotations of GitHub.
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


def part(name: str) -> Any:
    """Return a part, imported."""
    module, _, attribute = PARTS[name].partition(":")
    return getattr(import_module(f"tui.addons.tests.{module}"), attribute)
