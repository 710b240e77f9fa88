"""What became of a restart, in a line: how long it took, what changed, what kept calls return. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tui.addons.watch.handover import HandoverResult
from tui.core import units
from tui.core.permission.change_effects import ORDER, ChangeEffect, is_harmless
from tui.core.permission.definitions import DefinitionChange, shown_name
from tui.core.text import clean_line
from tui.ui.widgets.rows import Row, crop, width_of
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

    `printed` are the words about what the new process printed to stdout beside messages, or "".
    """

    result: HandoverResult
    kept: KeptCheck | None = None
    was_running: bool = True
    printed: str = ""

    @property
    def text(self) -> str:
        """The line without styles."""
        return "".join(text for text, _ in report_row(self))


def report_row(report: RestartReport) -> Row:
    """Return the line."""
    parts = list(_parts(report))
    return tuple(span for number, part in enumerate(parts) for span in ((" · ", "dim"), part)[not number :])


def shortened(row: Row, cells: int) -> Row:
    """Return the line in as many cells, at the cost of its longest part, which stays readable."""
    excess = width_of(row) - cells
    if excess <= 0:
        return row
    at = max(range(len(row)), key=lambda index: width_of(row[index : index + 1]))
    kept = max(SHORTEST_PART, width_of(row[at : at + 1]) - excess)
    return (*row[:at], *crop(row[at : at + 1], kept), *row[at + 1 :])


def _parts(report: RestartReport) -> Iterator[tuple[str, str]]:
    result = report.result
    if not result.is_new:
        yield "  ".join(filter(None, (result.place, result.problem.removesuffix(".")))), "bad"
        yield ("the old process still runs", "dim") if result.is_running else ("the server is stopped", "bad")
        return
    done = "restarted" if report.was_running else "started"
    yield f"{done} in {result.seconds:.1f} s", "ok"
    if result.stopped_first:
        yield "the old process was stopped first", "dim"
    if report.printed:
        yield report.printed, "warn"
    yield from _changes(result)
    if report.kept is not None:
        yield from _kept(report.kept)


def _changes(result: HandoverResult) -> Iterator[tuple[str, str]]:
    changes = sorted(result.changes, key=lambda one: -ORDER.index(one.effect))
    found = [(f"{name}: removed, breaking", "warn") for name in result.removed]
    found += [_change(one) for one in changes]
    yield from found[:MAX_NAMED]
    if len(found) > MAX_NAMED:
        yield f"{len(found) - MAX_NAMED} more", "dim"


def _change(change: DefinitionChange) -> tuple[str, str]:
    name, effect = clean_line(shown_name(change.name), 60), change.effect
    style = "text" if is_harmless(effect) else "warn"
    if change.is_new:
        return f"{name}: new" + (f", {effect}" if effect in _BAD else ""), style
    worst = [one.path.partition(".")[0] for one in change.differences if one.effect is effect]
    parts = [_PARTS.get(part, part) for part in dict.fromkeys(worst)]
    return f"{name}: {' and '.join(parts[:2]) or 'definition'} changed, {effect}", style


def _kept(kept: KeptCheck) -> Iterator[tuple[str, str]]:
    total = kept.passed + len(kept.differing) + kept.not_run
    if not total:
        return
    counts = [f"{kept.passed} passed"] if kept.passed else []
    counts += [f"{len(kept.differing)} {_differ(kept.differing)}"] if kept.differing else []
    counts += [f"{kept.not_run} not run"] if kept.not_run else []
    yield f"{total} kept: {', '.join(counts)}", "warn" if kept.differing else "ok" if kept.passed else "dim"


def _differ(names: Sequence[str]) -> str:
    return "differs" if len(names) == 1 else "differ"


def watched_words(patterns: Sequence[str]) -> str:
    """Return what is watched: "watching src/**/*.py"."""
    return f"watching {units.and_more([clean_line(one, 60) for one in patterns], MAX_NAMED)}"
