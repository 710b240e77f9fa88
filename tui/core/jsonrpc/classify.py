"""What a line or a body is: bytes into kind, method, name, id and outcome. Pure; it raises nothing.

It agrees with what the host makes of a line (Python's own `json`, the last of duplicate keys wins, bytes
that are not UTF-8 become U+FFFD, NaN is refused), so that what a person sees is what is used. A large frame,
one nested too deeply for the reader and one of which only the head is known are read by their outline.
"""

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final, NamedTuple

from tui.core.jsonrpc.skim import after_space, items, outline, value_end
from tui.core.text import clean
from tui.core.traffic import Kind, Outcome

MAX_NAME = 256
"""Characters of a method, a name or an id that stand in a column."""

READ_WHOLE = 64 * 1024
"""Bytes of a frame that is read; a larger one is skimmed: the reader in C stops all other threads."""

MAX_ITEMS = 1000
"""Messages of one batch that are looked at."""

INPUT_REQUIRED: Final = "input_required"
_SMALL_VALUE = 4096
_SPACE = " \t\r\n"
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
_WANTED: _Wanted = {
    "jsonrpc": None,
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


class Reading(NamedTuple):
    """What a frame says of itself.

    Attributes:
        kind: what it is.
        method: of a request or notification, as a column.
        tool: tool, prompt or resource that it names, as a column.
        ident: its id as JSON text, "" for none.
        outcome: how it ends a request, NONE if it is nothing that does.
        token: id text of the progress token that a request gives or a progress notification names.
        target: id text of the request that a cancel names.
        state: mark of the `requestState` of an input_required answer or of the round after it, 0 for none.
        goes_on: whether a request is the next round of one that was answered with input_required.
        items: of a batch, where its messages stand and what they are.
    """

    kind: Kind
    method: str = ""
    tool: str = ""
    ident: str = ""
    outcome: Outcome = Outcome.NONE
    token: str = ""
    target: str = ""
    state: int = 0
    goes_on: bool = False
    items: tuple[tuple[int, int, "Reading"], ...] = ()


_NOT_JSON: Final = Reading(Kind.NOT_JSON)
_NOT_RPC: Final = Reading(Kind.NOT_RPC)


class _Refused(ValueError):
    pass


def _refuse(word: str) -> Any:
    raise _Refused(word)


_scan = json.JSONDecoder(parse_constant=_refuse).scan_once  # type: ignore[attr-defined]


def classify(raw: bytes, size: int = -1) -> Reading:
    """Return what a line or body is.

    Args:
        raw: the bytes without the newline.
        size: bytes as they travelled if `raw` is only their head.
    """
    if len(raw) > READ_WHOLE or size > len(raw):
        return _skimmed(raw, torn=size > len(raw))
    text = raw.decode("utf-8", "replace")
    if text[:1] != "{":
        text = text.removeprefix("\ufeff").lstrip(_SPACE)
    try:
        value, end = _scan(text, 0)
    except (StopIteration, json.JSONDecodeError, _Refused):
        return _NOT_JSON
    except (RecursionError, ValueError):  # nested too deeply, or a whole number of thousands of digits
        return _skimmed(raw)
    if end != len(text) and text[end:].strip(_SPACE):
        return _NOT_JSON
    if type(value) is dict:
        return _message(value)
    return _batch(raw) if type(value) is list and value else _NOT_RPC


def column(text: str) -> str:
    """Return a name from outside as it stands in a column: one cleaned line of at most `MAX_NAME`.

    A name of ordinary characters stays as it was sent. To look for any other one, compare columns.
    """
    if len(text) <= MAX_NAME:
        if text.isprintable() and text.isascii():
            return text
    else:
        text = text[: MAX_NAME - 1] + "…"
    return clean(text).replace("\n", "␊").replace("\t", "␉")


def id_text(value: Any) -> str:
    """Return an id or token as JSON text, "" for what cannot be one; a very long one as head and digest."""
    if type(value) is int:
        return str(value) if value.bit_length() < 512 else _long_id(hex(value))
    if type(value) is str:
        text = f'"{value}"' if value.isalnum() and value.isascii() else json.dumps(value)
        return text if len(text) <= MAX_NAME else _long_id(text)
    if type(value) is float and value.is_integer():
        return repr(value)
    return ""


def _long_id(text: str) -> str:
    return f"{text[: MAX_NAME - 18]}…{sha256(text.encode()).hexdigest()[:16]}"


# ---- one message ---------------------------------------------------------------------------------------


def _message(value: Mapping[str, Any]) -> Reading:
    method = value.get("method", _ABSENT)
    ident = id_text(value["id"]) if "id" in value else ""
    answers = "result" in value or "error" in value
    sound = value.get("jsonrpc") == "2.0"
    if method is not _ABSENT:
        return _call(method, value, ident, sound and not (answers and ident))
    if not answers or not sound:
        outcome = Outcome.ERROR if ident and answers else Outcome.NONE
        return Reading(Kind.NOT_RPC, "", "", ident, outcome)
    result, error = value.get("result"), value.get("error")
    if error is not None:
        kind = Kind.ERROR if result is None else Kind.NOT_RPC
        return Reading(kind, "", "", ident, Outcome.ERROR)
    if not ident:
        return _NOT_RPC
    if type(result) is not dict:
        return Reading(Kind.RESPONSE, "", "", ident, Outcome.ERROR)
    if result.get("isError") is True:
        return Reading(Kind.RESPONSE, "", "", ident, Outcome.TOOL_ERROR)
    if result.get("resultType") == INPUT_REQUIRED:
        state = _state_mark(result.get("requestState"))
        return Reading(Kind.RESPONSE, "", "", ident, Outcome.INPUT_REQUIRED, "", "", state)
    return Reading(Kind.RESPONSE, "", "", ident, Outcome.OK)


def _call(method: Any, value: Mapping[str, Any], ident: str, sound: bool) -> Reading:
    if type(method) is not str:
        return Reading(Kind.NOT_RPC, "", "", ident)
    name, params = column(method), value.get("params")
    if not sound or not (params is None or type(params) is dict) or ("id" in value and not ident):
        return Reading(Kind.NOT_RPC, name, "", ident)
    kind = Kind.REQUEST if ident else Kind.NOTIFICATION
    if not params:
        return Reading(kind, name, "", ident)
    tool = _named(method, params)
    if not ident:
        token = target = ""
        if method == "notifications/progress":
            token = id_text(params.get("progressToken"))
        elif method == "notifications/cancelled":
            target = id_text(params.get("requestId"))
        return Reading(kind, name, tool, "", Outcome.NONE, token, target)
    meta = params.get("_meta")
    token = id_text(meta.get("progressToken")) if type(meta) is dict else ""
    if "requestState" in params or "inputResponses" in params:
        state = _state_mark(params.get("requestState"))
        return Reading(kind, name, tool, ident, Outcome.NONE, token, "", state, True)
    return Reading(kind, name, tool, ident, Outcome.NONE, token)


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


# ---- large frames, torn frames and batches ---------------------------------------------------------------


def _skimmed(raw: bytes, torn: bool = False) -> Reading:
    start = after_space(raw, 3 if raw.startswith(b"\xef\xbb\xbf") else 0)
    mark = raw[start : start + 1]
    if mark == b"[" and not torn:
        return _batch(raw, start) if value_end(raw, start) >= 0 else _NOT_JSON
    if mark != b"{":
        return _NOT_JSON
    try:
        value, end = _essence(raw, start, _WANTED)
    except (ValueError, RecursionError):
        return _NOT_JSON
    if torn:
        return _torn_message(value)
    if end < 0 or raw[end:].strip(_SPACE.encode()):
        return _NOT_JSON
    return _message(value)


def _torn_message(value: dict[str, Any]) -> Reading:
    """Return what a frame is of which only the head is known: what is missing may stand in the rest."""
    reading = _message({"jsonrpc": "2.0", **value})
    if reading.kind is Kind.NOT_RPC and not reading.ident and "id" not in value and "error" not in value:
        if type(value.get("result")) is dict:
            return Reading(Kind.RESPONSE)
    return reading


def _essence(raw: bytes, start: int, wanted: _Wanted) -> tuple[dict[str, Any], int]:
    """Return an object reduced to the wanted members, and the index behind it (-1 if it is torn)."""
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
        except ValueError:  # a whole number of thousands of digits: JSON, but nothing that we look for
            return None
    return f"{raw[1:_SMALL_VALUE].decode('utf-8', 'replace')}{sha256(raw).hexdigest()}"


def _batch(raw: bytes, start: int = -1) -> Reading:
    """Return an array as a batch of what its items are, if they are objects."""
    if start < 0:
        start = raw.find(b"[")
    found: list[tuple[int, int, Reading]] = []
    try:
        for begin, end in items(raw, start, MAX_ITEMS):
            if raw[begin : begin + 1] != b"{":
                return _NOT_RPC
            found.append((begin, end, classify(raw[begin:end])))
    except ValueError:
        return _NOT_JSON
    return Reading(Kind.BATCH, items=tuple(found)) if found else _NOT_RPC
