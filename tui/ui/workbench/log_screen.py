"""The log screen: the stderr of one server, live."""

from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType

from tui.core.language.translate import N_, _, n_
from tui.core.servers import ServerState
from tui.core.text import clean_line
from tui.ui.dialogs.dialog import ViewScreen
from tui.ui.keys.action_table import Context
from tui.ui.keys.bindings import bindings_of, overrides_of
from tui.ui.platform import clipboard
from tui.ui.widgets.bar import key_cap
from tui.ui.widgets.inputs import PromptLine
from tui.ui.widgets.rows import Row
from tui.ui.widgets.server_rows import STATE_STYLES, configured, reason_words, toggle_server
from tui.ui.workbench.server_tabs import LogLines

if TYPE_CHECKING:
    from tui.host.host import Host


LOCAL = N_("No log output from this server yet.")
REMOTE = N_("This server is remote and keeps its own log. Its messages are in the traffic.")


class LogScreen(ViewScreen[None]):
    """The stderr of one server."""

    CONTEXTS = (Context.LOG,)
    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Context.LOG)
    LOOKS_PER_SECOND = 8

    def __init__(self, host: "Host", server: str) -> None:
        self.lines, self._prompt = LogLines(empty=_(LOCAL), id="log-lines"), PromptLine()
        super().__init__(self.lines, prompt=self._prompt)
        self._host = host
        self._server = server

    def look(self) -> None:
        """Show new lines; cheap if there are none."""
        left: Row = ((f"{_('LOG')} ", "dim bold"), (clean_line(self._server, 64), "text bold"))
        if (status := self._host.find(self._server)) is None:  # the last lines stay readable
            close = key_cap(overrides_of(self.app).first_of("log.leave"), _("close"))
            self._title.show((*left, (f"   {_('is no longer configured')}", "bad")), close)
            return
        self.lines.show_empty(_(REMOTE) if status.spec.url else _(LOCAL))
        self.lines.show(self._host.stderr(self._server))
        why = f" {reason_words(status)}" if status.state is ServerState.STOPPED else ""
        style = "bad" if status.failed else STATE_STYLES[status.state]
        where = _("following") if self.lines.following else _("press end to follow")
        found = f"{self.lines.found}   " if self.lines.found else ""
        left = (*left, (f"   {status.state.in_words}{why}", style))
        self._title.show(left, ((found, "text"), (where, "dim")))

    def back(self) -> None:
        if self.lines.search_text:
            self._seek("")
        else:
            self.dismiss(None)

    def search(self) -> None:
        self._prompt.ask(
            _("search"),
            self._seek,
            value=self.lines.search_text,
            placeholder=_("text in this log"),
            typed=self._seek,
            searches=True,
        )

    def _seek(self, text: str) -> None:
        if text != self.lines.search_text or not text:
            self.lines.search(text)
        self.look()

    def find(self, direction: int) -> None:
        self.lines.next_match(direction)
        self.look()

    def copy(self) -> None:
        text = self.lines.text
        clipboard.copy(self.app, text, n_("{n} line", "{n} lines", text.count("\n") + bool(text)))

    def toggle(self) -> None:
        if (status := configured(self._host, self._server, self.notify)) is not None:
            toggle_server(self._host, status)
            self.look()

    def restart(self) -> None:
        if configured(self._host, self._server, self.notify) is not None:
            self._host.request_restart(self._server)
            self.look()
