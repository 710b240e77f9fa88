"""Classifies the bytes of a message for the recorder: kind, method, name, id and outcome. Pure.

Accepts at least what `messages.read_line` does; when the host rejects a response, an event says so. A large
message is skimmed, not parsed. Never raises, whatever a server writes.
"""

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final, NamedTuple

from tui.core.jsonrpc.reader import NotJson, may_be_damaged_listing, scan
from tui.core.jsonrpc.skimmer import after_space, items, outline, value_end
from tui.core.text import clean, truncated
from tui.core.traffic import Kind, Outcome

MAX_NAME = 256
"""Characters of a method, a name or an id in a column."""

READ_WHOLE = 64 * 1024
"""Maximum bytes of a parsed message; larger ones are skimmed, because the C parser blocks other threads."""

MAX_ITEMS = 1000
"""Maximum messages of one batch that are classified."""

INPUT_REQUIRED: Final = "input_required"
_SMALL_VALUE = 4096
_WHITE = " \t\r\n"
_ABSENT: Final = object()

_NAMED_BY = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
    "resources/subscribe": "uri",
    "resources/unsubscribe": "uri",
    "notifications/resources/updated": "uri",
}
_Wanted = dict[str, Any]
DIALECT_REQUESTS = frozenset({"tool_call", "batch_call", "ping"})
_DIALECT_ENDS = {
    "tool_result": Outcome.OK,
    "batch_result": Outcome.OK,
    "pong": Outcome.OK,
    "tool_error": Outcome.TOOL_ERROR,
}
DIALECT_TYPES = DIALECT_REQUESTS | _DIALECT_ENDS.keys() | {"hello", "error", "shutdown"}
"""Types of the non-standard "hello" line dialect, whose objects are not JSON-RPC."""

_WANTED: _Wanted = {
    "jsonrpc": None,
    "type": None,
    "name": None,
    "id": None,
    "method": None,
    "params": {
        "name": None,
        "uri": None,
        "ref": {"name": None, "uri": None},
        "_meta": {"progressToken": None},
        "progressToken": None,
        "requestId": None,
        "requestState": None,
        "inputResponses": {},
    },
    "result": {"isError": None, "resultType": None, "requestState": None},
    "error": {},
}


class Classification(NamedTuple):
    """The classification of a message. `method` and `tool` are columns, ids are JSON text, "" for none.

    Attributes:
        tool: tool, prompt or resource that it names.
        outcome: how it ends a request, NONE if it does not.
        token: id of the progress token that a request has or a progress notification names.
        target: id of the request that a cancellation names.
        state: hash of the `requestState` of an input_required result or of the next round, 0 for none.
        is_next_round: whether a request is the next round after an input_required result.
        asks: whether it is answered by id although it is not a JSON-RPC request.
        items: of a batch, the positions and classifications of its messages.
    """

    kind: Kind
    method: str = ""
    tool: str = ""
    ident: str = ""
    outcome: Outcome = Outcome.NONE
    token: str = ""
    target: str = ""
    state: int = 0
    is_next_round: bool = False
    asks: bool = False
    items: tuple[tuple[int, int, "Classification"], ...] = ()


_NOT_JSON: Final = Classification(Kind.NOT_JSON)
_NOT_RPC: Final = Classification(Kind.NOT_RPC)


def classify(raw: bytes, size: int = -1) -> Classification:
    """Classify a line or body; `size` is its original size in bytes if `raw` is only the head."""
    if len(raw) > READ_WHOLE or size > len(raw):
        return _skimmed(raw, torn=size > len(raw))
    text = raw.decode("utf-8", "replace")
    if text[:1] != "{":
        text = text.removeprefix("\ufeff").lstrip(_WHITE)
    try:
        value, end = scan(text, 0)
    except (StopIteration, json.JSONDecodeError, NotJson):
        return _skimmed(raw) if may_be_damaged_listing(raw) else _NOT_JSON
    except (RecursionError, ValueError):  # nested too deeply, or an integer of thousands of digits
        return _skimmed(raw)
    if end != len(text) and text[end:].strip(_WHITE):
        return _NOT_JSON
    if type(value) is dict:
        return _classified(value)
    return _classified_batch(raw) if type(value) is list and value else _NOT_RPC


def column(text: str) -> str:
    """Return a name from a message for a column: one cleaned line of at most `MAX_NAME`.

    A name of ordinary characters is unchanged. To search for any other name, convert it first.
    """
    if len(text) <= MAX_NAME:
        if text.isprintable() and text.isascii():
            return text
    else:
        text = truncated(text, MAX_NAME)
    return clean(text).replace("\n", "␊").replace("\t", "␉")


def id_text(value: Any) -> str:
    """Return an id or token as JSON text, "" if it cannot be one; a very long one as head and digest."""
    if type(value) is int:
        return str(value) if value.bit_length() < 512 else _long_id(hex(value))
    if type(value) is str:
        text = f'"{value}"' if value.isalnum() and value.isascii() else json.dumps(value)
        return text if len(text) <= MAX_NAME else _long_id(text)
    if type(value) is float and value.is_integer():
        return repr(value)
    return ""


def id_forms(ident: str) -> tuple[str, ...]:
    """Return the texts of an id, itself first: some servers respond to 7 with "7" or 7.0."""
    plain = ident[1:-1] if ident.startswith('"') else ident.removesuffix(".0")
    return ident, plain, f'"{plain}"', f"{plain}.0"


def _long_id(text: str) -> str:
    return f"{text[: MAX_NAME - 18]}…{sha256(text.encode()).hexdigest()[:16]}"


def _classified(value: Mapping[str, Any]) -> Classification:
    method = value.get("method", _ABSENT)
    ident = id_text(value["id"]) if "id" in value else ""
    answers = "result" in value or "error" in value
    sound = value.get("jsonrpc") == "2.0"
    if method is _ABSENT and is_dialect(value):
        return _classified_dialect(value, ident)
    if method is not _ABSENT:
        return _classified_call(method, value, ident, sound and not (answers and ident))
    if not answers or not sound:
        outcome = Outcome.ERROR if ident and answers else Outcome.NONE
        return Classification(Kind.NOT_RPC, "", "", ident, outcome)
    result, error = value.get("result"), value.get("error")
    if error is not None:
        kind = Kind.ERROR if result is None else Kind.NOT_RPC
        return Classification(kind, "", "", ident, Outcome.ERROR)
    if not ident:
        return _NOT_RPC
    if type(result) is not dict:
        return Classification(Kind.RESPONSE, "", "", ident, Outcome.ERROR)
    if is_tool_error(result):
        return Classification(Kind.RESPONSE, "", "", ident, Outcome.TOOL_ERROR)
    if result.get("resultType") == INPUT_REQUIRED:
        state = _state_mark(result.get("requestState"))
        return Classification(Kind.RESPONSE, "", "", ident, Outcome.INPUT_REQUIRED, "", "", state)
    return Classification(Kind.RESPONSE, "", "", ident, Outcome.OK)


def is_tool_error(result: Mapping[str, Any]) -> bool:
    """Whether the result of a tool says that the call failed."""
    return result.get("isError") is True


def is_dialect(value: Mapping[str, Any]) -> bool:
    """Whether an object may be of the "hello" line dialect."""
    kind = value.get("type")
    return "jsonrpc" not in value and type(kind) is str and kind in DIALECT_TYPES


def _classified_dialect(value: Mapping[str, Any], ident: str) -> Classification:
    kind = value["type"]
    name = value.get("name") if kind == "tool_call" else None
    tool = column(name) if type(name) is str else ""
    outcome = _DIALECT_ENDS.get(kind, Outcome.ERROR if ident and kind == "error" else Outcome.NONE)
    asks = bool(ident) and kind in DIALECT_REQUESTS
    return Classification(Kind.NOT_RPC, kind, tool, ident, outcome, asks=asks)


def _classified_call(method: Any, value: Mapping[str, Any], ident: str, sound: bool) -> Classification:
    if type(method) is not str:
        return Classification(Kind.NOT_RPC, "", "", ident)
    name, params = column(method), value.get("params")
    if not sound or not (params is None or type(params) is dict) or ("id" in value and not ident):
        return Classification(Kind.NOT_RPC, name, "", ident)
    kind = Kind.REQUEST if ident else Kind.NOTIFICATION
    if not params:
        return Classification(kind, name, "", ident)
    tool = _named(method, params)
    if not ident:
        token = target = ""
        if method == "notifications/progress":
            token = id_text(params.get("progressToken"))
        elif method == "notifications/cancelled":
            target = id_text(params.get("requestId"))
        return Classification(kind, name, tool, "", Outcome.NONE, token, target)
    meta = params.get("_meta")
    token = id_text(meta.get("progressToken")) if type(meta) is dict else ""
    if "requestState" in params or "inputResponses" in params:
        state = _state_mark(params.get("requestState"))
        return Classification(kind, name, tool, ident, Outcome.NONE, token, "", state, True)
    return Classification(kind, name, tool, ident, Outcome.NONE, token)


def _named(method: str, params: Mapping[str, Any]) -> str:
    key = _NAMED_BY.get(method)
    if key is not None:
        value = params.get(key)
    elif method == "completion/complete" and type(ref := params.get("ref")) is dict:
        value = ref.get("name") or ref.get("uri")
    else:
        return ""
    return column(value) if type(value) is str else ""


def _state_mark(state: Any) -> int:
    return hash(state) if type(state) is str else 0


def _skimmed(raw: bytes, torn: bool = False) -> Classification:
    start = after_space(raw, 3 if raw.startswith(b"\xef\xbb\xbf") else 0)
    mark = raw[start : start + 1]
    if mark == b"[" and not torn:
        return _classified_batch(raw, start) if value_end(raw, start) >= 0 else _NOT_JSON
    if mark != b"{":
        return _NOT_JSON
    try:
        value, end = _essence(raw, start, _WANTED)
    except (ValueError, RecursionError):
        return _NOT_JSON
    if torn:  # the rest may contain missing fields
        reading = _classified({"jsonrpc": "2.0", **value})
        is_bare = reading is _NOT_RPC and not value.keys() & {"id", "error"}
        return Classification(Kind.RESPONSE) if is_bare and type(value.get("result")) is dict else reading
    if end < 0 or raw[end:].strip(_WHITE.encode()):
        return _NOT_JSON
    return _classified(value)


def _essence(raw: bytes, start: int, wanted: _Wanted) -> tuple[dict[str, Any], int]:
    """Return an object reduced to the wanted members, and the index after it (-1 if it is cut off)."""
    seen = outline(raw, start)
    value: dict[str, Any] = {}
    for key, inner in wanted.items():
        if key not in seen.members:
            continue
        begin, end = seen.members[key]
        mark = raw[begin : begin + 1]
        if mark == b"{":
            value[key] = _essence(raw, begin, inner)[0] if inner else {}
        elif mark == b"[":
            value[key] = []
        elif end >= 0:
            value[key] = _scalar(raw[begin:end])
    return value, seen.end


def _scalar(raw: bytes) -> Any:
    if len(raw) <= _SMALL_VALUE:
        try:
            return json.loads(raw.decode("utf-8", "replace"))
        except json.JSONDecodeError:
            raise
        except ValueError:  # an integer of thousands of digits: JSON, but nothing that we look for
            return None
    return f"{raw[1:_SMALL_VALUE].decode('utf-8', 'replace')}{sha256(raw).hexdigest()}"


def _classified_batch(raw: bytes, start: int = -1) -> Classification:
    if start < 0:
        start = raw.find(b"[")
    found: list[tuple[int, int, Classification]] = []
    try:
        for begin, end in items(raw, start, MAX_ITEMS):
            if raw[begin : begin + 1] != b"{":
                return _NOT_RPC
            found.append((begin, end, classify(raw[begin:end])))
    except ValueError:
        return _NOT_JSON
    return Classification(Kind.BATCH, items=tuple(found)) if found else _NOT_RPC
