"""The log screen: the stderr of one server, live."""

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import ModalScreen

from tui.core.servers import ServerState, ServerStatus, not_configured
from tui.core.text import clean_line
from tui.core.units import plural
from tui.ui.keys.action_table import Context, of_context
from tui.ui.keys.bindings import bindings_of
from tui.ui.keys.footer import Footer, entries_of
from tui.ui.keys.key_overrides import KeyOverrides
from tui.ui.platform import clipboard
from tui.ui.widgets.bar import SplitBar, key_cap
from tui.ui.widgets.inputs import PromptLine
from tui.ui.widgets.rows import Row
from tui.ui.widgets.server_rows import STATE_STYLES, reason_words, toggle_server
from tui.ui.workbench.log_tab import LogLines

if TYPE_CHECKING:
    from tui.host.host import Host


LOOKS_PER_SECOND = 8
LOCAL = "No log output from this server yet."
REMOTE = "This server is remote and keeps its own log. Its messages are in the traffic."


class LogScreen(ModalScreen[None]):
    """The stderr of one server."""

    CONTEXTS = (Context.LOG,)
    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Context.LOG)
    stays = str

    DEFAULT_CSS = """
    LogScreen { background: $surface; layout: vertical; }
    LogScreen > Bar { padding: 0 1; background: $panel; }
    LogScreen > LogLines { height: 1fr; padding: 0 1; background: $surface; }
    """

    def __init__(self, host: "Host", server: str, overrides: KeyOverrides) -> None:
        super().__init__()
        self._host = host
        self._server = server
        self._overrides = overrides
        self._title = SplitBar()
        self._keys = Footer()
        self._keys.show(entries_of(of_context(Context.LOG), overrides))
        self._lines = LogLines(empty=LOCAL, id="log-lines")
        self._prompt = PromptLine()

    def compose(self) -> ComposeResult:
        yield self._title
        yield self._lines
        yield self._prompt
        yield self._keys

    def on_mount(self) -> None:
        self.set_focus(self._lines, scroll_visible=False)
        self.look()
        self.set_interval(1 / LOOKS_PER_SECOND, self.look)

    def look(self) -> None:
        """Show new lines; cheap if there are none."""
        if (status := self._host.find(self._server)) is not None:  # otherwise the last lines stay readable
            self._lines.show_empty(REMOTE if status.spec.url else LOCAL)
            self._lines.show(self._host.stderr(self._server))
        self._title.show(*self._title_rows())

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While the user types in the search line, every key is for it."""
        return not self._prompt.display and super().check_action(action, parameters)

    def action_log_back(self) -> None:
        if self._lines.sought:
            self._seek("")
        else:
            self.dismiss(None)

    def action_log_search(self) -> None:
        self._prompt.ask(
            "search",
            self._seek,
            value=self._lines.sought,
            placeholder="text in this log",
            typed=self._seek,
            cancelled=partial(self._seek, ""),
            replaces=True,
        )

    def _seek(self, text: str) -> None:
        if text != self._lines.sought or not text:
            self._lines.search(text)
        self.look()

    def action_log_find(self, direction: int) -> None:
        self._lines.next_hit(direction)
        self.look()

    def action_log_wrap(self) -> None:
        self._lines.toggle_wrap()

    def action_log_copy(self) -> None:
        text = self._lines.text
        clipboard.copy(self.app, text, plural(text.count("\n") + bool(text), "line"))

    def action_log_toggle(self) -> None:
        if (status := self._configured()) is not None:
            toggle_server(self._host, status)
            self.look()

    def action_log_restart(self) -> None:
        if self._configured() is not None:
            self._host.request_restart(self._server)
            self.look()

    def _configured(self) -> ServerStatus | None:
        """Return the status of the server; if it is no longer configured, say so and return None."""
        if (status := self._host.find(self._server)) is None:
            self.notify(not_configured(self._server), severity="warning", markup=False)
        return status

    def _title_rows(self) -> tuple[Row, Row]:
        left: Row = (("LOG ", "dim bold"), (clean_line(self._server, 64), "text bold"))
        if (status := self._host.find(self._server)) is None:
            close = key_cap(self._overrides.first_of("log.leave"), "close")
            return (*left, ("   is no longer configured", "bad")), close
        why = f" {reason_words(status)}" if status.state is ServerState.STOPPED else ""
        style = "bad" if status.failed else STATE_STYLES[status.state]
        left = (*left, (f"   {status.state}{why}", style))
        where = "following" if self._lines.following else "press end to follow"
        found = f"{self._lines.found}   " if self._lines.found else ""
        return left, ((found, "text"), (where, "dim"))
