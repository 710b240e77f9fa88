"""The table of turn cases and models: opens the conversation and the messages of each run."""

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import App
from textual.binding import Binding, BindingType

from tui.addons.tests.run.outcome import TurnRun
from tui.addons.tests.screens.messages import show_messages
from tui.addons.tests.screens.turn_rows import (
    TurnLine,
    conversation_head,
    heads,
    line_row,
    model_cells,
    summary,
    turn_lines,
)
from tui.addons.tests.turns.conversations import read, take_over
from tui.addons.tests.turns.last_cells import Key, LastCell, LastCells
from tui.core.conversation.sessions import Reopened
from tui.core.errors import McptuiError
from tui.core.files import short_path
from tui.core.language.translate import N_, _, localized
from tui.ui.app.app import McptuiApp
from tui.ui.chat.bridge import note_of
from tui.ui.chat.transcript.blocks import Thinking
from tui.ui.chat.transcript.flow import Block, FlowPane
from tui.ui.chat.transcript.tool_call_cards import Card
from tui.ui.chat.transcript.writer import PastWriter, Writer
from tui.ui.dialogs.dialog import LIST, Dialog, heading
from tui.ui.keys.bindings import overrides_of
from tui.ui.platform.key_order import open_once
from tui.ui.widgets.lines import LinePane
from tui.ui.widgets.rows import EMPTY, Row, wrap
from tui.ui.widgets.symbols import symbols_for

if TYPE_CHECKING:
    from tui.runtime.runtime import Runtime
    from tui.ui.chat.parts import ChatParts


class ConversationPane(FlowPane):
    """A saved conversation, without the keys that act on the one of the chat screen."""

    CURSOR = True
    DEFAULT_CSS = "ConversationPane { height: 1fr; background: $panel; scrollbar-background: $panel; }"

    def __init__(self, shown: Reopened) -> None:
        super().__init__()
        talk, flow = shown.conversation, self.flow
        writer = Writer(flow, flow.append, self.flow_changed, self.flow_changed, time.monotonic)
        PastWriter(
            writer,
            talk.messages,
            shown.unknown,
            lambda model: "",
            talk.remarks,
            lambda one: note_of(one, ""),
            time.time(),
        ).write()

    def on_mount(self) -> None:
        self.flow_changed()

    def target_chosen(self, block: Block, row: int) -> None:
        """Expand or collapse a call or a thought."""
        if isinstance(block, Card | Thinking):
            block.open = not block.open
            block.width = 0
            self.following = False
            self.flow_changed()
            self.call_later(self.show_block, block)


class TurnConversation(Dialog[bool | None]):
    """Shows a conversation. Returns True if it is to be continued on the chat screen."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("o", "open", N_("open in the chat"), priority=True)]

    SHAPE = LIST
    FITS = False

    def __init__(self, shown: Reopened, about: Row) -> None:
        self._pane = ConversationPane(shown)
        super().__init__(about, self._pane, keys=self.key_line())

    def on_mount(self) -> None:
        self.set_focus(self._pane, scroll_visible=False)

    def action_open(self) -> None:
        self.dismiss(True)


LOOK_SECONDS = 0.5
NO_CONVERSATION = N_("The conversation of this run was not saved.")
NEVER_RAN = (
    (N_("No turn case has run yet."), "text bold"),
    (
        N_(
            "A turn case is a [[turn]] of a *.mcp.toml file: a question, and the calls that a model "
            "must make."
        ),
        "dim",
    ),
    (N_("Run it with r in the list of tests, or with mcptui test."), "dim"),
)


class TurnList(LinePane):
    """The lines of the table. The cursor stays on its cell or run."""

    CURSOR = True
    FOLLOWS = False

    DEFAULT_CSS = "TurnList { height: 1fr; background: $panel; scrollbar-background: $panel; }"

    def __init__(self, chosen: Callable[[], object]) -> None:
        super().__init__(id="turns")
        self._chosen = chosen
        self._signs = symbols_for()
        self._lines: list[TurnLine] = []
        self._notes: list[Row] = []
        self._models = 0

    def show(self, cells: dict[Key, LastCell], wanted: tuple[str, str] | None = None) -> None:
        """Show these cells, with the cursor on a case, where it was, or on the first."""
        before = self.selected
        shown = {path: short_path(path) for path, _, _ in cells}
        self._lines = turn_lines(cells, shown)
        self._models = model_cells(self._lines)
        self.cursor = self._place_of(before, wanted)
        self.rewrap()
        self.rows_changed()
        self.show_row(self.cursor)

    def _place_of(self, before: TurnLine | None, wanted: tuple[str, str] | None) -> int:
        places = [at for at, one in enumerate(self._lines) if one.key is not None]
        for at in places:
            line = self._lines[at]
            if before is not None and (line.key, line.number) == (before.key, before.number):
                return at
        first = (at for at in places if (key := self._lines[at].key) is not None and key[:2] == wanted)
        return next(first, next(iter(places), 0))

    @property
    def selected(self) -> TurnLine | None:
        """The cell or run under the cursor."""
        line = self._lines[self.cursor] if self.cursor < len(self._lines) else None
        return line if line is not None and line.key is not None else None

    def rewrap(self) -> None:
        width = max(20, self.columns)
        told = [((_(text), style),) for text, style in NEVER_RAN]
        self._notes = [EMPTY, *(row for note in told for row in wrap(note, width))]

    def row_count(self) -> int:
        return len(self._lines) or len(self._notes)

    def row_selectable(self, index: int) -> bool:
        return index < len(self._lines) and self._lines[index].key is not None

    def row(self, index: int) -> Row:
        if not self._lines:
            return self._notes[index] if index < len(self._notes) else EMPTY
        if index == 0:
            return heads(self._models, self.columns)
        line, is_here = self._lines[index], index == self.cursor
        return line_row(line, self._models, self._signs, self.columns, time.time(), cursor=is_here)

    def cursor_moved(self, index: int) -> None:
        self.repaint()

    def row_chosen(self, index: int) -> None:
        self._chosen()


class TurnTable(Dialog[str | None]):
    """Returns the session of the conversation to open in the chat, or None.

    `wanted` is a file and a case in it.
    """

    TAKES = frozenset({"traffic.open"})
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", N_("conversation"), priority=True),
        Binding("f4", "messages", N_("messages"), priority=True),
    ]

    SHAPE = LIST
    FITS = False

    def __init__(self, runtime: "Runtime", wanted: tuple[str, str] | None = None) -> None:
        self._runtime = runtime
        self._wanted = wanted
        self._cells = LastCells()
        self._is_read = False
        self.list = TurnList(self.action_open)
        super().__init__(heading(_("Turn cases")), self.list, keys=self.key_line())

    def on_mount(self) -> None:
        self.set_focus(self.list, scroll_visible=False)
        self.set_interval(LOOK_SECONDS, self._look)
        self._look()

    async def on_unmount(self) -> None:
        await asyncio.to_thread(self._cells.close)

    def _look(self) -> None:
        """Follow runs of other processes."""
        if not self._is_read or self._cells.is_stale:
            self._is_read = True
            self.run_worker(self._read(), group="read", exclusive=True)

    async def _read(self) -> None:
        def read() -> dict[Key, LastCell]:
            return {key: one for key, one in self._cells.read().items() if os.path.isfile(key[0])}

        cells = await asyncio.to_thread(read)
        self.list.show(cells, self._wanted)
        self.title_line.show((*heading(_("Turn cases")), ("   ", ""), *summary(cells)))

    def action_open(self) -> None:
        """Show the conversation of the selected run."""
        line = self.list.selected
        run = line.chosen_run if line is not None else None
        if line is None or run is None or not run.session:
            self.notify(_(NO_CONVERSATION) if line is not None else _("No run is selected."), timeout=4)
        else:
            self.run_worker(self._show(line, run), group="conversation", exclusive=True)

    async def _show(self, line: TurnLine, run: TurnRun) -> None:
        try:
            shown = await read(run.session)
        except McptuiError as error:
            self.notify(localized(error), severity="warning", timeout=6, markup=False)
            return

        def done(is_wanted: bool | None) -> None:
            if is_wanted:
                self.dismiss(run.session)

        open_once(self.app, TurnConversation(shown, conversation_head(line, run)), done)

    def action_messages(self) -> None:
        """Open the traffic of the selected run."""
        line = self.list.selected
        run = line.chosen_run if line is not None else None
        if line is None or line.last is None or run is None:
            self.notify(_("No run is selected."), timeout=4)
            return
        recording, app = line.last.recording, self.app
        self.run_worker(show_messages(app, self._runtime, recording, "", turn=run.turn), group="messages")


def open_turn_table(app: App[Any], path: Path | None = None, title: str = "") -> None:
    """Open the table at a case of a file. A conversation that the user selects replaces the one on screen."""
    parts = app.main.parts if isinstance(app, McptuiApp) else None
    if parts is None or not parts.runtime.is_ready:
        return
    wanted = None if path is None else (os.path.abspath(path), title)

    def done(session: str | None) -> None:
        if session:
            app.run_worker(_opened(app, parts, session), name="open a conversation")

    open_once(app, TurnTable(parts.runtime, wanted), done)


async def _opened(app: App[Any], parts: "ChatParts", session: str) -> None:
    """Make the conversation of a run a session of the user, and open it on the chat screen."""
    conversations, current = parts.runtime.conversations, parts.current
    if problem := current.busy():
        app.notify(localized(problem), timeout=6)
        return
    try:
        await asyncio.to_thread(take_over, session, conversations.stored())
    except McptuiError as error:
        app.notify(localized(error), severity="warning", timeout=6, markup=False)
        return

    async def resume() -> None:
        await conversations.resume(session)
        current.show()
        key = overrides_of(app).first_of("chat.sessions")
        app.notify(_("This is the conversation of the run. {key} has yours.", key=key), timeout=6)

    while app.screen is not parts.regions.screen:
        app.pop_screen()
    current.change(resume())
