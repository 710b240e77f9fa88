"""A recorded request that is sent again: its params, and reasons to refuse it. Pure."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tui.core.errors import reason_of
from tui.core.jsonrpc.reader import loads
from tui.core.text import clean_line
from tui.core.traffic import Direction, Entry, Kind

if TYPE_CHECKING:
    from tui.core.servers import ServerStatus


MOST_SENT = 4 * 1024 * 1024
"""Maximum bytes of a request that can be sent again."""

MOST_EDITED = 256 * 1024
"""Maximum bytes of params that can be edited."""

TAP = "tap:"
OURS, TOKEN = "io.modelcontextprotocol/", "progressToken"
"""Members of `_meta` that are new in each request: sender, revision, progress token."""

_KINDS = {
    Kind.NOTIFICATION: "a notification",
    Kind.STDERR: "a stderr line",
    Kind.EVENT: "an event",
    Kind.NOT_JSON: "not JSON",
    Kind.NOT_RPC: "not JSON-RPC",
    Kind.BATCH: "a batch",
    Kind.RESPONSE: "a response without a request",
    Kind.ERROR: "a response without a request",
}


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
        name = self.params.get("name") if self.method == "tools/call" else None
        return name if isinstance(name, str) else ""


def refusal(kind: Kind, way: Direction, source: str, method: str, servers: "Sequence[ServerStatus]") -> str:
    """Return, as a sentence, why an entry cannot be sent again, judged by its columns; "" if it can."""
    if kind in (Kind.MODEL_REQUEST, Kind.MODEL_REPLY):
        return "Only requests to servers can be resent."
    if kind is not Kind.REQUEST:
        return f"Only requests can be resent. This is {_KINDS.get(kind, 'none')}."
    if way is not Direction.OUT:
        return "This request came from the server and cannot be resent."
    if source.startswith(TAP):
        return "This was recorded by a tap. It cannot be resent, because another program uses the server."
    if method == "initialize":
        return "This request opens the connection. Restart the server to send it again."
    from tui.core.servers import ServerState

    status = next((each for each in servers if each.name == source), None)
    if status is None:
        return f"Server {clean_line(source, 60)} is no longer configured."
    if status.state is not ServerState.RUNNING:
        return f"{clean_line(source, 60)} is not running. Start it, then resend."
    return ""


def read(entry: Entry) -> ResendRequest | str:
    """Return the request in an entry with its body, or why it cannot be sent again."""
    if entry.redactions:
        names = ", ".join(sorted({clean_line(each.name, 40) for each in entry.redactions}))
        return f"The recording has a secret of this request redacted ({names}), so it cannot be resent."
    if entry.sha256:
        return "This entry is truncated and cannot be resent."
    if entry.size > MOST_SENT:
        return "Too large to resend."
    try:
        frame = loads(entry.body)
    except (ValueError, RecursionError):
        return "The body is not valid JSON, or a number in it is out of range. It cannot be resent."
    params = frame.get("params", {}) if isinstance(frame, dict) else None
    if not isinstance(params, dict):
        return "The params are not a JSON object, so the request cannot be resent."
    return ResendRequest(entry.seq, entry.source, entry.method, params)


def shown(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return params without the members that are new in each request, which cannot be edited."""
    meta = params.get("_meta")
    if not isinstance(meta, dict):
        return dict(params)
    theirs = {key: value for key, value in meta.items() if key != TOKEN and not key.startswith(OURS)}
    rest = {key: value for key, value in params.items() if key != "_meta"}
    return rest | {"_meta": theirs} if theirs else rest


def edited(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Return edited params with the progress token of the original, if it had one."""
    was, meta = before.get("_meta"), after.get("_meta", {})
    if not isinstance(was, dict) or TOKEN not in was or not isinstance(meta, dict):
        return dict(after)
    return {**after, "_meta": {**meta, TOKEN: was[TOKEN]}}


def params_text(params: Mapping[str, Any]) -> str:
    """Return params as editable JSON, with invisible characters as escapes."""
    text = json.dumps(params, ensure_ascii=False, indent=2)
    if text.replace("\n", "").isprintable():
        return text
    return "".join(char if char.isprintable() or char == "\n" else json.dumps(char)[1:-1] for char in text)


def parsed(text: str) -> dict[str, Any] | str:
    """Return the params in a text, or its problem and the place."""
    if not text.strip():
        return {}
    try:
        found = loads(text)
    except (ValueError, RecursionError) as error:
        return f"not JSON: {reason_of(error)}"
    return found if isinstance(found, dict) else "params are an object: { … }"
