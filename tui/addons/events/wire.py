"""What servers say about events, read and bounded: event types, occurrences, batches, errors. Pure.

Source: SEP-3415 (`io.modelcontextprotocol/events`), for revision 2026-07-28 and later. Nothing that a server
sends is trusted to have the right shape; text is cleaned where it is shown.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from tui.core.errors import with_stop
from tui.core.jsonrpc.protocol import INVALID_PARAMS, METHOD_NOT_FOUND
from tui.core.language.translate import N_, message, n_message
from tui.core.text import clean_line, list_in, mapping, object_in, text_in
from tui.core.units import size, whole

LIST, POLL, STREAM = "events/list", "events/poll", "events/stream"
_FRAMES = "notifications/events/"
ACTIVE, EVENT, HEARTBEAT = f"{_FRAMES}active", f"{_FRAMES}event", f"{_FRAMES}heartbeat"
ERROR, TERMINATED = f"{_FRAMES}error", f"{_FRAMES}terminated"

PUSH_MODE, POLL_MODE, WEBHOOK = "push", "poll", "webhook"
MODES = (PUSH_MODE, POLL_MODE)
"""The modes that mcptui supports, the preferred one first. A webhook needs a public address."""

MAX_TYPES = 1_000
MAX_NAME = 200
MAX_DESCRIPTION = 4_000
MAX_SCHEMAS = 256 * 1024
"""Maximum size of both schemas of an event type, as JSON."""

MAX_ID = 128
"""A longer event id is replaced by its hash, which identifies it as well."""

MAX_CURSOR = 16_384
BAD_CURSOR = message(
    "The server's cursor is not a text of at most {limit:,} characters. Events may be lost.",
    limit=MAX_CURSOR,
)
MAX_DATA = 64 * 1024
"""Maximum size of an event's data, as JSON, that is kept."""

NO_WEBHOOK = N_("Cannot subscribe here: webhooks need a public address.")


@dataclass(frozen=True, slots=True)
class EventType:
    """An event type that a server lists. `delivery` are the modes it names, also unknown ones."""

    name: str
    description: str = ""
    delivery: tuple[str, ...] = ()
    input_schema: Mapping[str, Any] = field(default_factory=dict)
    payload_schema: Mapping[str, Any] | None = None

    @property
    def modes(self) -> tuple[str, ...]:
        """Those of its modes that mcptui supports, the preferred one first."""
        return tuple(mode for mode in MODES if mode in self.delivery)

    @property
    def why_not(self) -> str:
        """Why mcptui cannot subscribe to it, or ""."""
        if self.modes:
            return ""
        if WEBHOOK in self.delivery:
            return NO_WEBHOOK
        return N_("Cannot subscribe: it lists no delivery mode that mcptui supports.")


@dataclass(frozen=True, slots=True)
class Occurrence:
    """Something that happened. `problem` says how it violates the protocol, or "".

    `data` is None if it is larger than `MAX_DATA`.
    """

    id: str
    timestamp: str
    data: Mapping[str, Any] | None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a message says that delivery is. `problem` says why its cursor cannot be kept, or ""."""

    cursor: str | None
    is_after_gap: bool
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Batch:
    """The result of a poll. `events` are not read yet. `next_ms` is None without a valid interval."""

    events: Sequence[Any]
    place: "Place"
    has_more: bool
    next_ms: int | None


@dataclass(frozen=True, slots=True)
class EventError:
    """An error of a server: `name` is the protocol's word for its code, "" for any other code."""

    name: str
    message: str
    data: Mapping[str, Any] = field(default_factory=dict)

    @property
    def ends(self) -> bool:
        """Whether a request that fails with it would always fail."""
        return self.name in _FINAL

    def __str__(self) -> str:
        if self.name == "NotFound":
            return message("The server no longer offers it.")
        if self.data.get("reason") == "schema_changed":
            return message("The server changed its schema.")
        words = clean_line(self.message, 200).rstrip(".")
        reason = clean_line(text_in(self.data, "reason"), 200).rstrip(".")
        said = f"{words}: {reason}" if reason and reason != words else words or reason
        known = _WORDS.get(self.name) or message("The server reported an error")
        return message("{problem} ({reason}).", problem=known, reason=said) if said else with_stop(known)


_CODES = {
    INVALID_PARAMS: "InvalidParams",
    METHOD_NOT_FOUND: "MethodNotFound",
    **dict.fromkeys((-32023, -32011), "NotFound"),
    **dict.fromkeys((-32024, -32012), "Forbidden"),
    **dict.fromkeys((-32025, -32013), "ResourceExhausted"),
    **dict.fromkeys((-32026, -32014), "Unsupported"),
}
"""The second code of a name is that of the design sketch, which some servers still send."""

_FINAL = frozenset({"InvalidParams", "MethodNotFound", "NotFound", "Forbidden", "Unsupported"})
_WORDS = {
    "InvalidParams": message("The server rejected the arguments"),
    "MethodNotFound": message("The server does not support this delivery"),
    "Forbidden": message("Access denied"),
    "ResourceExhausted": message("The server's limit of subscriptions is reached"),
    "Unsupported": message("The server does not support this"),
}


def error_of(value: Any) -> EventError:
    """Return the error of a response or of a stream."""
    error = mapping(value)
    code = error.get("code")
    name = _CODES.get(code, "") if isinstance(code, int) and not isinstance(code, bool) else ""
    return EventError(name, text_in(error, "message"), object_in(error, "data"))


def event_types(result: Mapping[str, Any]) -> tuple[list[EventType], str]:
    """Return the event types of a page of `events/list`, and what is wrong with it, or ""."""
    found, invalid = [], 0
    for item in list_in(result, "events"):
        one = mapping(item)
        name = one.get("name")
        if not isinstance(name, str) or not 0 < len(name) <= MAX_NAME:
            invalid += 1
            continue
        if _size([one.get("inputSchema"), one.get("payloadSchema")]) > MAX_SCHEMAS:
            invalid += 1
            continue
        modes = tuple(clean_line(mode, 20) for mode in list_in(one, "delivery") if isinstance(mode, str))
        payload = one.get("payloadSchema")
        found.append(
            EventType(
                name,
                text_in(one, "description")[:MAX_DESCRIPTION],
                modes[:8],
                object_in(one, "inputSchema"),
                payload if isinstance(payload, Mapping) else None,
            )
        )
    return (
        found,
        n_message(
            "{n} event type omitted: without a valid name, or too large.",
            "{n} event types omitted: without a valid name, or too large.",
            invalid,
        )
        if invalid
        else "",
    )


def occurrence(value: Any, expected: str) -> Occurrence:
    """Return an event of a poll or a stream for the subscription to the event type `expected`."""
    one = mapping(value)
    problems = []
    known, name = text_in(one, "eventId"), text_in(one, "name")
    if not known:
        problems.append(message("It has no eventId, so duplicates are not detected."))
    elif len(known) > MAX_ID:
        known = f"sha256:{sha256(known.encode('utf-8', 'replace')).hexdigest()}"
    if name != expected:
        problems.append(message("Its name is {name}.", name=clean_line(name, 80) or message("missing")))
    timestamp = text_in(one, "timestamp")
    if not timestamp:
        problems.append(message("It has no timestamp."))
    data = one.get("data")
    if not isinstance(data, Mapping):
        problems.append(message("It has no data.") if data is None else message("Its data is not an object."))
        data = None
    elif (octets := _size(data)) > MAX_DATA:
        shown = f" ({size(octets)})" if octets < math.inf else ""
        problems.append(message("Its data is too large to keep{shown}. See the traffic.", shown=shown))
        data = None
    return Occurrence(known, clean_line(timestamp, 40), data, " ".join(problems))


def _size(data: Any) -> float:
    try:
        return len(json.dumps(data))
    except (ValueError, RecursionError):
        return math.inf


def batch(result: Mapping[str, Any]) -> Batch:
    """Return the result of a poll."""
    more, next_ms = result.get("hasMore") is True, whole(result.get("nextPollMs"))
    return Batch(list_in(result, "events"), place_of(result), more, next_ms)


def place_of(message: Mapping[str, Any]) -> Place:
    """Return where a message says that delivery is."""
    cursor, is_after_gap = message.get("cursor"), message.get("truncated") is True
    if cursor is None or (isinstance(cursor, str) and len(cursor) <= MAX_CURSOR):
        return Place(cursor, is_after_gap)
    return Place(None, is_after_gap, BAD_CURSOR)
