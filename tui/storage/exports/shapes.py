"""Exports that are shared: replaces values with placeholders. Pure.

`with_shapes` keeps names, kinds, times, sizes,
and definitions of tools, prompts and resources. Values of arguments and results, error messages, model
texts, log lines, command lines, folders, URL paths and headers are replaced with placeholders such as
`<text, 12 characters>`. Of a session (`session_with_shapes`), names of tools, servers and models,
times, tokens and costs stay.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from tui.core.conversation.conversation import Remark
from tui.core.jsonrpc.reader import json_value
from tui.core.language.translate import Message, listed, message
from tui.core.secrets.secret_names import OPEN_HEADERS
from tui.core.secrets.walk import changed
from tui.core.text import quoted_name
from tui.core.traffic import Entry, Kind
from tui.core.units import plural, size
from tui.storage.exports.session import SessionTranscript

MODEL = "model:"
"""Prefix of the source of entries exchanged with a model."""

MOST_NAMED = 5
"""Maximum number of servers to name."""


def named_servers(names: Iterable[str]) -> Message:
    """Return "from the server “weather”", "from the servers “a” and “b”", with the first of many."""
    *some, last = [quoted_name(name, 40) for name in sorted(set(names))]
    if not some:
        return message("from the server {name}", name=last)
    if (more := len(some) + 1 - MOST_NAMED) > 0:
        named = listed([*some, last][:MOST_NAMED])
        return message("from the servers {names} and {count} more", names=named, count=more)
    return message("from the servers {names} and {last}", names=listed(some), last=last)


_DEFINITIONS = frozenset(
    {"initialize", "server/discover", "tools/list", "prompts/list", "resources/templates/list", "ping"}
)
"""Methods whose results describe the server."""

_PROTOCOL = frozenset(
    {"name", "cursor", "protocolVersion", "capabilities", "clientInfo", "requestId", "progressToken", "level"}
    | {"progress", "total"}
)
"""Members of `params` without user data."""

_OF_MODELS = frozenset({"model", "role", "type", "name", "stream", "tool_choice"})
_MODEL = (Kind.MODEL_REQUEST, Kind.MODEL_REPLY)
_OF_TRANSPORT = frozenset({"argv", "cwd", "why", "error", "reason", "message"})
"""Members of the detail with texts of the user or of a server."""

_DEEPEST = 100


def with_shapes(entry: Entry) -> Entry:
    """Return an entry with placeholders for the values in its body and detail."""
    if entry.detail:
        entry = entry._replace(detail=_detail(entry.detail))
    if not entry.body:
        return entry
    try:
        value = json.loads(entry.body)
        if entry.kind is Kind.STDERR:
            raise ValueError
        if entry.kind in _MODEL:
            shaped = shape(value, _OF_MODELS)
        else:
            shaped = (
                [_message(one, entry) for one in value] if isinstance(value, list) else _message(value, entry)
            )
        body = json.dumps(shaped, ensure_ascii=False)
    except (ValueError, RecursionError):
        body = f"<{size(len(entry.body))}>"
    return entry._replace(body=body.encode("utf-8", "replace"), redactions=(), sha256="")


def _detail(detail: Mapping[str, Any]) -> dict[str, Any]:
    found = {name: shape(value) if name in _OF_TRANSPORT else value for name, value in detail.items()}
    if isinstance(url := detail.get("url"), str):
        found["url"] = _host(url)
    if isinstance(headers := detail.get("headers"), list | tuple):
        pairs = (pair for pair in headers if len(pair) == 2)
        found["headers"] = [
            [name, value if str(name).lower() in OPEN_HEADERS else shape(value)] for name, value in pairs
        ]
    return found


def _host(url: str) -> str:
    """Return a URL's scheme and host, without path and query."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return str(shape(url))
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}" if parts.scheme and host else str(shape(url))


def _message(message: Any, entry: Entry) -> Any:
    if not isinstance(message, dict):
        return shape(message)
    found: dict[str, Any] = {}
    for key, value in message.items():
        if key in ("jsonrpc", "id", "method"):
            found[key] = value
        elif key == "params" and isinstance(value, dict):
            found[key] = {name: one if name in _PROTOCOL else shape(one) for name, one in value.items()}
        elif key == "result" and entry.method in _DEFINITIONS:
            found[key] = value
        elif key == "error" and isinstance(value, dict):
            found[key] = {
                name: one if name == "code" and isinstance(one, int) else shape(one)
                for name, one in value.items()
            }
        else:
            found[key] = shape(value)
    return found


def shape(value: Any, kept: frozenset[str] = frozenset()) -> Any:
    """Return a value with its member names, and a placeholder for each text and number."""

    def placeholder(path: tuple[Any, ...], part: Any) -> Any:
        if len(path) > _DEEPEST:
            return "<nested>"
        match part:
            case str() | bool() if path and path[-1] in kept:
                return part
            case str() if part:
                return f"<text, {plural(len(part), 'character')}>"
            case bool():
                return "<boolean>"
            case int() | float():
                return "<number>"
        return part

    return changed(value, placeholder)


_SAID = frozenset({"arguments", "reason"})
"""Members of rows with conversation text. The others are names and numbers."""

_MEMBER = 5
"""Length of the path of a member of a row: the rows, their table, their place, 1 for the body, its name."""

_TEXTS = frozenset({"title", "system", "summary", "text", "reasoning", "next_step"})
"""Fields of our own types with conversation text."""

_LEFT_OUT = {"attachments": (), "echo": None, "extra": None}
_CODES = frozenset({"limit", "end"})
"""Kinds of remarks whose text is one of our codes."""


def session_with_shapes(shown: SessionTranscript) -> SessionTranscript:
    """Return a session without any of its conversation text."""
    shaped: SessionTranscript = changed(shown, _without_text)
    return shaped


def _without_text(path: tuple[Any, ...], part: Any) -> Any:
    match path, part:
        case (), _:
            return part
        case ("rows", *_), _:
            return shape(part) if len(path) == _MEMBER and path[-1] in _SAID else part
        case ("results", _), _:
            return str(shape(part))
        case _, Remark(kind=kind) if kind in _CODES:
            return replace(part)  # not walked in turn
        case (*_, "arguments"), str():
            return json.dumps(shape(json_value(part, part)), ensure_ascii=False)
        case ("messages", *_, "problem"), _:
            return str(shape(part))
    return str(shape(part or "")) if path[-1] in _TEXTS else _LEFT_OUT.get(path[-1], part)
