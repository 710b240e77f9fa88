"""The trace pane: turns, steps and tool calls as they happen.

Entries come from `spans`; the pane asks which ones changed and lays out only those. The rows of an entry are
created when they become visible, so thousands of calls cost no more than the visible ones.
"""

import time
from bisect import bisect_right
from collections.abc import Callable
from itertools import accumulate
from typing import ClassVar

from textual.binding import BindingType
from textual.cache import LRUCache

from tui.traffic.spans.span_values import CallSpan, NoteSpan, Span, StepSpan, TurnSpan
from tui.traffic.spans.spans import Spans
from tui.ui.chat.titled_pane import TitledPane
from tui.ui.chat.trace_rows import TraceLook, span_rows
from tui.ui.keys.action_table import Context
from tui.ui.keys.bindings import bindings_of
from tui.ui.widgets.rows import Row, wrap
from tui.ui.widgets.symbols import UNICODE, Symbols

EMPTY_TEXT = "Model steps and tool calls appear here, with arguments, results and times."
CACHED_ENTRIES = 256


class TracePane(TitledPane):
    """Turns, steps and calls, collapsible; follows the newest entry until the user scrolls up."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Context.TRACE)

    def __init__(
        self,
        *,
        symbols: Symbols = UNICODE,
        clock: Callable[[], int] = time.monotonic_ns,
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self.symbols = symbols
        self._spans = Spans()
        self._clock = clock
        self._seen = -1
        self._second = 0
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._sizes: list[int] = []  # entry -> number of its rows while it is visible
        self._starts: list[int] = []  # entry -> its first row
        self._parents: list[tuple[int, int]] = []  # entry -> its turn and its step, or itself
        self._toggled: set[int] = set()  # entries that the user has toggled
        self._live: set[int] = set()  # entries that are still running
        self._built: LRUCache[int, list[Row]] = LRUCache(CACHED_ENTRIES)
        self._total = 0

    def show(self, spans: Spans) -> None:
        self._spans = spans
        self._seen = -1
        self.tick()

    def tick(self) -> None:
        """Repaint what changed; called many times a second, cheap if nothing changed."""
        if not self.is_mounted or not self.display:
            return
        # Without a width, the text of an empty pane needs many rows: a scroll bar would flash up.
        if self._spans.revision != self._seen and (self.size or self._spans.entries):
            self._update_rows()
        second = self._clock() // 1_000_000_000
        if self._live and second != self._second:
            for entry in self._live:
                self._built.discard(entry)
                self._repaint(entry)
        self._second = second

    def title(self) -> tuple[str, str]:
        if not self._spans.turns:
            return "TRACE", ""
        turn = f"turn {self._spans.turns}"
        return "TRACE", turn if self.following else f"{turn}, press end to follow"

    def body_count(self) -> int:
        return self._total if self._sizes else len(self._empty_rows())

    def body_row(self, index: int) -> Row:
        if not self._sizes:
            return self._empty_rows()[index]
        entry = self._entry_at(index)
        rows, at = self._rows_of(entry), index - self._starts[entry]
        # An entry may now have fewer rows than were counted; the next tick counts again.
        return rows[at] if at < len(rows) else ()

    def row_selectable(self, index: int) -> bool:
        """Turns, steps and calls are selectable, but not the rows inside them."""
        if index < 1 or index > self._total:
            return False
        entry = self._entry_at(index - 1)
        return self._head_row(entry) == index - 1 and not isinstance(self._spans.entries[entry], NoteSpan)

    def row_ground(self, index: int) -> str:
        """Highlight the selected row only while the pane has the focus: otherwise, no key acts on it."""
        return super().row_ground(index) if self.has_focus else ""

    @property
    def selected(self) -> Span | None:
        entries = self._spans.entries
        return entries[self._entry_at(self.cursor - 1)] if entries else None

    def go_to_turn(self, turn: int, step: int) -> bool:
        """Select a step of a turn, by its number in the traffic, or the turn.

        Return False if there is none.
        """
        found, number = -1, 0
        for index, span in enumerate(self._spans.entries[: len(self._sizes)]):
            if isinstance(span, TurnSpan) and span.traffic == turn:
                found, number = index, span.number
            elif isinstance(span, StepSpan) and (span.turn, span.number) == (number, step):
                found = index
        if found < 0:
            return False
        self.following = False
        self.move_cursor(self._head_row(found) + 1)
        return True

    def row_chosen(self, index: int) -> None:
        entry = self._entry_at(index - 1)
        self._toggled ^= {entry}
        self._measure([entry])
        if not isinstance(self._spans.entries[entry], CallSpan):
            self._place_from(entry)
        self.cursor = self._head_row(entry) + 1
        self.show_row(self.cursor, self._sizes[entry])
        self.following = round(self.scroll_y) >= self.max_scroll_y
        self.title_changed()

    def rewrap(self) -> None:
        """Only expanded calls and errors wrap; the others keep their number of rows."""
        self._built.clear()
        self._measure([entry for entry in range(len(self._sizes)) if self._wraps(entry)])

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self.drop_row(0)

    def on_mount(self) -> None:
        self._update_rows()

    def _update_rows(self) -> None:
        changed = self._spans.changed_since(self._seen)
        if changed is None or self._seen < 0:
            self._begin_anew()
            changed = list(range(len(self._spans.entries)))
        self._seen = self._spans.revision
        for entry in changed:
            if entry >= len(self._parents):
                self._parents.append(self._parents_of(entry))
                self._sizes.append(0)
                self._starts.append(self._total)
            if self._runs(entry):
                self._live.add(entry)
            else:
                self._live.discard(entry)
        self._measure(changed)
        self.title_changed()

    def _measure(self, entries: list[int]) -> None:
        """Count the rows of these entries (ascending) again, move the entries below, and repaint."""
        moved: int | None = None
        for entry in entries:
            self._built.discard(entry)
            size = len(self._rows_of(entry))
            if size != self._sizes[entry] and moved is None:
                moved = entry
            self._sizes[entry] = size
        for entry in entries:
            if moved is not None and entry >= moved:
                break
            self._repaint(entry)
        if moved is not None:
            self._place_from(moved)
        elif not self._sizes:
            self.body_changed()

    def _place_from(self, first: int) -> None:
        """Recompute the positions of the entries from `first` on."""
        was_empty = not self._total
        kept = 0 if was_empty else self._entry_at(self.cursor - 1)
        heights = [self._height(entry) for entry in range(first, len(self._sizes))]
        ends = list(accumulate(heights, initial=self._starts[first]))
        self._starts[first:] = ends[:-1]
        self._total = ends[-1]
        self._keep_cursor(kept)
        self.body_changed(0 if was_empty else self._starts[first])

    def _height(self, entry: int) -> int:
        return 0 if self._folded_away(entry) else self._sizes[entry]

    def _repaint(self, entry: int) -> None:
        for row in range(self._starts[entry], self._starts[entry] + self._height(entry)):
            self.body_row_changed(row)

    def _keep_cursor(self, entry: int) -> None:
        if self.following and not self.has_focus:
            entry = len(self._sizes) - 1
        turn, step = self._parents[entry]
        if isinstance(self._spans.entries[entry], NoteSpan) or self._folded_away(entry):
            entry = turn if self._folded_away(step) else step
        self.cursor = self._head_row(entry) + 1

    def _parents_of(self, entry: int) -> tuple[int, int]:
        if isinstance(self._spans.entries[entry], TurnSpan):
            return entry, entry
        turn, step = self._parents[entry - 1]
        return turn, entry if isinstance(self._spans.entries[entry], StepSpan) else step

    def _folded_away(self, entry: int) -> bool:
        turn, step = self._parents[entry]
        return (entry != turn and turn in self._toggled) or (
            entry not in (turn, step) and step in self._toggled
        )

    def _runs(self, entry: int) -> bool:
        match self._spans.entries[entry]:
            case CallSpan() as call:
                return not call.state.over
            case StepSpan() as step:
                return step.ms is None and not step.state.over
            case _:
                return False

    def _wraps(self, entry: int) -> bool:
        span = self._spans.entries[entry]
        return isinstance(span, NoteSpan) or (isinstance(span, CallSpan) and entry in self._toggled)

    def _rows_of(self, entry: int) -> list[Row]:
        rows = self._built.get(entry)
        if rows is None:
            span = self._spans.entries[entry]
            toggled = entry in self._toggled
            look = TraceLook(self.columns, self.symbols, self._clock())
            open = toggled if isinstance(span, CallSpan) else not toggled
            rows = span_rows(span, look, open=open, first=entry == 0)
            self._built[entry] = rows
        return rows

    def _entry_at(self, row: int) -> int:
        # Hidden entries have the same start as the next one; the last entry with that start has the rows.
        entry = max(0, bisect_right(self._starts, row) - 1)
        while entry and not self._height(entry):
            entry -= 1
        return entry

    def _head_row(self, entry: int) -> int:
        """Return the row by which an entry is selected: its first row that is not blank."""
        blank = isinstance(self._spans.entries[entry], TurnSpan) and entry > 0
        return self._starts[entry] + blank

    def _empty_rows(self) -> list[Row]:
        return wrap(((EMPTY_TEXT, "dim"),), self.columns)
