"""What one server wrote to stderr, live, with the keys that steer the server."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widgets import Input

from tui.core.servers import ServerState, ServerStatus
from tui.core.text import clean_line
from tui.core.units import plural
from tui.ui.panes.bar import Bar, spread
from tui.ui.panes.log_lines import LogLines
from tui.ui.panes.server_rows import reason_words
from tui.ui.panes.servers import toggle
from tui.ui.ports import HostView
from tui.ui.widgets.rows import Row

LOOKS_PER_SECOND = 8

_KEYS = (
    ("esc", "back"),
    ("/", "search"),
    ("n N", "next, last"),
    ("w", "wrap"),
    ("c", "copy"),
    ("s", "start/stop"),
    ("r", "restart"),
    ("end", "follow"),
)

_STATE_STYLES = {
    ServerState.RUNNING: "ok",
    ServerState.STARTING: "warn",
    ServerState.STOPPING: "warn",
    ServerState.STOPPED: "dim",
}


class _Title(Bar):
    """Whose log it is, how the server is doing, and where in the log one is."""

    left: Row = ()
    right: Row = ()

    def row(self, width: int) -> Row:
        return spread((*self.left,), self.right, width)


class _Keys(Bar):
    def row(self, width: int) -> Row:
        return tuple(part for key, words in _KEYS for part in ((key, "accent"), (f" {words}   ", "dim")))


class LogScreen(ModalScreen[None]):
    """The stderr of one server.

    Args:
        host: the servers.
        server: name of the one whose log is shown.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "back", "back"),
        Binding("slash", "search", "search"),
        Binding("n", "next(1)", "next"),
        Binding("N", "next(-1)", "last"),
        Binding("w", "wrap", "wrap"),
        Binding("c", "copy", "copy"),
        Binding("s", "start_stop", "start/stop", id="servers.toggle"),
        Binding("r", "restart", "restart", id="servers.restart"),
    ]

    DEFAULT_CSS = """
    LogScreen { background: $surface; layout: vertical; }
    LogScreen > Bar { padding: 0 1; background: $panel; }
    LogScreen > LogLines { height: 1fr; padding: 0 1; background: $surface; }
    LogScreen > Input { height: 1; border: none; padding: 0 1; background: $panel; display: none; }
    LogScreen > Input.-open { display: block; }
    """

    def __init__(self, host: HostView, server: str) -> None:
        super().__init__()
        self._host = host
        self._server = server
        shown = clean_line(server, 64)
        self._title = _Title()
        self._lines = LogLines(empty=f"{shown} has written nothing to stderr yet.", id="log-lines")
        self._input = Input(placeholder="search in this log", max_length=200)

    def compose(self) -> ComposeResult:
        """Build title, lines, search line and keys."""
        yield self._title
        yield self._lines
        yield self._input
        yield _Keys()

    def on_mount(self) -> None:
        """Begin to look."""
        self._lines.focus()
        self.look()
        self.set_interval(1 / LOOKS_PER_SECOND, self.look)

    def look(self) -> None:
        """Show what is new; cheap if nothing is."""
        self._lines.show(self._host.stderr(self._server))
        left, right = self._title_rows()
        if (left, right) != (self._title.left, self._title.right):
            self._title.left, self._title.right = left, right
            self._title.refresh()

    def action_back(self) -> None:
        """Close the search, or the log."""
        if self._input.has_class("-open"):
            self._end_search()
            self._lines.search("")
            self.look()
        else:
            self.dismiss(None)

    def action_search(self) -> None:
        """Open the search line."""
        self._input.add_class("-open")
        self._input.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Search while the person types."""
        self._lines.search(event.value)
        self.look()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go back to the lines; the marks stay."""
        self._lines.focus()

    def action_next(self, direction: int) -> None:
        """Go to the next or the last find."""
        self._lines.next_hit(direction)
        self.look()

    def action_wrap(self) -> None:
        """Break long lines, or cut them."""
        self._lines.toggle_wrap()

    def action_copy(self) -> None:
        """Copy the whole log."""
        text = self._lines.text
        self.app.copy_to_clipboard(text)
        self.notify(f"copied {plural(text.count(chr(10)) + bool(text), 'line')}", markup=False)

    def action_start_stop(self) -> None:
        """Start or stop the server."""
        status = self._status()
        if status is not None:
            toggle(self._host, status)
            self.look()

    def action_restart(self) -> None:
        """Stop the server and start it again."""
        self._host.request_restart(self._server)
        self.look()

    def _end_search(self) -> None:
        self._input.remove_class("-open")
        with self.prevent(Input.Changed):
            self._input.value = ""
        self._lines.focus()

    def _status(self) -> ServerStatus | None:
        return next((found for found in self._host.statuses() if found.name == self._server), None)

    def _title_rows(self) -> tuple[Row, Row]:
        left: Row = (("LOG ", "dim bold"), (clean_line(self._server, 64), "accent bold"))
        status = self._status()
        if status is not None:
            why = f" {reason_words(status)}" if status.state is ServerState.STOPPED else ""
            style = "bad" if status.failed else _STATE_STYLES[status.state]
            left = (*left, (f"   {status.state}{why}", style))
        where = "following" if self._lines.following else "end follows"
        found = f"{self._lines.found}   " if self._lines.found else ""
        return left, ((found, "accent"), (where, "dim"))
