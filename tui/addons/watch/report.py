"""What became of a restart, in a line: how long it took, what changed, what kept calls return. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tui.addons.watch.handover import HandoverResult
from tui.core import units
from tui.core.language.translate import _, c_, localized, n_
from tui.core.permission.change_effects import ORDER, ChangeEffect, is_harmless
from tui.core.permission.definitions import DefinitionChange, shown_name
from tui.core.text import clean_line
from tui.ui.widgets.rows import Row, crop, text_of, width_of
from tui.ui.workbench.kept_calls import KeptCheck

MAX_NAMED = 2
"""Changes that are named; the others are counted."""

SHORTEST_PART = 22
"""Cells that are left of a part that is shortened."""

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
        reason = "" if result.place else result.problem.removesuffix(".").partition("Last line: ")[2]
        problem = localized(result.problem).removesuffix(".").removesuffix("。")
        yield _Part("  ".join(filter(None, (result.place, problem))), "bad", reason)
        if result.stopped_first:
            yield _Part(_("also without the old process"), "dim", _("also alone"))
        if result.is_running:
            yield _Part(_("the old process still runs"), "dim")
        else:
            yield _Part(_("the server is stopped"), "bad")
        if report.stop_first:
            yield _Part(_("{setting} may help", setting=report.stop_first), "dim", report.stop_first)
        return
    seconds = f"{result.seconds:.1f} s"
    began = (
        _("restarted in {time}", time=seconds) if report.was_running else _("started in {time}", time=seconds)
    )
    yield _Part(began, "ok", seconds, 3)
    if result.stopped_first:
        yield _Part(_("the old process was stopped first"), "dim", _("stopped first"))
    if report.printed:
        yield _Part(localized(report.printed), "warn")
    yield from _changes(result)
    if report.kept is not None:
        yield from _kept(report.kept)


def _changes(result: HandoverResult) -> Iterator[_Part]:
    changes = sorted(result.changes, key=lambda one: -ORDER.index(one.effect))
    gone = ((_named(name), name) for name in result.removed)
    found = [
        _Part(f"{name}: {_('removed, breaking')}", "warn", f"{short}: {_('removed')}", 1)
        for short, name in gone
    ]
    found += [_change(one) for one in changes]
    yield from found[:MAX_NAMED]
    if len(found) > MAX_NAMED:
        yield _Part(_("{n} more", n=len(found) - MAX_NAMED), "dim")


def _named(name: str) -> str:
    """Return as much of a name as the shorter line has."""
    return text_of(crop(((name, ""),), SHORTEST_PART))


def _part(key: str) -> str:
    """Return the name of a part of a definition."""
    match key:
        case "inputSchema":
            return c_("part of a definition", "input")
        case "outputSchema":
            return c_("part of a definition", "output")
        case "annotations":
            return c_("part of a definition", "hints")
    return key


def _change(change: DefinitionChange) -> _Part:
    name, effect = clean_line(shown_name(change.name), 60), change.effect
    style = "text" if is_harmless(effect) else "warn"
    if change.is_new:
        words = _("new, {effect}", effect=_(effect)) if effect in _BAD else c_("definition", "new")
        return _Part(f"{name}: {words}", style, f"{_named(name)}: {words}", 1)
    worst = [one.path.partition(".")[0] for one in change.differences if one.effect is effect]
    parts = [_part(part) for part in dict.fromkeys(worst)][:2]
    about = {"name": name, "effect": _(effect)}
    match parts:
        case [one]:
            said = _("{name}: {part} changed, {effect}", part=one, **about)
        case [one, other]:
            said = _("{name}: {part} and {other} changed, {effect}", part=one, other=other, **about)
        case _:
            said = _("{name}: definition changed, {effect}", **about)
    return _Part(said, style, f"{_named(name)}: {about['effect']}", 1)


def _kept(kept: KeptCheck) -> Iterator[_Part]:
    total = kept.passed + len(kept.differing) + kept.not_run
    if not total:
        return
    differing = len(kept.differing)
    style = "warn" if differing else "ok" if kept.passed else "dim"
    counts = [
        (kept.passed, _("{n} passed", n=kept.passed), _("{n} kept passed", n=kept.passed)),
        (
            differing,
            n_("{n} differs", "{n} differ", differing),
            n_("{n} kept differs", "{n} kept differ", differing),
        ),
        (kept.not_run, _("{n} not run", n=kept.not_run), _("{n} kept not run", n=kept.not_run)),
    ]
    found = [one for one in counts if one[0]]
    worst = counts[1] if differing else found[0]
    said = _("{n} kept: {counts}", n=total, counts=_(", ").join(words for _n, words, _short in found))
    yield _Part(said, style, worst[2], 2)


def watched_words(patterns: Sequence[str], *, is_empty: bool = False) -> str:
    """Return what is watched: "watching src/**/*.py"; `is_empty`: there is no such file."""
    names = units.and_more([clean_line(one, 60) for one in patterns], MAX_NAMED)
    if is_empty:
        return _("watching {files}: no file matches", files=names)
    return _("watching {files}", files=names)
