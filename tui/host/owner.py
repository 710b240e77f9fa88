"""Who is told about the life of a server. Imports no SDK."""

from typing import TYPE_CHECKING, Protocol

from tui.core.servers import StopReason

if TYPE_CHECKING:
    from tui.host.connection import Connection


class Owner(Protocol):
    """Who is told about a life as it goes. None of it may raise or wait."""

    def ready(self, connection: "Connection") -> None:
        """Take note: it can be called from now on."""
        ...

    def leaving(self, reason: StopReason) -> None:
        """Take note: it ends, and its process is about to be ended."""
        ...

    def changed(self) -> None:
        """Take note: something that is shown of it changed."""
        ...

    def redacted(self, text: str) -> str:
        """Return `text` without configured secrets."""
        ...
