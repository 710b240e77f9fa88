"""The rows of the screen of all cases. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tui.addons.tests.review.catalog import Listed, ListedFile
from tui.addons.tests.run.outcome import State
from tui.addons.tests.suite.case import Case, SuiteServer, TurnCase
from tui.core.language.translate import N_, _, c_, localized, n_
from tui.core.secrets.commands_and_urls import masked, masked_arguments
from tui.core.text import cells_of, clean, clean_line, padded
from tui.ui.widgets import times
from tui.ui.widgets.rows import EMPTY, Row, crop, pad, progress_bar, spread, text_of, width_of, wrap
from tui.ui.widgets.symbols import Symbols, symbols_for
from tui.ui.widgets.times import when

WIDE = 76
"""Minimum columns for showing the time limit."""

NARROW = 60
"""With fewer columns, there is no latency."""

STYLES = {State.PASSED: "ok", State.FAILED: "bad", State.ERROR: "bad", State.SKIPPED: "dim"}
REQUEST_CELLS, TIME_CELLS, WHEN_CELLS = 24, 9, 15
BAR_CELLS = 12
LEAST_NAME, LEAST_REQUEST, GAP, LEAD = 20, 8, 3, 4

KEY = "key"
"""Stands for the key that keeps a call."""

EMPTY_STATE = (
    ("", N_("No kept calls yet"), "text bold"),
    ("", N_("mcptui repeats kept calls and compares their results. To keep one:"), "dim"),
    ("", "", ""),
    (KEY, N_("on a result, a call, or an entry of the traffic"), "text"),
    ("mcptui keep", N_("in a shell, after mcptui call"), "text"),
    ("", "", ""),
    ("", N_("One case for each read-only tool of a server: mcptui test --init -- COMMAND"), "dim"),
)


Key = tuple[Path, str, str]
"""Identifies a case among all, as `Listed.key`."""


@dataclass(frozen=True, slots=True)
class Doing:
    """What happens to a case now: it waits for its turn in a run, or runs."""

    waits: bool = False
    runs: bool = False


def empty_rows(folder: str, key: str, width: int) -> list[Row]:
    """Return what to do while there are no cases; `key` keeps a call."""
    end = _("Kept calls are in *.mcp.toml files. None was found below {folder}.", folder=folder)
    rows: list[Row] = [EMPTY]
    for how, text, style in (*EMPTY_STATE, ("", end, "dim")):
        lead = f"{key if how == KEY else how:<14}" if how else ""
        line: Row = ((lead + _(text), style),)
        rows += wrap(line, min(width, 96), first=(("  ", ""),)) if text else [EMPTY]
    return rows


def file_rows(file: ListedFile, width: int) -> list[Row]:
    """Return the heading of a file, with its server, and its problem."""
    server = ((f"   {_server(file.suite.server)}", "dim"),) if file.suite is not None else ()
    rows: list[Row] = [EMPTY, crop(((" ", ""), (file.shown, "dim bold"), *server), width)]
    for line in clean(file.problem[:2_000]).splitlines():
        rows += wrap(((line.strip(), "bad"),), width - 1, first=(("   ! ", "bad"),))
    for line in file.suite.warnings if file.suite is not None else ():
        rows += wrap(((clean_line(line, 400), "warn"),), width - 1, first=(("   ! ", "warn"),))
    return rows


def _server(server: SuiteServer | None) -> str:
    if server is None:
        return _("no server")
    words = server.name or masked(server.url) or " ".join(masked_arguments(server.command))
    return clean_line(words, 200)


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a list of cases: its width, and the cells of the longest name and request."""

    width: int
    names: int
    requests: int

    @classmethod
    def of(cls, width: int, cases: Sequence[Listed]) -> "Columns":
        names = max((cells_of(clean_line(one.name, 200)) for one in cases), default=0)
        return cls(width, names, max((cells_of(one.request) for one in cases), default=0))


def case_row(one: Listed, doing: Doing, signs: Symbols, columns: Columns, now: float, *, cursor: bool) -> Row:
    """Return a case: state, name, request or why it failed, time against its limit, last run."""
    lead: Row = ((f"{signs.cursor if cursor else ' '} ", "accent"), _sign(one, doing, signs), (" ", ""))
    problem = EMPTY if doing.runs or doing.waits or problem_rows(one, columns, now) else _problem(one)
    right = _right(one, doing, columns, now)
    room = columns.width - width_of(lead) - width_of(right) - 1
    request = min(REQUEST_CELLS, columns.requests, max(0, room - min(LEAST_NAME, columns.names) - GAP))
    names = min(room - request - GAP, columns.names)
    name = pad(crop(((clean_line(one.name, 200), "text"),), names), names)
    cells = crop(((one.request, "dim"),), request) if request >= LEAST_REQUEST else EMPTY
    return spread((*lead, *name, (" " * GAP, ""), *(problem or cells)), right, columns.width)


def problem_rows(one: Listed, columns: Columns, now: float) -> list[Row]:
    """Return the rows of why a case failed that are below it, if it has no room for that."""
    problem = _problem(one)
    room = columns.width - LEAD - columns.names - GAP - 1 - width_of(_right(one, Doing(), columns, now))
    return wrap(problem, columns.width, first=((" " * (LEAD + 2), ""),)) if width_of(problem) > room else []


def _right(one: Listed, doing: Doing, columns: Columns, now: float) -> Row:
    note = _note(one, columns.width)
    return (*(EMPTY if _problem(one) and not text_of(note).strip() else note), _last_run(one, doing, now))


def _problem(one: Listed) -> Row:
    has_failed = isinstance(one.what, Case) and one.last is not None and one.last.state is State.FAILED
    said = localized(one.problem) or (_("differs") if has_failed else "")
    style = "dim" if one.last is not None and one.last.state is State.SKIPPED else "bad"
    return ((clean_line(said, 400), style),) if said else EMPTY


def _sign(one: Listed, doing: Doing, signs: Symbols) -> tuple[str, str]:
    if doing.runs:
        return signs.spinner[0], "warn bold"
    if doing.waits:
        return signs.waiting, "warn"
    if one.last is None:
        return signs.separator, "dim"
    return state_sign(one.last.state, signs)


def state_sign(state: State, signs: Symbols) -> tuple[str, str]:
    """Return the sign of a state, with its style."""
    sign = {State.PASSED: signs.done, State.SKIPPED: signs.outcomes[5], State.ERROR: signs.warning}
    return sign.get(state, signs.failed), STYLES[state]


def _last_run(one: Listed, doing: Doing, now: float) -> tuple[str, str]:
    ran = when(one.last.at, now) if one.last is not None else _("never ran")
    if doing.runs or doing.waits:
        ran = _running() if doing.runs else _("waiting")
    return f"{padded(ran, WHEN_CELLS, right=True)} ", "warn" if doing.runs else "dim"


def _note(one: Listed, width: int) -> Row:
    """Return the latency against its limit, or why there is none."""
    if width < NARROW:
        return EMPTY
    text, style = _words(one)
    ms = one.last.ms if one.last is not None else None
    limit = one.what.expected.within_ms if isinstance(one.what, Case) else None
    cells = TIME_CELLS + (cells_of(_limit("1 m 04 s")) if width >= WIDE else 0)
    if text or ms is None:
        return pad(crop(((text, style),), cells), cells)
    is_short = limit is not None and max(ms, limit) < 1_000  # as the file writes it: 100ms
    took = f"{ms:.0f} ms" if is_short else times.duration(ms)
    style = "warn" if limit is not None and ms > limit else "text"
    row: Row = ((padded(took, TIME_CELLS, right=True), style),)
    if limit is not None and width >= WIDE:
        most = f"{limit:.0f} ms" if is_short else times.duration(limit)
        row = (*row, (_limit(most), "dim"))
    return pad(row, cells)


def _running() -> str:
    return c_("test case", "running")


def _limit(most: str) -> str:
    return " " + _("of {limit}", limit=most)


def _words(one: Listed) -> tuple[str, str]:
    match one.what:
        case Case(skip=str(why)) | TurnCase(skip=str(why)) if why:
            return clean_line(why, 60), "dim"
        case Case() if one.what.expects_nothing:
            return _("no result"), "warn"
        case TurnCase() if one.last is not None and one.last.runs:
            passed, _of, wanted = one.last.runs.partition(" of ")
            return _("{n} of {all}", n=passed, all=wanted), "text"
        case _:
            return "", ""


def summary(cases: Sequence[Listed]) -> Row:
    """Return how many cases there are, by how they ended last."""
    counts = {
        state: sum(one.last is not None and one.last.state is state for one in cases) for state in State
    }
    parts: list[tuple[str, str]] = [(n_("{n} case", "{n} cases", len(cases)), "text")] if cases else []
    parts += [(counted(state, count), STYLES[state]) for state, count in counts.items() if count]
    if never := len(cases) - sum(counts.values()):
        parts.append((_("{n} never ran", n=never), "dim"))
    return tuple(span for part in parts for span in (part, ("   ", "")))


def counted(state: State, count: int) -> str:
    """Return how many cases ended in a state: "2 passed", "1 error"."""
    match state:
        case State.PASSED:
            return _("{n} passed", n=count)
        case State.FAILED:
            return _("{n} failed", n=count)
        case State.SKIPPED:
            return _("{n} skipped", n=count)
    return n_("{n} error", "{n} errors", count)


def progress_row(done: int, total: int) -> Row:
    """Return how far a run is; nothing without one."""
    if not total:
        return EMPTY
    signs = symbols_for()
    bar = progress_bar(done / total, BAR_CELLS, signs.thin, signs.rule)
    said = _("{done} of {total}", done=done, total=total)
    return ((_running() + "  ", "warn"), *bar, (f"  {said} ", "text"))
