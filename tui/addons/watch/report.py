"""What became of a restart, in a line: how long it took, what changed, what kept calls return. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tui.addons.watch.handover import HandoverResult
from tui.core import units
from tui.core.permission.change_effects import ORDER, ChangeEffect, is_harmless
from tui.core.permission.definitions import DefinitionChange, shown_name
from tui.core.text import clean_line
from tui.ui.widgets.rows import Row, crop, text_of, width_of
from tui.ui.workbench.kept_calls import KeptCheck

MAX_NAMED = 2
"""Changes that are named; the others are counted."""

SHORTEST_PART = 22
"""Cells that are left of a part that is shortened."""

_PARTS = {"inputSchema": "input", "outputSchema": "output", "annotations": "hints"}
_BAD = (ChangeEffect.BREAKING, ChangeEffect.SUSPICIOUS)


@dataclass(frozen=True, slots=True)
class RestartReport:
    """A restart, and the kept calls after it, once they are checked.

    `printed` are the words about what the new process printed to stdout beside messages, or "". `stop_first`
    is the setting that always stops the old process first, if that may help.
    """

    result: HandoverResult
    kept: KeptCheck | None = None
    was_running: bool = True
    printed: str = ""
    stop_first: str = ""

    @property
    def text(self) -> str:
        """The line without styles."""
        return "".join(text for text, _ in report_row(self))


class _Part(NamedTuple):
    """A part of the line, and its `short` form, if it has one. Those with the lowest `rank` go first."""

    text: str
    style: str
    short: str = ""
    rank: int = 0


RANKS = 4


def report_row(report: RestartReport, shorter: int = 0) -> Row:
    """Return the line. `shorter`, up to `RANKS`, is how many kinds of its parts are shortened."""
    parts = [
        (one.short if one.short and one.rank < shorter else one.text, one.style) for one in _parts(report)
    ]
    return tuple(span for number, part in enumerate(parts) for span in ((" · ", "dim"), part)[not number :])


def fitting(rows: Sequence[Row], cells: int) -> Row:
    """Return the first of the lines that fits, or the last one, shortened."""
    return next((row for row in rows if width_of(row) <= cells), shortened(rows[-1], cells))


def shortened(row: Row, cells: int) -> Row:
    """Return the line in as many cells, at the cost of its longest part, which stays readable."""
    excess = width_of(row) - cells
    if excess <= 0:
        return row
    at = max(range(len(row)), key=lambda index: width_of(row[index : index + 1]))
    kept = max(SHORTEST_PART, width_of(row[at : at + 1]) - excess)
    return (*row[:at], *crop(row[at : at + 1], kept), *row[at + 1 :])


def _parts(report: RestartReport) -> Iterator[_Part]:
    result = report.result
    if not result.is_new:
        problem = result.problem.removesuffix(".")
        reason = "" if result.place else problem.partition("Last line: ")[2]
        yield _Part("  ".join(filter(None, (result.place, problem))), "bad", reason)
        if result.stopped_first:
            yield _Part("also without the old process", "dim", "also alone")
        if result.is_running:
            yield _Part("the old process still runs", "dim")
        else:
            yield _Part("the server is stopped", "bad")
        if report.stop_first:
            yield _Part(f"{report.stop_first} may help", "dim", report.stop_first)
        return
    seconds = f"{result.seconds:.1f} s"
    yield _Part(f"{'restarted' if report.was_running else 'started'} in {seconds}", "ok", seconds, 3)
    if result.stopped_first:
        yield _Part("the old process was stopped first", "dim", "stopped first")
    if report.printed:
        yield _Part(report.printed, "warn")
    yield from _changes(result)
    if report.kept is not None:
        yield from _kept(report.kept)


def _changes(result: HandoverResult) -> Iterator[_Part]:
    changes = sorted(result.changes, key=lambda one: -ORDER.index(one.effect))
    gone = ((_named(name), name) for name in result.removed)
    found = [_Part(f"{name}: removed, breaking", "warn", f"{short}: removed", 1) for short, name in gone]
    found += [_change(one) for one in changes]
    yield from found[:MAX_NAMED]
    if len(found) > MAX_NAMED:
        yield _Part(f"{len(found) - MAX_NAMED} more", "dim")


def _named(name: str) -> str:
    """Return as much of a name as the shorter line has."""
    return text_of(crop(((name, ""),), SHORTEST_PART))


def _change(change: DefinitionChange) -> _Part:
    name, effect = clean_line(shown_name(change.name), 60), change.effect
    style = "text" if is_harmless(effect) else "warn"
    if change.is_new:
        words = f"new, {effect}" if effect in _BAD else "new"
        return _Part(f"{name}: {words}", style, f"{_named(name)}: {words}", 1)
    worst = [one.path.partition(".")[0] for one in change.differences if one.effect is effect]
    parts = [_PARTS.get(part, part) for part in dict.fromkeys(worst)]
    words = f"{' and '.join(parts[:2]) or 'definition'} changed"
    return _Part(f"{name}: {words}, {effect}", style, f"{_named(name)}: {effect}", 1)


def _kept(kept: KeptCheck) -> Iterator[_Part]:
    total = kept.passed + len(kept.differing) + kept.not_run
    if not total:
        return
    differ = len(kept.differing), "differs" if len(kept.differing) == 1 else "differ"
    counts = [one for one in ((kept.passed, "passed"), differ, (kept.not_run, "not run")) if one[0]]
    worst = differ if kept.differing else counts[0]
    style = "warn" if kept.differing else "ok" if kept.passed else "dim"
    said = ", ".join(f"{number} {words}" for number, words in counts)
    yield _Part(f"{total} kept: {said}", style, f"{worst[0]} kept {worst[1]}", 2)


def watched_words(patterns: Sequence[str], *, is_empty: bool = False) -> str:
    """Return what is watched: "watching src/**/*.py"; `is_empty`: there is no such file."""
    none = ": no file matches" if is_empty else ""
    return f"watching {units.and_more([clean_line(one, 60) for one in patterns], MAX_NAMED)}{none}"
