"""The outcomes of cases and suites, which every report, screen and exit code is made of. Pure.

Texts from servers are raw here: whoever shows or writes them cleans them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from statistics import mean, median
from typing import Any

from tui.addons.tests.suite.case import Case, Suite, TurnCase
from tui.core.language.translate import N_

ABSENT = object()
"""Stands for a value that is missing on one side."""


class State(StrEnum):
    """The four states of a case."""

    PASSED = N_("passed")
    FAILED = N_("failed")
    ERROR = N_("error")
    """It could not be run."""
    SKIPPED = N_("skipped")

    @property
    def is_bad(self) -> bool:
        """Whether the case failed or could not be run."""
        return self in (State.FAILED, State.ERROR)


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One place where the response is not as expected.

    `path` begins with the key of the file that expects it, as in `result.items[0].id`, `text`, `error`.
    `why` says in a few words what is wrong if the two values do not show it, or is "".
    """

    path: str
    expected: Any = ABSENT
    got: Any = ABSENT
    why: str = ""


@dataclass(frozen=True, slots=True)
class TurnRun:
    """One run of a turn case with one model.

    Attributes:
        problem: why it failed or could not run, or "".
        calls: of the model, in order, each as `TOOL name=value …`.
        answer: the last text of the model.
        steps: requests to the model.
        tokens: of all requests.
        cost: of all requests, None without prices.
        ms: from the question to the answer.
        turn: its number in the recording, where `turn:N` finds its messages.
        session: id of the saved conversation, or "".
    """

    state: State
    problem: str = ""
    mismatches: Sequence[Mismatch] = ()
    calls: Sequence[str] = ()
    answer: str = ""
    steps: int = 0
    tokens: int = 0
    cost: float | None = None
    ms: float = 0.0
    turn: int = 0
    session: str = ""


@dataclass(frozen=True, slots=True)
class TurnCell:
    """One cell of the table of turn cases and models: a case, run several times with one model.

    Attributes:
        model: the name of the profile, which `models` has.
        label: the name of the model itself.
        wanted: the number of runs that were wanted; after an error, there are fewer.
    """

    model: str
    label: str = ""
    currency: str = "USD"
    wanted: int = 1
    runs: Sequence[TurnRun] = ()

    @property
    def passed(self) -> int:
        """The number of runs that passed."""
        return sum(one.state is State.PASSED for one in self.runs)

    @property
    def judged(self) -> Sequence[TurnRun]:
        """The runs that passed or failed: those that the model ended."""
        return [one for one in self.runs if one.state in (State.PASSED, State.FAILED)]

    @property
    def tokens(self) -> int | None:
        """The mean of the tokens of a run, None if none was judged."""
        return round(mean(one.tokens for one in self.judged)) if self.judged else None

    @property
    def cost(self) -> float | None:
        """The mean of the cost of a run, None without prices."""
        known = [one.cost for one in self.judged if one.cost is not None]
        return mean(known) if known else None

    @property
    def ms(self) -> float | None:
        """The median time of a run, None if none was judged."""
        return median(one.ms for one in self.judged) if self.judged else None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one case, or of one check of the suite: its contract, or a turn case.

    Attributes:
        name, line: of the case, the contract or the turn case in its file.
        problem: one sentence why it failed, could not run or was skipped; "" if it passed.
        mismatches: the first is shown, all are reported.
        notes: sentences about what does not fail it: parts that were not looked at, a slow response.
        ms: milliseconds of the request; None if there was no response.
        got: the raw result (`result` of the response), or the error object; None if there was none. Of a
            large one that is as expected, only `isError`.
        said: the last words of the server's stderr.
        repeat: the command that sends the same request again, or "".
        server: the name of the server in the recording, and `call` the id of its messages there.
        era: "legacy" or "modern" with `--era both`, otherwise "".
        cell: the runs of a turn case with one model; None for other cases.
        then_got: what `got` is for the case, for each of its `then` that was sent.
        faults: those that were injected while it ran (--fault); if it failed without one, those before it.
    """

    name: str
    line: int
    state: State
    problem: str = ""
    mismatches: Sequence[Mismatch] = ()
    notes: Sequence[str] = ()
    ms: float | None = None
    got: Any = None
    said: Sequence[str] = ()
    repeat: str = ""
    server: str = ""
    call: str = ""
    era: str = ""
    case: Case | TurnCase | None = None
    cell: TurnCell | None = None
    then_got: Sequence[Any] = ()
    faults: Sequence[str] = ()
    spoken: str = ""
    """The protocol era that the server spoke, "legacy" or "modern"; "" if it did not run."""
    fails_anyway: bool = False
    """Whether it failed with injected faults, and once more without them."""


@dataclass(frozen=True, slots=True)
class SuiteOutcome:
    """What came of a suite. `problem` is why its server could not be started, or the file not be used."""

    suite: Suite
    outcomes: Sequence[Outcome] = ()
    problem: str = ""
    not_started: bool = False
    seconds: float = 0.0
    stdout: Sequence[str] = ()
    """Lines of the server's stderr and stray stdout while the suite ran, bounded."""
    start_faults: Sequence[tuple[str, str]] = ()
    """The faults that were injected outside of the cases, each with the method of its message."""

    @property
    def path(self) -> Path:
        return self.suite.path


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """What came of a whole run. `recording` is the file that has its messages, or None."""

    suites: Sequence[SuiteOutcome] = ()
    seconds: float = 0.0
    interrupted: bool = False
    recording: Path | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    def count(self, state: State) -> int:
        """Return the number of outcomes in this state."""
        return sum(one.state is state for suite in self.suites for one in suite.outcomes)

    @property
    def struck(self) -> Sequence[tuple[SuiteOutcome, Outcome]]:
        """The cases with injected faults, each with its suite."""
        return [(suite, one) for suite in self.suites for one in suite.outcomes if one.faults]
