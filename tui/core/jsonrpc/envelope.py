"""One line into JSON-RPC messages, or into the reason why it is none. Pure.

The reader is Python's own `json` (the last of duplicate keys wins), here and in the trace view, so that
what a person sees is what is used. Whatever a server writes, this gives a value and raises nothing.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tui.core.jsonrpc.json_reader import NotJson, objects_within, read_json
from tui.core.text import clean_line

Id = int | str

INVALID_ANSWER = -32603
_MESSAGE_LIMIT = 500
_DATA_LIMIT = 64 * 1024
_ID = re.compile(rb'"id"\s*:\s*(?:"((?:[^"\\]|\\.){1,64})"|(-?\d{1,18})(?![\d.eE]))')
_OPENING = re.compile(r'\{\s*"(?:jsonrpc|id|result|error)"')
_NO_MESSAGE = "the server reported an error without a message"
_ID_ALONE = re.compile(rb'\s*"id"\s*:\s*("[^"]{1,64}"|\d{1,18})\s*,?\s*')
NOT_JSON = "not JSON"
NOT_ONE_LINE = "multi-line JSON: newline-delimited JSON required"
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Request:
    """A request: somebody waits for its answer."""

    id: Id
    method: str
    params: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Notice:
    """A notification: nobody waits."""

    method: str
    params: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a request."""

    id: Id
    result: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Failure:
    """The error that a request met; always of proper shape, whatever the server wrote."""

    id: Id | None
    code: int
    message: str
    data: Any = None


@dataclass(frozen=True, slots=True)
class Stray:
    """Not a JSON-RPC message.

    Attributes:
        why: one clause, without any of the line's text.
        ids: ids of requests that the line may have been meant to answer.
    """

    why: str
    ids: tuple[Id, ...] = field(default=())


Frame = Request | Notice | Answer | Failure | Stray


def read_line(raw: bytes, *, batches: bool = False, patient: bool = False) -> list[Frame]:
    """Return the messages of one line.

    Args:
        raw: the line, without its newline; a byte order mark is skipped.
        batches: whether an array of messages is allowed (protocol 2025-03-26 only).
        patient: let other threads run while reading; several times slower.
    """
    try:
        value = read_json(raw.removeprefix(_BOM), patient=patient)
    except RecursionError:
        return [Stray("JSON nested too deeply", find_ids(raw))]
    except NotJson as problem:
        return [Stray(f"it has {problem}", find_ids(raw))]
    except ValueError:
        if _ID_ALONE.fullmatch(raw[:200]):  # one line of a message printed over many
            return [Stray(NOT_ONE_LINE, find_ids(b"{" + raw))]
        return [Stray(NOT_JSON, find_ids(raw))]
    if isinstance(value, list):
        if batches and value:
            return [_message(item, len(raw)) for item in value]
        return [Stray("a batch, which this protocol version does not have", find_ids(raw))]
    return [_message(value, len(raw))]


def find_messages(raw: bytes) -> list[Frame]:
    """Return the messages that stand in a line among other things.

    Behind a prompt or a print without a newline, between colours, or several in a row without one.
    """
    return [_message(value, len(raw)) for value in objects_within(raw, _OPENING)]


def find_ids(*pieces: bytes) -> tuple[Id, ...]:
    """Return what looks like the id of an answer in pieces of a line that cannot be read.

    Only a line that begins like a message is looked at, and only its first and last 4 KiB.
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


def write_line(message: Mapping[str, Any]) -> bytes:
    """Return `message` as one line of UTF-8 JSON, without the newline.

    Raises:
        ValueError: it holds something that JSON cannot say, such as NaN.
        TypeError: it holds something that is no JSON value.
    """
    text = json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace").encode()


def _message(value: Any, size: int) -> Frame:
    if not isinstance(value, dict):
        return Stray("JSON, but not an object")
    answers = "result" in value or "error" in value
    identity = _identity(value.get("id"))
    ids = (identity,) if answers and identity is not None else ()
    if value.get("jsonrpc") != "2.0":
        return Stray('no "jsonrpc": "2.0"', ids)
    if "method" in value:
        return _call(value, identity, ids)
    result, error = value.get("result"), value.get("error")
    if error is not None:
        if result is not None:
            return Stray("an answer with both a result and an error", ids)
        return _failure(identity, error, size)
    if identity is not None and isinstance(result, dict):
        return Answer(identity, result)
    if answers:
        return Stray("an answer whose result is not an object", ids)
    return Stray("an answer without a result", () if identity is None else (identity,))


def _call(value: dict[str, Any], identity: Id | None, ids: tuple[Id, ...]) -> Frame:
    method, params = value["method"], value.get("params")
    if not isinstance(method, str) or ids or not (params is None or isinstance(params, dict)):
        return Stray("neither a request nor an answer", ids)
    if "id" not in value:
        return Notice(method, params)
    if identity is None:
        return Stray("a request without a usable id")
    return Request(identity, method, params)


def _identity(value: Any) -> Id | None:
    """Return an id as it can be looked up; 7, 7.0 and "7" are the same, as some servers change it."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int | str) else None


def _failure(identity: Id | None, error: Any, size: int) -> Failure:
    """Make a proper error of whatever the server wrote as one."""
    if not isinstance(error, dict):
        return Failure(identity, INVALID_ANSWER, _words(error) or _NO_MESSAGE)
    code, message, data = error.get("code"), error.get("message"), error.get("data")
    if isinstance(code, str | float) and not isinstance(code, bool):
        try:
            code = int(code)
        except (ValueError, OverflowError):
            code = None
    if not isinstance(code, int) or isinstance(code, bool) or abs(code) >= 2**31:
        code = INVALID_ANSWER
    text = _words(message) or _NO_MESSAGE
    if data is not None and size > _DATA_LIMIT:
        data = None
        text += f" (with {size} bytes of data, left out)"
    return Failure(identity, code, text, data)


def _words(value: Any) -> str:
    if value is None:
        return ""
    return clean_line(value if isinstance(value, str) else json.dumps(value)[:4096], _MESSAGE_LIMIT)
