"""The rows of the table of turn cases: a line for each model, and one for each of its runs. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tui.addons.tests.run.outcome import State, TurnCell, TurnRun
from tui.addons.tests.screens.case_rows import STYLES, counted, state_sign
from tui.addons.tests.turns.last_cells import Key, LastCell
from tui.addons.tests.turns.table import CellWords
from tui.core.language.translate import _, n_
from tui.core.text import cells_of, clean_line, padded
from tui.core.units import count
from tui.ui.widgets.rows import EMPTY, Row, crop, pad, spread, width_of
from tui.ui.widgets.symbols import Symbols
from tui.ui.widgets.times import duration, when

MOST_MODEL = 24
NUMBERS = (8, 8, 9, 8)
"""Minimum cells of the columns passed, tokens, cost and time."""

WHEN_CELLS = 15
WIDE = 96
"""Minimum columns for showing when a case ran."""


@dataclass(frozen=True, slots=True)
class TurnLine:
    """A line of the table: a heading, a cell, or a run of a cell.

    Attributes:
        key: of the cell, None for a heading.
        run: None for the cell as a whole.
    """

    text: str = ""
    key: Key | None = None
    last: LastCell | None = None
    run: TurnRun | None = None
    number: int = 0

    @property
    def chosen_run(self) -> TurnRun | None:
        """The run itself, or of a cell the first that did not pass, or else the first."""
        if self.run is not None or self.last is None:
            return self.run
        runs = self.last.cell.runs
        bad = (one for one in runs if one.state.is_bad)
        return next(bad, next(iter(runs), None))


def turn_lines(cells: Mapping[Key, LastCell], shown: Mapping[str, str]) -> list[TurnLine]:
    """Return the lines of all cells, by file and case. `shown` are the files as they are named."""
    lines: list[TurnLine] = []
    places: dict[tuple[str, str], list[Key]] = {}
    for key in cells:
        places.setdefault(key[:2], []).append(key)
    file = ""
    for (path, title), keys in sorted(places.items(), key=lambda item: item[0][0]):
        if path != file:
            file = path
            lines += [TurnLine(), TurnLine(shown.get(path, path))]
        for at, key in enumerate(sorted(keys)):
            lines += _cell_lines(key, cells[key], clean_line(title, 200) if at == 0 else "")
    return lines


def _cell_lines(key: Key, last: LastCell, title: str) -> Iterator[TurnLine]:
    yield TurnLine(title, key, last)
    runs = last.cell.runs
    if len(runs) > 1:
        yield from (TurnLine("", key, last, run, at) for at, run in enumerate(runs, 1))


def model_cells(lines: Sequence[TurnLine]) -> int:
    """Return the width of the column of models."""
    names = (cells_of(clean_line(one.key[2], MOST_MODEL)) for one in lines if one.key is not None)
    return max((cells_of(_("model")), 5, *names))


def heads(models: int, width: int) -> Row:
    """Return the headings of the columns."""
    numbers = "".join(padded(name, cells, right=True) for name, cells in _number_columns())
    right: Row = ((f"{padded(_('model'), models)}  {numbers}", "dim"),)
    if width >= WIDE:
        right = (*right, (f"{'':>{WHEN_CELLS}}", ""))
    return spread((("   " + _("turn"), "dim"),), right, width)


def conversation_head(line: TurnLine, run: TurnRun) -> Row:
    """Return the title of the conversation of a run."""
    assert line.key is not None and line.last is not None
    _path, case, model = line.key
    runs = line.last.cell.runs
    number = "   " + _("run {n}", n=runs.index(run) + 1) if len(runs) > 1 else ""
    about = f"   {clean_line(model, 200)}{number}   "
    name = (clean_line(case, 200), "text bold")
    return ((_("TURN CASE") + "   ", "dim bold"), name, (about, "dim"), (_(run.state), STYLES[run.state]))


def line_row(line: TurnLine, models: int, signs: Symbols, width: int, now: float, *, cursor: bool) -> Row:
    """Return a line as a row."""
    if line.key is None or line.last is None:
        return crop(((" ", ""), (clean_line(line.text, 400), "dim bold")), width) if line.text else EMPTY
    lead: Row = ((f"{signs.cursor if cursor else ' '} ", "accent"),)
    if line.run is not None:
        return _run_row(line, line.run, lead, signs, width)
    state = line.last.state
    mark: Row = (state_sign(state, signs), (" ", ""))
    ran: Row = ((padded(when(line.last.at, now), WHEN_CELLS, right=True), "dim"),) if width >= WIDE else EMPTY
    model = pad(crop(((clean_line(line.key[2], 200), "text"),), models), models)
    numbers: Row = ((_numbers(line.last.cell, state), "text"),)
    right = (*model, ("  ", ""), *numbers, *ran)
    return spread((*lead, *mark, (line.text, "text bold")), right, width)


def _numbers(cell: TurnCell, state: State) -> str:
    passed = _("{n} of {all}", n=cell.passed, all=cell.wanted) if cell.judged else _(state)
    words = CellWords.of(cell, state)._replace(passed=passed)
    return "".join(f"{word:>{cells}}" for word, (_name, cells) in zip(words, _number_columns(), strict=True))


def _number_columns() -> Iterator[tuple[str, int]]:
    for name, cells in zip((_("passed"), _("tokens"), _("cost"), _("time")), NUMBERS, strict=True):
        yield name, max(cells, cells_of(name) + 1)


def _run_row(line: TurnLine, run: TurnRun, lead: Row, signs: Symbols, width: int) -> Row:
    sign: Row = (state_sign(run.state, signs), (" ", ""))
    said = clean_line(run.problem, 300)
    left: Row = (*lead, ("    ", ""), (_("run {n}", n=line.number) + "  ", "dim"), *sign, (said, "text"))
    numbers = [
        n_("{n} step", "{n} steps", run.steps),
        _("{count} tokens", count=count(run.tokens)),
        duration(run.ms),
    ]
    right: Row = (("   ".join(numbers) + " ", "dim"),)
    fits = width_of(right) < max(width // 2, width - width_of(left))
    return spread(left, right, width) if fits else crop(left, width)


def summary(cells: Mapping[Key, LastCell]) -> Row:
    """Return how many cases and models there are, and how many cells did not pass."""
    cases, models = len({key[:2] for key in cells}), len({key[2] for key in cells})
    counts = n_("{n} turn case", "{n} turn cases", cases), n_("{n} model", "{n} models", models)
    row: Row = (("   ".join(counts), "text"),)
    for state in (State.FAILED, State.ERROR):
        if number := sum(one.state is state for one in cells.values()):
            row = (*row, (f"   {counted(state, number)}", STYLES[state]))
    return row
