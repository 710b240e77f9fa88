"""The review: what is expected and what came next to each other, and a decision for each case."""

import asyncio
from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType

from tui.addons.tests.review.compared import differing, part_at
from tui.addons.tests.review.decisions import Change, Decision, Review, counted
from tui.addons.tests.review.failures import Failure
from tui.addons.tests.review.files import write
from tui.addons.tests.run.failure_text import Kind
from tui.addons.tests.run.outcome import State
from tui.core.background import Tasks
from tui.core.comparison.values import Line, line_pairs
from tui.core.errors import McptuiError
from tui.core.language.translate import N_, _, localized
from tui.core.text import clean, clean_line
from tui.ui.dialogs.dialog import ViewScreen
from tui.ui.keys.action_table import Context
from tui.ui.keys.bindings import bindings_of, overrides_of
from tui.ui.results.result_sheets import SideBySide, SideHeads
from tui.ui.widgets import times
from tui.ui.widgets.bar import SplitBar
from tui.ui.widgets.page import Lines, Page
from tui.ui.widgets.rows import EMPTY, Row, width_of
from tui.ui.widgets.symbols import symbols_for

DECIDED = {Decision.ACCEPTED: "ok", Decision.VARIES: "ok", Decision.SKIPPED: "dim"}
"""The styles of decisions."""

WIDE = 100
"""Minimum columns for the name of the file that was written."""


class ReviewScreen(ViewScreen[None]):
    """Reviews failures one after the other. `show_messages` opens the messages of one, `copy` copies one."""

    CONTEXTS = (Context.REVIEW,)
    TAKES = frozenset({"traffic.open", "app.suspend"})
    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Context.REVIEW)

    DEFAULT_CSS = """
    ReviewScreen > #review-problem { background: $surface; }
    ReviewScreen > #side-heads { background: $surface; padding: 0 1; }
    """

    def __init__(
        self, review: Review, show_messages: Callable[[Failure], None], copy: Callable[[Failure], None]
    ) -> None:
        self._page = Page()
        super().__init__(self._page)
        self.review = review
        self._show_messages, self._copy = show_messages, copy
        self._problem, self._side_heads = SplitBar(id="review-problem"), SideHeads()
        self._proposed: Change | None = None
        self._did = ""
        self._tasks = Tasks()

    def compose(self) -> ComposeResult:
        yield self._title
        yield self._problem
        yield self._side_heads
        yield self._page
        yield self._keys

    def on_mount(self) -> None:
        self.call_after_refresh(self._go_to_difference)

    def on_resize(self) -> None:
        self.call_after_refresh(self._go_to_difference)

    async def on_unmount(self) -> None:
        await self._tasks.cancel()

    def _go_to_difference(self) -> None:
        """Move the cursor to the first difference. Rows are only known once the page has its width."""
        if isinstance(sheet := self._page.sheet, SideBySide):
            self._page.move_cursor(sheet.row_of(sheet.first_difference))

    def look(self) -> None:
        """Show the current failure, or the proposed change."""
        failure = self.review.current
        if failure is None:
            self._page.show(Lines([((_("Nothing to review"), "dim"),)]))
            return
        self._say(failure)
        if self._proposed is not None:
            self._show_proposed(self._proposed)
            return
        lines = failure.lines
        self._side_heads.show(*((_("expected"), _("got")) if lines else ("", "")))
        if lines:
            pairs = [line.pair for line in lines]
            is_whole = all(pair.same for pair in pairs)
            self._page.show(SideBySide(pairs, list(_notes(failure)), whole=is_whole))
            self._go_to_difference()
        else:
            text = localized(failure.outcome.problem) or _("No result")
            rows: list[Row] = [((line, "text"),) for line in clean(text).splitlines()]
            self._page.show(Lines([*rows, EMPTY, *_notes(failure)]))
        self._show_review_keys(failure)

    def _say(self, failure: Failure) -> None:
        review, outcome = self.review, failure.outcome
        decided = review.decision(review.at)
        words: Row = ((f"   {_(decided)}", DECIDED[decided]),) if decided in DECIDED else ()
        name = clean_line(failure.name, 200)
        place = f"{clean_line(failure.path.name, 100)}:{outcome.line}"
        head: Row = (
            (_("REVIEW") + "  ", "dim bold"),
            (f"{review.progress}   ", "accent"),
            (name, "text bold"),
        )
        self._title.show((*head, *words), ((place, "dim"),))
        counts = [(review.count(one), one, style) for one, style in DECIDED.items()]
        done: Row = tuple((f"{counted(one, n)}   ", style) for n, one, style in counts if n)
        if failure.is_new:
            said: Row = ((_("Nothing is expected yet. Accept the result to expect it."), "warn"),)
        elif failure.response is None:
            said = ((_(outcome.state), "bad"),)
        else:
            is_other = outcome.state is not State.SKIPPED and not outcome.mismatches
            why = clean_line(localized(outcome.problem), 400) if failure.differs or is_other else ""
            ended = (why, "bad" if failure.differs else "warn")
            said = (ended if why else (f"{symbols_for().done} {_('as expected')}", "ok"),)
        did: Row = ((f"{self._did}   ", "dim"), *done) if self._did else done
        is_room = width_of(said) + width_of(did) + 2 < self.size.width
        self._problem.show(said, did if is_room else done)

    def _show_review_keys(self, failure: Failure) -> None:
        labels = {"write": ""}
        if failure.why_not_accepted or not failure.differs:
            labels |= {"accept": "", "vary": ""}
        if failure.is_new or not differing(failure.lines):
            labels["vary"] = ""
        if not failure.differs:
            labels["skip"] = ""
        if len(self.review.failures) < 2:
            labels["next"] = ""
        if not self.review.can_undo:
            labels["undo"] = ""
        self.show_keys(**labels)

    def _show_proposed(self, change: Change) -> None:
        before, after = (
            [Line(clean(one), one) for one in text.split("\n")] for text in (change.before, change.after)
        )
        sheet = SideBySide(line_pairs(before, after))
        name = clean_line(change.path.name, 100)
        self._side_heads.show(_("{file} now", file=name), _("as it will be written"))
        self._page.show(sheet)
        self._go_to_difference()
        self._show_write_keys()

    def _show_write_keys(self) -> None:
        self.show_keys(
            **dict.fromkeys(("accept", "vary", "skip", "next", "traffic", "undo"), ""),
            write=N_("write"),
            back=N_("discard"),
        )

    # ---- decisions ----

    def accept(self) -> None:
        """Write the result as the expectation; a change of its members is shown before."""
        if self._decidable() is not None:
            self._propose(self.review.accept)

    def vary(self) -> None:
        """Show what the file would have in place of the selected difference."""
        failure, sheet = self._decidable(), self._page.sheet
        if failure is None or not isinstance(sheet, SideBySide):
            return
        part = part_at(failure.lines, sheet.pair_at(self._page.cursor))
        if failure.is_new or part.steps:
            why = localized(failure.why_not_varied(part))
        elif differing(failure.lines):
            why = _("Move the cursor to a line that differs.")
        else:
            why = _("No value differs.")
        if why:
            self.notify(why, timeout=4, markup=False)
        else:
            self._propose(lambda: self.review.vary(part))

    def _decidable(self) -> Failure | None:
        """Return the current failure if its result can be accepted; otherwise say why not."""
        if self._is_busy() or (failure := self.review.current) is None:
            return None
        if why := localized(failure.why_not_accepted) or self._why_nothing(failure):
            self.notify(why, timeout=4, markup=False)
            return None
        return failure

    def _why_nothing(self, failure: Failure) -> str:
        return "" if failure.differs else _("The result is as expected.")

    def _is_busy(self) -> bool:
        """Return whether a change is written, or proposed, which is said."""
        if self._proposed is not None:
            keys = overrides_of(self.app)
            write, back = keys.first_of("review.write"), keys.first_of("review.back")
            told = _("Press {write} to write the change, or {back} to discard it.", write=write, back=back)
            self.notify(told, timeout=3)
        return self._proposed is not None or bool(self._tasks.running)

    def _propose(self, make: Callable[[], Change | None]) -> None:
        change = self._tried(make)
        if change is not None and change.is_shown:
            self._proposed = change
            self.look()
        elif change is not None:
            self._write(change)

    def _tried(self, make: Callable[[], Change | None]) -> Change | None:
        """Return a change, None if it is impossible, which is said."""
        try:
            return make()
        except McptuiError as error:
            self.notify(localized(error), severity="warning", markup=False)
            return None

    def write_proposed(self) -> None:
        if (change := self._proposed) is not None:
            self._proposed = None
            self._write(change)

    def _write(self, change: Change) -> None:
        self._tasks.start(self._written(change), "write a test file")

    async def _written(self, change: Change) -> None:
        is_undo = change.decision is Decision.OPEN
        try:
            await asyncio.to_thread(write, change.path, change.before, change.after)
        except McptuiError as error:
            self.notify(localized(error), severity="warning", markup=False)
        else:
            self.review.undone() if is_undo else self.review.made(change)
            name = clean_line(change.path.name, 60) if self.size.width >= WIDE else ""
            key = overrides_of(self.app).first_of("review.undo")
            if is_undo:
                self._did = _("undone in {file}", file=name) if name else _("undone")
            elif name:
                self._did = _("wrote {file}, {key} undoes it", file=name, key=key)
            else:
                self._did = _("wrote, {key} undoes it", key=key)
        self.look()

    def undo(self) -> None:
        if self._is_busy():
            return
        if (change := self._tried(self.review.undo)) is not None:
            self._write(change)
        else:
            self.notify(_("Nothing to undo."), timeout=3)

    def skip(self) -> None:
        """Let the current case fail. One that passes cannot."""
        if self._is_busy() or (failure := self.review.current) is None:
            return
        if why := self._why_nothing(failure):
            return self.notify(why, timeout=3)
        self._did = ""
        self.review.skip()
        self.look()

    def step(self, step: int) -> None:
        if not self._is_busy():
            self._did = ""
            self.review.step(step)
            self.look()

    def show_messages(self) -> None:
        if (failure := self.review.current) is not None:
            self._show_messages(failure)

    def copy(self) -> None:
        if (failure := self.review.current) is not None:
            self._copy(failure)

    def back(self) -> None:
        """Discard the proposed change, or close."""
        if self._proposed is not None:
            self._proposed = None
            self.look()
        else:
            self.dismiss(None)


_STYLES = {Kind.SENTENCE: "warn", Kind.STDERR: "text"}


def _notes(failure: Failure) -> Sequence[Row]:
    """Return what is known besides the values."""
    took = failure.outcome.ms
    rows: list[Row] = [((_("took {time}", time=times.duration(took)), "dim"),)] if took is not None else []
    return rows + [((localized(text), _STYLES.get(kind, "dim")),) for text, kind in failure.other_lines()]
