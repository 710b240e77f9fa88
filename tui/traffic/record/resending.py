"""Sending a recorded request again: whether that is possible, and what is sent. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tui.core.jsonrpc.reader import loads
from tui.core.language.translate import message
from tui.core.text import clean_line, text_in
from tui.core.traffic import Direction, Entry, Kind
from tui.traffic.record.entry_columns import EntryColumns

if TYPE_CHECKING:
    from tui.core.servers import ServerStatus

MOST_SENT = 4 * 1024 * 1024
"""Maximum bytes of a request that can be sent again."""


@dataclass(frozen=True, slots=True)
class ResendRequest:
    """A request to send again; `seq` is its recorded entry, `params` may be empty."""

    seq: int
    server: str
    method: str
    params: Mapping[str, Any]

    @property
    def label(self) -> str:
        parts = (self.server, self.method, self.tool)
        return " › ".join(clean_line(part, 60) for part in parts if part)

    @property
    def tool(self) -> str:
        """Name of the tool that it calls, not cleaned; "" if it calls none."""
        return text_in(self.params, "name") if self.method == "tools/call" else ""


def refusal(entries: EntryColumns, index: int, servers: "Sequence[ServerStatus]") -> str:
    """Return, as a sentence, why an entry cannot be sent again, judged by its columns; "" if it can."""
    kind, source = Kind(entries.kind[index]), entries.sources.texts[entries.source[index]]
    if kind is not Kind.REQUEST:
        return message("Only requests to servers can be resent.")
    if entries.direction[index] != Direction.OUT:
        return message("This request came from the server and cannot be resent.")
    if source.startswith("tap:"):
        return message(
            "This was recorded by a tap. It cannot be resent, because another program uses the server."
        )
    if entries.methods.texts[entries.method[index]] == "initialize":
        return message("This request opens the connection. Restart the server to send it again.")
    from tui.core.servers import ServerState  # not needed for the first lines of a recording

    status = next((each for each in servers if each.name == source), None)
    if status is None:
        return message("Server {name} is no longer configured.", name=clean_line(source, 60))
    if status.state is not ServerState.RUNNING:
        return message("{name} is not running. Start it, then resend.", name=clean_line(source, 60))
    return ""


def read(entry: Entry) -> ResendRequest | str:
    """Return the request in an entry with its body, or why it cannot be sent again."""
    if entry.redactions:
        names = ", ".join(sorted({clean_line(each.name, 40) for each in entry.redactions}))
        return message(
            "The recording has a secret of this request redacted ({names}), so it cannot be resent.",
            names=names,
        )
    if entry.sha256:
        return message("This entry is truncated and cannot be resent.")
    if entry.size > MOST_SENT:
        return message("Too large to resend.")
    try:
        frame = loads(entry.body)
    except (ValueError, RecursionError):
        return message("The body is not valid JSON, or a number in it is out of range. It cannot be resent.")
    params = frame.get("params", {}) if isinstance(frame, dict) else None
    if not isinstance(params, dict):
        return message("The params are not a JSON object, so the request cannot be resent.")
    return ResendRequest(entry.seq, entry.source, entry.method, params)
