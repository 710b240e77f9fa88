"""The servers pane: every configured server with its state, and the keys for it.

It takes a snapshot from the host whenever the host's revision has increased. It never waits: it requests a
start or stop, and later snapshots show the progress.
"""

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from textual.binding import BindingType
from textual.geometry import Size
from textual.widget import Widget

from tui.core.secrets.redact import Redactor
from tui.core.servers import ServerStatus
from tui.core.text import clean_line
from tui.ui.chat.titled_pane import TitledPane
from tui.ui.keys.action_table import Context
from tui.ui.keys.bindings import bindings_of
from tui.ui.widgets.rows import Row, wrap
from tui.ui.widgets.server_rows import MOVING, Look, fitted, running_words, server_rows
from tui.ui.widgets.symbols import UNICODE, Symbols

if TYPE_CHECKING:
    from tui.core.context.context_parts import DefinitionTokens
    from tui.host.host import Host

SPIN_NS = 160_000_000

EMPTY_TEXT = (
    ("No servers configured.", "text"),
    ("", ""),
    ("Press a to add one, or write a starter file with mcptui config init.", "dim"),
    ("Import another program's servers with mcptui config import FILE.", "dim"),
)

MISTAKES_TEXT = (
    ("No servers.", "text"),
    ("", ""),
    ("The configuration has errors. The conversation lists them.", "dim"),
    ("To check the file again, run mcptui config check.", "dim"),
)


class ServersPane(TitledPane):
    """The list of servers. Up to `room` rows, the pane is as high as its rows, so it needs no scroll bar."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Context.SERVERS)

    FOLLOWS = False

    def __init__(
        self,
        *,
        symbols: Symbols = UNICODE,
        redactor: Redactor | None = None,
        clock: Callable[[], int] = time.monotonic_ns,
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self.symbols = symbols
        self._redactor = redactor or Redactor()
        self._clock = clock
        self._host: Host | None = None
        self._tokens: Callable[[], Mapping[str, DefinitionTokens]] = dict
        self._statuses: tuple[ServerStatus, ...] = ()
        self.room = 0
        self._rows: list[Row] = []
        self._owners: list[int] = []
        self._unfolded: set[str] = set()
        self._empty_text = EMPTY_TEXT
        self._selected = ""
        self._seen: tuple[int, ...] | None = None

    def show_host(
        self,
        host: "Host",
        redactor: Redactor | None = None,
        *,
        tokens: Callable[[], Mapping[str, "DefinitionTokens"]] = dict,
        mistakes: bool = False,
    ) -> None:
        """Show the servers of this host and the tokens of their definitions.

        `mistakes`: there may be no servers because of errors in the configuration.
        """
        self._host = host
        self._empty_text = MISTAKES_TEXT if mistakes else EMPTY_TEXT
        self._redactor = redactor or self._redactor
        self._tokens = tokens
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
        if seen != self._seen:
            changed = self._seen is None or seen[0] != self._seen[0]
            self._seen = seen
            self._update_rows(now_ns, turn, changed)

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
        for status in self._statuses:
            if status.name == self._selected:
                return status
        return self._statuses[0] if self._statuses else None

    def select(self, name: str) -> None:
        """Move the cursor to a server, which may only be in the next snapshot."""
        self._selected = name
        self._seen = None
        self.tick()
        self.show_row(self.cursor)

    def title(self) -> tuple[str, str]:
        return "SERVERS", running_words(self._statuses)

    def body_count(self) -> int:
        return len(self._rows)

    def body_row(self, index: int) -> Row:
        return self._rows[index]

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

    def on_mount(self) -> None:
        self._rebuild()

    def _update_rows(self, now_ns: int, turn: int, changed: bool) -> None:
        if changed and self._host is not None:
            before = self.title()
            self._statuses = self._host.statuses()
            if self.title() != before:
                self.title_changed()
        self._rebuild(now_ns, turn)

    def _rebuild(self, now_ns: int | None = None, turn: int = 0) -> None:
        rows, owners = self._build(self._clock() if now_ns is None else now_ns, turn)
        before, self._rows, self._owners = self._rows, rows, owners
        if not self.is_mounted:
            return
        differing = [index for index in range(min(len(before), len(rows))) if before[index] != rows[index]]
        if len(before) != len(rows):
            first = min([*differing, len(before), len(rows)])
            self.body_changed(first)
        else:
            for index in differing:
                self.body_row_changed(index)
        self._keep_cursor()

    def _keep_cursor(self) -> None:
        status = self.selected_status
        if status is None:
            return
        row = self._owners.index(self._statuses.index(status)) + 1
        if row != self.cursor:
            old, self.cursor = self.cursor, row
            self.refresh_line(old)
            self.refresh_line(row)

    def _build(self, now_ns: int, turn: int) -> tuple[list[Row], list[int]]:
        if not self._statuses:
            return self._empty_rows(), []
        names = max(cell_len(clean_line(status.name, 64)) for status in self._statuses)
        look = Look(
            columns=self.columns,
            name_cells=max(4, min(names, self.columns // 3)),
            symbols=self.symbols,
            turn=turn,
            now_ns=now_ns,
            redactor=self._redactor,
            tokens=self._tokens(),
        )
        look = fitted(self._statuses, look)
        selected = self.selected
        rows: list[Row] = []
        owners: list[int] = []
        for index, status in enumerate(self._statuses):
            name = status.name
            part = server_rows(status, look, selected=name == selected, unfolded=name in self._unfolded)
            rows.extend(part)
            owners.extend([index] * len(part))
        return rows, owners

    def _empty_rows(self) -> list[Row]:
        if self._host is None:
            return [(("Loading the configuration…", "dim"),)]
        return [row for line in self._empty_text for row in wrap((line,), self.columns)]
