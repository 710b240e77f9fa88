"""Reads and writes lines of JSON-RPC for the host, and makes W3C trace context for its requests. Pure.

The last of duplicate keys wins, bytes that are not UTF-8 become U+FFFD, and NaN is refused. `read_line` gives
a reason for rejecting a line. It never raises, whatever a server writes.
"""

import hashlib
import json
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tui.core.jsonrpc.reader import NotJson, objects_within, read_damaged_listing, read_json
from tui.core.language.translate import message
from tui.core.text import clean_line, compact
from tui.core.traffic import Cause
from tui.core.units import whole

Id = int | str

INVALID_ANSWER = -32603
_MESSAGE_LIMIT = 500
_DATA_LIMIT = 64 * 1024
_ID = re.compile(rb'"id"\s*:\s*(?:"((?:[^"\\]|\\.){1,64})"|(-?\d{1,18})(?![\d.eE]))')
_OPENING = re.compile(r'\{\s*"(?:jsonrpc|id|result|error)"')
_NO_MESSAGE = message("the server reported an error without a message")
_ID_ALONE = re.compile(rb'\s*"id"\s*:\s*("[^"]{1,64}"|\d{1,18})\s*,?\s*')
NOT_JSON = message("not JSON")
NOT_ONE_LINE = message("multi-line JSON: newline-delimited JSON required")
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Request:
    """A request."""

    id: Id
    method: str
    params: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Notification:
    """A notification."""

    method: str
    params: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Response:
    """The result of a request."""

    id: Id
    result: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Failure:
    """An error response; always well-formed, whatever the server wrote."""

    id: Id | None
    code: int
    message: str
    data: Any = None


@dataclass(frozen=True, slots=True)
class Stray:
    """Not a JSON-RPC message: why, without any of its text, and ids that it may be a response to."""

    why: str
    ids: tuple[Id, ...] = field(default=())


Message = Request | Notification | Response | Failure | Stray


def read_line(raw: bytes, *, batches: bool = False, patient: bool = False) -> list[Message]:
    """Return the messages of one line, without its newline; a byte order mark is skipped.

    `batches` allows an array of messages (protocol 2025-03-26 only). `patient` lets other threads run while
    reading, and keeps what can be read of a listing or a handshake; several times slower.
    """
    try:
        value = read_json(raw.removeprefix(_BOM), patient=patient)
    except (ValueError, RecursionError) as error:
        listing = read_damaged_listing(raw.removeprefix(_BOM)) if patient else None
        return [_refused(raw, error) if listing is None else _read_message(listing, len(raw))]
    if isinstance(value, list):
        if batches and value:
            return [_read_message(item, len(raw)) for item in value]
        return [Stray(message("a batch, which this protocol version does not support"), find_ids(raw))]
    return [_read_message(value, len(raw))]


def _refused(raw: bytes, error: Exception) -> Stray:
    if isinstance(error, RecursionError):
        return Stray(message("JSON nested too deeply"), find_ids(raw))
    if isinstance(error, NotJson):
        return Stray(message("it has {part}", part=error.part), find_ids(raw))
    if _ID_ALONE.fullmatch(raw[:200]):  # part of a message printed over several lines
        return Stray(NOT_ONE_LINE, find_ids(b"{" + raw))
    return Stray(NOT_JSON, find_ids(raw))


def find_messages(raw: bytes) -> list[Message]:
    """Return the messages in a line that has other text too.

    They may follow a prompt or output without a newline, be between color codes, or be several in a row.
    """
    return [_read_message(value, len(raw)) for value in objects_within(raw, _OPENING)]


def is_meant_as_message(raw: bytes) -> bool:
    """Return whether a line or body that cannot be used as a message was meant as one."""
    starts = raw[:64].removeprefix(_BOM).lstrip()[:1] in (b"{", b"[")
    return starts and b'"jsonrpc"' in raw[:4096] + raw[-4096:]


def find_ids(*pieces: bytes) -> tuple[Id, ...]:
    """Return what looks like the id of a response in pieces of a line that cannot be parsed.

    Only a line that starts like a message is searched, and only its first and last 4 KiB.
    """
    if pieces[0].removeprefix(_BOM).lstrip()[:1] not in (b"{", b"["):
        return ()
    found: dict[Id, None] = {}
    for piece in pieces:
        for part in (piece[:4096], piece[-4096:]) if len(piece) > 8192 else (piece,):
            for match in _ID.finditer(part):
                text, number = match.groups()
                found[int(number) if text is None else text.decode("utf-8", "replace")] = None
    return tuple(found)


# `json.dumps` would make an encoder for each message.
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def write_line(message: Mapping[str, Any]) -> bytes:
    """Return `message` as one line of UTF-8 JSON; ValueError or TypeError if it cannot be JSON (NaN).

    Half of a surrogate pair is not sent in a request, but replaced in a reply, which may quote the server.
    """
    text = _ENCODER.encode(message)
    try:
        return text.encode()
    except UnicodeEncodeError:
        if "method" in message:
            raise
        return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace").encode()


def _read_message(value: Any, size: int) -> Message:
    if not isinstance(value, dict):
        return Stray(message("JSON, but not an object"))
    answers = "result" in value or "error" in value
    identity = as_id(value.get("id"))
    ids = (identity,) if answers and identity is not None else ()
    if value.get("jsonrpc") != "2.0":
        return Stray(message('no "jsonrpc": "2.0"'), ids)
    if "method" in value:
        return _read_call(value, identity, ids)
    result, error = value.get("result"), value.get("error")
    if error is not None:
        if result is not None:
            return Stray(message("a response with both a result and an error"), ids)
        return _failure(identity, error, size)
    if identity is not None and isinstance(result, dict):
        return Response(identity, result)
    if answers:
        return Stray(message("a response whose result is not an object"), ids)
    return Stray(message("a response without a result"), () if identity is None else (identity,))


def _read_call(value: dict[str, Any], identity: Id | None, ids: tuple[Id, ...]) -> Message:
    method, params = value["method"], value.get("params")
    if not isinstance(method, str) or ids or not (params is None or isinstance(params, dict)):
        return Stray(message("neither a request nor a response"), ids)
    if "id" not in value:
        return Notification(method, params)
    if identity is None:
        return Stray(message("a request without a valid id"))
    return Request(identity, method, params)


def as_id(value: Any) -> Id | None:
    """Return a value as an id, an integer if it is a whole number (7.0); None if it cannot be one."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int | str) else None


def _failure(identity: Id | None, error: Any, size: int) -> Failure:
    if not isinstance(error, dict):
        return Failure(identity, INVALID_ANSWER, _words(error) or _NO_MESSAGE)
    code, message, data = error.get("code"), error.get("message"), error.get("data")
    number = whole(code, 2**31, least=-(2**31), or_text=True)
    code = INVALID_ANSWER if number is None or abs(number) >= 2**31 else number
    text = _words(message) or _NO_MESSAGE
    if data is not None and size > _DATA_LIMIT:
        data = None
        text += f" (with {size} bytes of data, omitted)"
    return Failure(identity, code, text, data)


def _words(value: Any) -> str:
    if value is None:
        return ""
    return clean_line(value, _MESSAGE_LIMIT) if isinstance(value, str) else compact(value, _MESSAGE_LIMIT)


KEY = "traceparent"
"""Its reserved key in `_meta` (MCP specification)."""


class TraceIds:
    """Makes trace ids that cannot be linked to another run."""

    def __init__(self) -> None:
        self._run = secrets.token_bytes(16)

    def traceparent(self, cause: Cause | None) -> str:
        """Return the value for one request, "" for one that belongs to no turn and no call by hand."""
        whose = "" if cause is None else (f"turn {cause.turn}" if cause.turn else cause.call)
        if not whose:
            return ""
        trace = hashlib.sha256(self._run + whose.encode()).hexdigest()[:32]
        return f"00-{trace}-{secrets.token_hex(8)}-01"
