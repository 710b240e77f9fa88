"""The last runs of turn cases by model: a file in the state folder, which the screen of turn cases follows.

Texts are cleaned and bounded. The answers of models are in the saved conversations only.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tui.addons.tests.run.outcome import Outcome, State, TurnCell, TurnRun
from tui.addons.tests.suite.case import TurnCase
from tui.addons.tests.turns.table import cell_object
from tui.core.files import Stamp, stamp_of
from tui.core.text import clean_line
from tui.core.units import bounded, whole
from tui.settings.locations import state_dir
from tui.settings.state.state_file import KeyedList

MAX_CELLS = 500
MAX_RUNS = 50
"""Maximum runs of a cell to keep."""

MAX_CHARS = 1_000
PROBLEM_CHARS = 300
Key = tuple[str, str, str]
"""The absolute path of the file, the title of the case, and the name of the model."""


@dataclass(frozen=True, slots=True)
class LastCell:
    """How a turn case ended last with a model.

    Attributes:
        problem: why it did not pass, cleaned.
        at: seconds since the epoch.
        recording: the path of the file with its messages, or "".
        cell: its runs, without calls and answers.
    """

    state: State
    problem: str = ""
    at: float = 0.0
    recording: str = ""
    cell: TurnCell = field(default_factory=lambda: TurnCell(""))


class LastCells:
    """The last cells; read again when another process has changed them."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path or state_dir() / "turn-tests.json"
        self._list = KeyedList[Key, LastCell](
            self._path, "the last runs of turn cases", "cells", _read, _write, MAX_CELLS
        )
        self._stamp: Stamp = None
        self._known: Mapping[Key, LastCell] = {}
        self.close = self._list.close

    @property
    def is_stale(self) -> bool:
        """Whether the file has changed since it was read. Takes microseconds."""
        return stamp_of(self._path) != self._stamp

    def read(self) -> Mapping[Key, LastCell]:
        """Return what is known, nothing if the file is missing or damaged. Blocks if it has changed."""
        if (stamp := stamp_of(self._path)) != self._stamp:
            self._known, self._stamp = self._list.read(), stamp
        return self._known

    def put(self, path: Path, outcome: Outcome, recording: Path, at: float) -> None:
        """Store the outcome of a turn case of a file, in a thread. A failure is only logged.

        `recording` has its messages; `Path()` for none.
        """
        cell, case = outcome.cell, outcome.case
        if cell is None or not isinstance(case, TurnCase):
            return
        key = (os.path.abspath(path), case.title[:MAX_CHARS], cell.model[:MAX_CHARS])
        where = "" if recording == Path() else str(recording)
        problem = clean_line(outcome.problem, PROBLEM_CHARS)
        self._list.change_later({key: LastCell(outcome.state, problem, at, where, cell)})


def _read(entry: Any) -> tuple[Key, LastCell] | None:
    match entry:
        case {
            "path": str(path),
            "title": str(title),
            "model": str(model),
            "state": str(state),
            "runs": list(runs),
        } if state in set(State) and max(map(len, (path, title, model))) <= MAX_CHARS:
            made = [run for one in runs[:MAX_RUNS] if (run := _run(one)) is not None]
            wanted = whole(entry.get("wanted"), 10_000) or len(made)
            currency = _text(entry, "currency") or "USD"
            cell = TurnCell(model, _text(entry, "label"), currency, wanted, made)
            at, recording = bounded(entry.get("at")) or 0.0, _text(entry, "recording")
            return (path, title, model), LastCell(State(state), _text(entry, "problem"), at, recording, cell)
    return None


def _run(entry: Any) -> TurnRun | None:
    if not isinstance(entry, Mapping) or (state := entry.get("state")) not in set(State):
        return None
    return TurnRun(
        State(state),
        _text(entry, "problem"),
        steps=whole(entry.get("steps")) or 0,
        tokens=whole(entry.get("tokens")) or 0,
        cost=bounded(entry.get("cost")),
        ms=bounded(entry.get("ms")) or 0.0,
        turn=whole(entry.get("turn")) or 0,
        session=_text(entry, "session"),
    )


def _text(entry: Mapping[str, Any], name: str) -> str:
    value = entry.get(name)
    return clean_line(value, MAX_CHARS) if isinstance(value, str) else ""


def _write(key: Key, last: LastCell) -> dict[str, Any]:
    path, title, model = key
    cell = cell_object(replace(last.cell, model=model, runs=last.cell.runs[:MAX_RUNS]))
    for run in cell["runs"]:
        del run["calls"], run["answer"]
        run["problem"] = clean_line(run["problem"], PROBLEM_CHARS)
    about = {"state": last.state.value, "problem": last.problem, "at": last.at, "recording": last.recording}
    return {"path": path, "title": title, **about, **cell}
