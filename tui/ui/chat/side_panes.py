"""The panes beside the conversation: the servers with their states, and the trace of turns, steps and calls.

Neither waits for anything. They look at the host and at the spans whenever their revision has increased, and
lay out only what changed. Entries of the trace are blocks of a flow, whose rows are kept only while they are
visible, so thousands of calls need little memory.
"""

import time
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

from textual import events
from textual.binding import BindingType
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from tui.core.context.context_parts import DefinitionTokens
from tui.core.language.translate import N_, _
from tui.core.servers import ServerStatus
from tui.core.text import cells_of, clean_line
from tui.host.host import Host
from tui.traffic.spans.span_values import CallSpan, NoteSpan, Span, StepSpan, TurnSpan
from tui.traffic.spans.spans import Spans
from tui.ui.chat.trace_rows import TraceLook, span_rows
from tui.ui.chat.transcript.flow import Block, Flow
from tui.ui.keys.action_table import Context
from tui.ui.keys.bindings import bindings_of
from tui.ui.widgets.lines import LinePane
from tui.ui.widgets.rows import Row, spread, wrap
from tui.ui.widgets.server_rows import MOVING, Look, fitted, running_words, server_rows
from tui.ui.widgets.symbols import symbols_for

SPIN_NS = 160_000_000

NO_SERVERS = (
    (N_("No servers configured."), "text"),
    ("", ""),
    (N_("Press a to add one, or write a starter file with mcptui config init."), "dim"),
    (N_("Import another program's servers with mcptui config import FILE."), "dim"),
)

MISTAKES = (
    (N_("No servers."), "text"),
    ("", ""),
    (N_("The configuration has errors. The conversation lists them."), "dim"),
    (N_("To check the file again, run mcptui config check."), "dim"),
)

NO_TURNS = N_("Model steps and tool calls appear here, with arguments, results and times.")


class TitledPane(LinePane):
    """A `LinePane` whose first line is its title: a name on the left, a summary on the right.

    Row 0 is the title, rows of the body start at 1. A subclass implements `title`, sets `_shown_rows` or
    implements `body_count` and `body_row`, and reports changes with `body_changed` or `body_row_changed`.
    """

    CURSOR = True

    def __init__(self, *, clock: Callable[[], int] = time.monotonic_ns, id: str | None = None) -> None:
        super().__init__(id=id)
        self._symbols = symbols_for()
        self._clock = clock

    @abstractmethod
    def title(self) -> tuple[str, str]:
        """Return the title and the text at its right end, both cleaned."""

    def body_count(self) -> int:
        return len(self._shown_rows)

    def body_row(self, index: int) -> Row:
        """Return a row of the body, counted from 0."""
        return self._shown_rows[index]

    def title_changed(self) -> None:
        self.drop_row(0)
        self.refresh_line(self.scroll_offset.y)

    def body_changed(self, start: int = 0) -> None:
        """Handle rows of the body from `start` on that are new, changed or removed."""
        self.rows_changed(start + 1)
        self.cursor = max(1, self.cursor)

    def body_row_changed(self, index: int) -> None:
        self.drop_row(index + 1)
        self.refresh_line(index + 1)

    def row_count(self) -> int:
        return self.body_count() + 1

    def row(self, index: int) -> Row:
        if index:
            return self.body_row(index - 1)
        name, note = self.title()
        style = "accent bold" if self.has_focus else "dim bold"
        return spread(((name, style),), ((note, "dim"),), self.columns)

    def render_line(self, y: int) -> Strip:
        return super().render_line(y or -self.scroll_offset.y)

    def show_row(self, index: int, rows: int = 1) -> None:
        if index <= round(self.scroll_y):
            index, rows = max(0, index - 1), rows + 1
        super().show_row(index, rows)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Repaint the title in place, because scrolling moves all lines."""
        super().watch_scroll_y(old_value, new_value)
        self.drop_row(0)
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        if event.y == 0:
            event.prevent_default()

    def on_focus(self) -> None:
        self.title_changed()

    on_blur = on_focus


class ServersPane(TitledPane):
    """The list of servers. Up to `room` rows, the pane is as high as its rows, so it needs no scroll bar."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Context.SERVERS)

    FOLLOWS = False
    _host: Host | None = None
    _seen: tuple[int, ...] | None = None
    _selected = ""
    room = 0

    def __init__(self, **look: Any) -> None:
        super().__init__(**look)
        self._tokens: Callable[[], Mapping[str, DefinitionTokens]] = dict
        self._attached: Callable[[], Mapping[str, str]] = dict
        self._statuses: tuple[ServerStatus, ...] = ()
        self._owners: list[int] = []
        self._unfolded: set[str] = set()
        self._empty_text = NO_SERVERS

    def show_host(
        self,
        host: Host,
        *,
        tokens: Callable[[], Mapping[str, DefinitionTokens]] = dict,
        attached: Callable[[], Mapping[str, str]] = dict,
        mistakes: bool = False,
    ) -> None:
        """Show the servers of this host, the tokens of their definitions, and what is attached to them.

        `mistakes`: there may be no servers because of errors in the configuration.
        """
        self._host = host
        self._empty_text = MISTAKES if mistakes else NO_SERVERS
        self._tokens = tokens
        self._attached = attached
        self.tick()

    def tick(self) -> None:
        """Repaint what changed; called many times a second, cheap if nothing changed.

        Uptimes count seconds; the sign of a server that starts or stops spins unless animations are off.
        Nothing is drawn while the pane is hidden.
        """
        if self._host is None or not self.is_mounted or not self.display:
            return
        now_ns = self._clock()
        moving = any(status.state in MOVING for status in self._statuses)
        turn = now_ns // SPIN_NS if moving and self.app.animation_level != "none" else 0
        seen = (self._host.revision, now_ns // 1_000_000_000, turn, self.columns, id(self._tokens()))
        if seen == self._seen:
            return
        if self._seen is None or seen[0] != self._seen[0]:
            before, self._statuses = self.title(), self._host.statuses()
            if self.title() != before:
                self.title_changed()
        self._seen = seen
        self._rebuild(turn)

    def _resize_rows(self, height: int) -> None:
        """Change the number of rows without a scroll bar: the next layout makes the pane higher.

        A bar that appears now and disappears with that layout would cost a second layout and repaint the
        whole screen.
        """
        if height > self.room or self.show_vertical_scrollbar:
            super()._resize_rows(height)
        else:
            self.set_reactive(Widget.virtual_size, Size(self.columns, height))

    @property
    def selected(self) -> str | None:
        status = self.selected_status
        return status.name if status is not None else None

    @property
    def selected_status(self) -> ServerStatus | None:
        found = (status for status in self._statuses if status.name == self._selected)
        return next(found, self._statuses[0] if self._statuses else None)

    def select(self, name: str) -> None:
        """Move the cursor to a server, which may only be in the next snapshot."""
        self._selected = name
        self._seen = None
        self.tick()
        self.show_row(self.cursor)

    def title(self) -> tuple[str, str]:
        return _("SERVERS"), running_words(self._statuses)

    def row_selectable(self, index: int) -> bool:
        return 0 < index <= len(self._owners) and (
            index == 1 or self._owners[index - 2] != self._owners[index - 1]
        )

    def cursor_moved(self, index: int) -> None:
        self._selected = self._statuses[self._owners[index - 1]].name
        self._rebuild()

    def row_chosen(self, index: int) -> None:
        self._unfolded ^= {self._statuses[self._owners[index - 1]].name}
        self._rebuild()

    def rewrap(self) -> None:
        self._rebuild()

    on_mount = rewrap

    def _rebuild(self, turn: int = 0) -> None:
        """Lay out all rows and repaint those that changed; `turn` counts the frames of the spinner."""
        before = self._shown_rows
        self._shown_rows, self._owners = self._build(turn)
        if not self.is_mounted:
            return
        if len(before) != len(self._shown_rows):
            self.body_changed()
        else:
            for index, (old, new) in enumerate(zip(before, self._shown_rows, strict=True)):
                if old != new:
                    self.body_row_changed(index)
        if (status := self.selected_status) is not None:
            row = self._owners.index(self._statuses.index(status)) + 1
            if row != self.cursor:
                old_row, self.cursor = self.cursor, row
                self.refresh_line(old_row)
                self.refresh_line(row)

    def _build(self, turn: int) -> tuple[list[Row], list[int]]:
        """Return the rows, and for each the index of its server."""
        if self._host is None:
            return [((_("Loading the configuration…"), "dim"),)], []
        if not self._statuses:
            lines = [((_(line), style),) for line, style in self._empty_text]
            return [row for line in lines for row in wrap(line, self.columns)], []
        names = max(cells_of(clean_line(status.name, 64)) for status in self._statuses)
        base = Look(
            columns=self.columns,
            name_cells=max(4, min(names, self.columns // 3)),
            turn=turn,
            now_ns=self._clock(),
            tokens=self._tokens(),
            attached=self._attached(),
        )
        look, selected = fitted(self._statuses, base), self.selected
        rows: list[Row] = []
        owners: list[int] = []
        for index, status in enumerate(self._statuses):
            name = status.name
            part = server_rows(status, look, selected=name == selected, unfolded=name in self._unfolded)
            rows.extend(part)
            owners.extend([index] * len(part))
        return rows, owners


class _Entry(Block):
    """A turn, a step, a call or a note; `rows_of` returns the rows of the entry with its index."""

    def __init__(self, index: int, rows_of: "Callable[[int], Sequence[Row]]") -> None:
        super().__init__(gap=0)
        self.height = 0  # until it is laid out
        self._index = index
        self._rows_of = rows_of

    def wrap(self, width: int) -> Sequence[Row]:
        return self._rows_of(self._index)


class TracePane(TitledPane):
    """Turns, steps and calls, collapsible; follows the newest entry until the user scrolls up."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Context.TRACE)

    def __init__(self, **look: Any) -> None:
        super().__init__(**look)
        self.spans = Spans()
        self.moved: Callable[[], None] = lambda: None
        """Called when the cursor moves, and when the pane gets or loses the focus."""
        self._seen = -1
        self._second = 0
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._flow = Flow(self.columns)  # a block for each entry, without rows while it is folded away
        self._parents: list[tuple[int, int]] = []  # entry -> its turn and its step, or itself
        self._toggled: set[int] = set()  # entries that the user has toggled
        self._live: set[int] = set()  # entries that are still running

    def replace(self, turns: Sequence[Span] = ()) -> None:
        """Show only these turns and what follows: a hidden pane must not keep the rows of others."""
        self.spans.clear(turns)
        self._begin_anew()
        self._seen = -1
        self.tick()

    def tick(self) -> None:
        """Repaint what changed; called many times a second, cheap if nothing changed."""
        if not self.is_mounted or not self.display:
            return
        # Without a width, the text of an empty pane needs many rows: a scroll bar would flash up.
        if self.spans.revision != self._seen and (self.size or self.spans.entries):
            self._update_rows()
        second = self._clock() // 1_000_000_000
        if self._live and second != self._second:
            self._lay_out(self._live)
        self._second = second

    def title(self) -> tuple[str, str]:
        if not self.spans.turns:
            return _("TRACE"), ""
        turn = _("turn {n}", n=self.spans.turns)
        return _("TRACE"), turn if self.following else _("{turn}, press end to follow", turn=turn)

    def body_count(self) -> int:
        return self._flow.height if self._flow.blocks else len(self._empty_rows())

    def body_row(self, index: int) -> Row:
        return self._flow.row(index) if self._flow.blocks else self._empty_rows()[index]

    def row_selectable(self, index: int) -> bool:
        """Turns, steps and calls are selectable, but not the rows inside them."""
        if index < 1 or index > self._flow.height:
            return False
        entry = self._entry_at(index - 1)
        return self._head_row(entry) == index - 1 and not isinstance(self.spans.entries[entry], NoteSpan)

    def row_ground(self, index: int) -> str:
        """Highlight the selected row only while the pane has the focus: otherwise, no key acts on it."""
        return super().row_ground(index) if self.has_focus else ""

    def cursor_moved(self, index: int) -> None:
        self.moved()

    def on_focus(self) -> None:
        self.call_later(self.moved)  # once `has_focus` is set

    on_blur = on_focus

    @property
    def selected(self) -> Span | None:
        entries = self.spans.entries
        return entries[self._entry_at(self.cursor - 1)] if entries else None

    def go_to_turn(self, turn: int, step: int) -> bool:
        """Select a step of a turn, by its number in the traffic, or the turn; return False without one."""
        found, number = -1, 0
        for index, span in enumerate(self.spans.entries[: len(self._flow.blocks)]):
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
        is_call = isinstance(self.spans.entries[entry], CallSpan)
        self._lay_out([entry] if is_call else range(entry, len(self._flow.blocks)))
        self.cursor = self._head_row(entry) + 1
        self.show_row(self.cursor, self._flow.blocks[entry].height)
        self.following = round(self.scroll_y) >= self.max_scroll_y
        self.title_changed()

    def rewrap(self) -> None:
        """Only expanded calls and errors wrap; the others keep their number of rows."""
        self.call_later(self.moved)
        self._flow.width = self.columns
        for block in self._flow.blocks:
            block.rows, block.width = None, self.columns
        spans = enumerate(self.spans.entries[: len(self._flow.blocks)])
        self._lay_out(
            entry
            for entry, span in spans
            if isinstance(span, NoteSpan) or (isinstance(span, CallSpan) and entry in self._toggled)
        )

    def on_mount(self) -> None:
        self._update_rows()

    def _update_rows(self) -> None:
        changed, spans = self.spans.changed_since(self._seen), self.spans.entries
        if changed is None or self._seen < 0:
            self._begin_anew()
            changed = list(range(len(spans)))
        self._seen = self.spans.revision
        for entry in changed:
            if entry >= len(self._parents):
                step_of = self._parents[-1] if self._parents else (entry, entry)
                turn = entry if isinstance(spans[entry], TurnSpan) else step_of[0]
                opens = isinstance(spans[entry], TurnSpan | StepSpan)
                self._parents.append((turn, entry if opens else step_of[1]))
                self._flow.append(_Entry(entry, self._rows_of))
            span = spans[entry]
            runs = isinstance(span, CallSpan | StepSpan) and span.ms is None and not span.state.over
            (self._live.add if runs else self._live.discard)(entry)
        self._lay_out(changed)
        self.title_changed()

    def _lay_out(self, entries: Iterable[int]) -> None:
        """Lay out these entries again, move the entries below, and repaint."""
        flow = self._flow
        again = list(entries)
        was_empty = not flow.height
        kept = 0 if was_empty else self._entry_at(self.cursor - 1)
        before, sizes = flow.height, [flow.blocks[entry].height for entry in again]
        for entry in again:
            flow.blocks[entry].width = 0
        first = flow.settle(again)
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
        if isinstance(self.spans.entries[entry], NoteSpan) or self._folded_away(entry):
            entry = turn if self._folded_away(step) else step
        self.cursor = self._head_row(entry) + 1

    def _folded_away(self, entry: int) -> bool:
        turn, step = self._parents[entry]
        return (entry != turn and turn in self._toggled) or (
            entry not in (turn, step) and step in self._toggled
        )

    def _rows_of(self, entry: int) -> Sequence[Row]:
        if self._folded_away(entry):
            return ()
        span, toggled = self.spans.entries[entry], entry in self._toggled
        look = TraceLook(self.columns, self._symbols, self._clock())
        open = toggled if isinstance(span, CallSpan) else not toggled
        return span_rows(span, look, open=open, first=entry == 0)

    def _entry_at(self, row: int) -> int:
        entry = self._flow.find(row)
        while entry and not self._flow.blocks[entry].height:
            entry -= 1
        return entry

    def _head_row(self, entry: int) -> int:
        """Return the row by which an entry is selected: its first row that is not blank."""
        blank = isinstance(self.spans.entries[entry], TurnSpan) and entry > 0
        return self._flow.top(entry) + blank

    def _empty_rows(self) -> list[Row]:
        return wrap(((_(NO_TURNS), "dim"),), self.columns)
