"""The table of turn cases and models: pass rate, tokens, cost and time of each cell. Pure.

Texts are cleaned and on one line. A report escapes them for its format.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from tui.addons.tests.run.outcome import Outcome, RunOutcome, State, TurnCell
from tui.addons.tests.suite.case import TurnCase
from tui.commands.table import table
from tui.core.text import clean_line
from tui.core.units import count, duration, money

TITLE_CHARS = 60
MODEL_CHARS = 40
NOTHING = "–"


class CellWords(NamedTuple):
    """A cell in words: "4 of 5", "1.2 k", "$0.0034", "1.2 s"; what is unknown is a dash."""

    passed: str
    tokens: str = NOTHING
    cost: str = NOTHING
    time: str = NOTHING

    @classmethod
    def of(cls, cell: TurnCell | None, state: State) -> "CellWords":
        """Return the words of a cell; of one without runs, its state."""
        if cell is None or not cell.judged:
            return cls(str(state))
        return cls(
            f"{cell.passed} of {cell.wanted}",
            NOTHING if cell.tokens is None else count(cell.tokens),
            NOTHING if cell.cost is None else money(cell.cost, cell.currency),
            NOTHING if cell.ms is None else duration(cell.ms),
        )

    def __str__(self) -> str:
        parts = (
            self.passed,
            f"{self.tokens} tokens" if self.tokens != NOTHING else "",
            *(one for one in (self.cost, self.time) if one != NOTHING),
        )
        return ", ".join(filter(None, parts))


@dataclass(frozen=True, slots=True)
class TableRow:
    """A turn case with its outcomes by the name of the model, "" if there was none."""

    title: str
    cells: Mapping[str, Outcome]


def rows_of(run: RunOutcome) -> list[TableRow]:
    """Return the rows of the turn cases of a run, in order."""
    rows: list[TableRow] = []
    last: tuple[int, str] | None = None
    for outcome in (one for suite in run.suites for one in suite.outcomes):
        if not isinstance(case := outcome.case, TurnCase):
            continue
        if last != (id(case), outcome.era):
            last = id(case), outcome.era
            era = f" [{outcome.era}]" if outcome.era else ""
            rows.append(TableRow(f"{clean_line(case.title, TITLE_CHARS)}{era}", {}))
        model = clean_line(outcome.cell.model, MODEL_CHARS) if outcome.cell is not None else ""
        rows[-1] = TableRow(rows[-1].title, {**rows[-1].cells, model: outcome})
    return rows


def text_table(run: RunOutcome, cells: int = 0) -> list[str]:
    """Return the table as text, a row for each cell; no lines without turn cases.

    `cells` are as for `table`.
    """
    found = rows_of(run)
    if not found:
        return []
    head, lines = ("turn", "model", "passed", "tokens", "cost", "time"), list[tuple[str, ...]]()
    for row in found:
        title = row.title
        for model, outcome in row.cells.items():
            words = CellWords.of(outcome.cell, outcome.state)
            lines.append((title, model or NOTHING, *words))
            title = ""
    return table(lines, (0, 1), cells, head=head).split("\n")


def matrix(run: RunOutcome) -> list[list[str]]:
    """Return the table with a column for each model, its header first; empty without turn cases."""
    found = rows_of(run)
    if not found:
        return []
    models = list(dict.fromkeys(model for row in found for model in row.cells))
    header = ["turn", *(model or "model" for model in models)]
    return [header, *([row.title, *(_words(row, model) for model in models)] for row in found)]


def _words(row: TableRow, model: str) -> str:
    outcome = row.cells.get(model)
    return "" if outcome is None else str(CellWords.of(outcome.cell, outcome.state))


def cell_object(cell: TurnCell) -> dict[str, Any]:
    """Return a cell as JSON: its rates, and each run with its calls and why it failed.

    `tokens` and `cost` are means, `ms` is a median, each of the runs that passed or failed, or null.
    """
    return {
        "model": cell.model,
        "label": cell.label,
        "passed": cell.passed,
        "wanted": cell.wanted,
        "tokens": cell.tokens,
        "cost": cell.cost,
        "currency": cell.currency,
        "ms": _rounded(cell.ms),
        "runs": [
            {
                "state": str(run.state),
                "problem": run.problem,
                "calls": list(run.calls),
                "answer": run.answer,
                "steps": run.steps,
                "tokens": run.tokens,
                "cost": run.cost,
                "ms": _rounded(run.ms),
                "turn": run.turn,
                "session": run.session,
            }
            for run in cell.runs
        ],
    }


def _rounded(ms: float | None) -> float | None:
    return None if ms is None else round(ms, 3)
