"""The trace pane: turns, steps and tool calls as they happen.

Entries come from `spans`; the pane asks which ones changed and lays out only those. Each is a block of a
flow, whose rows are kept only while they are visible, so thousands of calls need little memory.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

from textual.binding import BindingType

from tui.traffic.spans.span_values import CallSpan, NoteSpan, Span, StepSpan, TurnSpan
from tui.traffic.spans.spans import Spans
from tui.ui.chat.titled_pane import TitledPane
from tui.ui.chat.trace_rows import TraceLook, span_rows
from tui.ui.chat.transcript.flow import Block, Flow
from tui.ui.keys.action_table import Context
from tui.ui.keys.bindings import bindings_of
from tui.ui.widgets.rows import Row, wrap
from tui.ui.widgets.symbols import UNICODE, Symbols

EMPTY_TEXT = "Model steps and tool calls appear here, with arguments, results and times."


class _Entry(Block):
    """A turn, a step, a call or a note; `rows_of` returns the rows of the entry with its index."""

    def __init__(self, index: int, rows_of: "Callable[[int], Sequence[Row]]") -> None:
        super().__init__(gap=0)
        self._index = index
        self._rows_of = rows_of

    def wrap(self, width: int) -> Sequence[Row]:
        return self._rows_of(self._index)


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
        self._flow = Flow(self.columns)  # a block for each entry, without rows while it is folded away
        self._is_laid_out = False
        self._parents: list[tuple[int, int]] = []  # entry -> its turn and its step, or itself
        self._toggled: set[int] = set()  # entries that the user has toggled
        self._live: set[int] = set()  # entries that are still running

    def show(self, spans: Spans) -> None:
        """Show these spans from their first entry: a hidden pane must not keep the rows of others."""
        self._spans = spans
        self._begin_anew()
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
            self._lay_out(self._live)
        self._second = second

    def title(self) -> tuple[str, str]:
        if not self._spans.turns:
            return "TRACE", ""
        turn = f"turn {self._spans.turns}"
        return "TRACE", turn if self.following else f"{turn}, press end to follow"

    def body_count(self) -> int:
        return self._flow.height if self._flow.blocks else len(self._empty_rows())

    def body_row(self, index: int) -> Row:
        return self._flow.row(index) if self._flow.blocks else self._empty_rows()[index]

    def row_selectable(self, index: int) -> bool:
        """Turns, steps and calls are selectable, but not the rows inside them."""
        if index < 1 or index > self._flow.height:
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
        for index, span in enumerate(self._spans.entries[: len(self._flow.blocks)]):
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
        is_call = isinstance(self._spans.entries[entry], CallSpan)
        self._lay_out([entry] if is_call else range(entry, len(self._flow.blocks)))
        self.cursor = self._head_row(entry) + 1
        self.show_row(self.cursor, self._flow.blocks[entry].height)
        self.following = round(self.scroll_y) >= self.max_scroll_y
        self.title_changed()

    def rewrap(self) -> None:
        """Only expanded calls and errors wrap; the others keep their number of rows."""
        self._flow.width = self.columns
        for block in self._flow.blocks:
            block.rows, block.width = None, self.columns
        self._lay_out(entry for entry in range(len(self._flow.blocks)) if self._wraps(entry))

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
                self._flow.append(_Entry(entry, self._rows_of))
            if self._runs(entry):
                self._live.add(entry)
            else:
                self._live.discard(entry)
        self._lay_out(changed)
        self.title_changed()

    def _lay_out(self, entries: Iterable[int]) -> None:
        """Lay out these entries again, move the entries below, and repaint."""
        flow = self._flow
        again = list(entries)
        was_empty = not self._is_laid_out
        kept = 0 if was_empty else self._entry_at(self.cursor - 1)
        before, sizes = flow.height, [flow.blocks[entry].height for entry in again]
        for entry in again:
            flow.blocks[entry].width = 0
        first = flow.settle(again)
        self._is_laid_out = bool(flow.blocks)
        if flow.height != before or sizes != [flow.blocks[entry].height for entry in again] or was_empty:
            self._keep_cursor(kept)
            self.body_changed(0 if was_empty else first)
            return
        for entry in again:
            for row in range(flow.top(entry), flow.top(entry + 1)):
                self.body_row_changed(row)

    def _keep_cursor(self, entry: int) -> None:
        if not self._flow.blocks:
            return
        if self.following and not self.has_focus:
            entry = len(self._flow.blocks) - 1
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

    def _rows_of(self, entry: int) -> Sequence[Row]:
        if self._folded_away(entry):
            return ()
        span, toggled = self._spans.entries[entry], entry in self._toggled
        look = TraceLook(self.columns, self.symbols, self._clock())
        open = toggled if isinstance(span, CallSpan) else not toggled
        return span_rows(span, look, open=open, first=entry == 0)

    def _entry_at(self, row: int) -> int:
        entry = self._flow.find(row)
        while entry and not self._flow.blocks[entry].height:
            entry -= 1
        return entry

    def _head_row(self, entry: int) -> int:
        """Return the row by which an entry is selected: its first row that is not blank."""
        blank = isinstance(self._spans.entries[entry], TurnSpan) and entry > 0
        return self._flow.top(entry) + blank

    def _empty_rows(self) -> list[Row]:
        return wrap(((EMPTY_TEXT, "dim"),), self.columns)
