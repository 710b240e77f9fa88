"""The panes of the right column with the keys that the table of actions gives them."""

from typing import ClassVar

from textual.binding import BindingType

from tui.ui.chat.servers import ServersPane
from tui.ui.chat.trace import TracePane
from tui.ui.keys.actions import Context
from tui.ui.keys.bindings import bindings_of


class SideServers(ServersPane):
    """The servers, with their keys."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Context.SERVERS)


class SideTrace(TracePane):
    """The trace, with its keys."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Context.TRACE)
