"""The last run of each case, and the files that the user kept calls in: a file in the state folder.

Of the texts of servers, it has one short line for each failure, without secrets, and none if runs are not
recorded. Screens of other processes follow it.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tui.addons.tests.run.outcome import Outcome, RunOutcome, State, SuiteOutcome, TurnCell
from tui.addons.tests.run.output import NOT_RUN
from tui.addons.tests.run.reporter import Reporter, RunStart
from tui.addons.tests.suite.case import TurnCase
from tui.core.files import Stamp, stamp_of
from tui.core.text import clean_line, text_in
from tui.core.units import bounded
from tui.settings.locations import state_dir
from tui.settings.state.state_file import Content, StateFile, entries

if TYPE_CHECKING:
    from tui.runtime.runtime import Runtime

MAX_BYTES = 4 * 1024 * 1024
MAX_FILES = 200
MAX_CASES = 1_000
"""Maximum cases of a file; those that ran longest ago are dropped."""

MAX_CHARS = 1_000
"""Maximum characters of a name or path. A case with a longer name is not stored."""

PROBLEM_CHARS = 300
"""Maximum characters of why a case failed."""

_WORST = (State.ERROR, State.FAILED, State.PASSED, State.SKIPPED)


@dataclass(frozen=True, slots=True)
class LastCase:
    """How a case ended last.

    Attributes:
        at: seconds since the epoch.
        recording: the path of the file with its messages, or "", and `call` is their id there.
        runs: how many runs of a turn case passed, "4 of 5" for all its models, or "".
        problem: why it failed, in a line without secrets, or "".
    """

    state: State
    at: float = 0.0
    ms: float | None = None
    recording: str = ""
    server: str = ""
    call: str = ""
    runs: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class LastFile:
    """The last runs of the cases of a file, by name. `kept`: the user kept a call in it."""

    cases: Mapping[str, LastCase] = field(default_factory=dict)
    kept: bool = False


def _key(path: Path) -> str:
    return os.path.abspath(path)


class LastRuns:
    """The last runs, by absolute path of the file; read again when another process has changed them."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path or state_dir() / "tests.json"
        self._file = StateFile(
            self._path, "the last runs of tests", max_bytes=MAX_BYTES, forgets="files", indent=None
        )
        self._stamp: Stamp = None
        self._known: Mapping[str, LastFile] = {}
        self.close = self._file.close

    @property
    def is_stale(self) -> bool:
        """Whether the file has changed since it was read. Takes microseconds."""
        return stamp_of(self._path) != self._stamp

    def read(self) -> Mapping[str, LastFile]:
        """Return what is known, none if the file is missing or damaged. Blocks if the file has changed."""
        if (stamp := stamp_of(self._path)) != self._stamp:
            self._known, self._stamp = _files(self._file.look()[0]), stamp
        return self._known

    def of(self, path: Path) -> LastFile:
        """Return the last runs of a file, as read."""
        return self._known.get(_key(path), LastFile())

    def put_later(
        self, outcome: SuiteOutcome, recording: Path | None, at: float, redact: Callable[[str], str]
    ) -> None:
        """Store the outcomes of a suite in a thread. A failure is only logged."""

        def said(problem: str) -> str:
            return clean_line(redact(problem), PROBLEM_CHARS) if recording is not None else ""

        ended = dict(_ended(outcome, str(recording) if recording is not None else "", at, said))

        def change(before: LastFile) -> LastFile:
            return replace(before, cases={**before.cases, **ended})

        if ended:
            self._file.change_later(_changing(outcome.path, change))

    def remember(self, path: Path) -> None:
        """Remember a file that the user kept a call in. Blocks; a failure is only logged."""
        self._file.try_to_change(_changing(path, lambda before: replace(before, kept=True)))


class LastRunsReporter(Reporter):
    """Stores the outcomes of a run. `recording` returns the file with its messages, once there is one.

    `redact` removes secrets from why a case failed.
    """

    def __init__(
        self, runs: LastRuns, recording: Callable[[], Path | None], redact: Callable[[str], str]
    ) -> None:
        self._runs = runs
        self._recording = recording
        self._redact = redact
        self._run = RunStart()

    def began(self, run: RunStart) -> None:
        self._run = run

    def suite_ended(self, outcome: SuiteOutcome) -> None:
        self._runs.put_later(outcome, self._recording(), self._run.at, self._redact)

    def ended(self, run: RunOutcome) -> None:
        self._runs.close()


def _ended(
    outcome: SuiteOutcome, recording: str, at: float, said: Callable[[str], str]
) -> Iterator[tuple[str, LastCase]]:
    """Yield how each case ended; of several outcomes of one case, such as of two eras, the worst."""
    if not outcome.outcomes and outcome.not_started:
        lost = LastCase(State.ERROR, at, recording=recording, problem=said(outcome.problem))
        yield from ((case.name, lost) for case in outcome.suite.cases)
    cells: dict[str, list[TurnCell | None]] = {}
    for one in outcome.outcomes:
        cells.setdefault(name_of(one), []).append(one.cell)
    by_state = sorted(outcome.outcomes, key=lambda one: _WORST.index(one.state), reverse=True)
    for one in by_state:
        if _was_not_reached(one):
            continue
        name, problem = name_of(one), said(one.problem) if one.state.is_bad or _has_no_model(one) else ""
        runs = _runs(cells[name])
        yield name, LastCase(one.state, at, one.ms, recording, one.server, one.call, runs, problem)


def _was_not_reached(outcome: Outcome) -> bool:
    """Return whether a case was skipped only because the run ended before it."""
    return outcome.state is State.SKIPPED and outcome.problem.startswith(NOT_RUN)


def _has_no_model(outcome: Outcome) -> bool:
    """Return whether a turn case was skipped for a reason that is not in its file."""
    case = outcome.case
    return isinstance(case, TurnCase) and not (case.skip or case.expects_nothing)


def name_of(outcome: Outcome) -> str:
    """Return the name of a case; a turn case has an outcome for each of its models."""
    return outcome.case.title if isinstance(outcome.case, TurnCase) else outcome.name


def _runs(cells: Iterable[TurnCell | None]) -> str:
    known = [cell for cell in cells if cell is not None]
    return f"{sum(one.passed for one in known)} of {sum(one.wanted for one in known)}" if known else ""


def _changing(path: Path, change: Callable[[LastFile], LastFile]) -> Callable[[Content], Content]:
    """Return the change of the content that changes the entry of a file, and makes it the last."""
    key = _key(path)

    def changed(content: Content) -> Content:
        files = _files(content)
        files[key] = change(files.pop(key, LastFile()))
        found = list(files.items())[-MAX_FILES:]
        return {"files": [_entry(path, file) for path, file in found]}

    return changed


def _files(content: Content) -> dict[str, LastFile]:
    """Return the valid entries of a content."""
    found: dict[str, LastFile] = {}
    for entry in entries(content, "files")[-MAX_FILES:]:
        match entry:
            case {"path": str(path), "kept": bool(kept), "cases": list(cases)} if len(path) <= MAX_CHARS:
                found[path] = LastFile(dict(chain.from_iterable(map(_case, cases[-MAX_CASES:]))), kept)
    return found


def _case(entry: Any) -> Iterator[tuple[str, LastCase]]:
    match entry:
        case {
            "name": str(name),
            "state": str(state),
            "at": at,
            "ms": ms,
            "recording": str(recording),
            "server": str(server),
            "call": str(call),
            "runs": str(runs),
        } if state in set(State) and max(map(len, (name, recording, server, call, runs))) <= MAX_CHARS:
            problem = text_in(entry, "problem")[:PROBLEM_CHARS]  # earlier versions did not store it
            at, ms = bounded(at) or 0.0, bounded(ms)
            yield name, LastCase(State(state), at, ms, recording, server, call, runs, problem)


def _entry(path: str, file: LastFile) -> dict[str, Any]:
    newest = sorted(file.cases.items(), key=lambda item: item[1].at)[-MAX_CASES:]
    cases = [{"name": name, **asdict(one)} for name, one in newest]
    return {"path": path, "kept": file.kept, "cases": cases}


def last_runs_reporter(runtime: "Runtime") -> LastRunsReporter:
    """Return what stores the outcomes of a run."""
    traffic = runtime.traffic
    return LastRunsReporter(
        LastRuns(), lambda: traffic.path if traffic.path != Path() else None, runtime.redactor.redact
    )
