"""Replaces the values of entries with placeholders, for exports that are shared. Pure.

Names, kinds, times, sizes, and definitions of tools, prompts and resources stay. Values of arguments and
results, error messages, model texts, log lines, command lines, folders, URL paths and headers are replaced
with placeholders such as `<text, 12 characters>`.
"""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from tui.core.traffic import Entry, Kind
from tui.core.units import plural, size

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

_OPEN_HEADERS = frozenset({"content-type", "content-length", "accept", "mcp-protocol-version", "mcp-method"})
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
        found["headers"] = [_header(*pair) for pair in headers if len(pair) == 2]
    return found


def _header(name: Any, value: Any) -> list[Any]:
    return [name, value if str(name).lower() in _OPEN_HEADERS else shape(value)]


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
            found[key] = {name: one if name == "code" else shape(one) for name, one in value.items()}
        else:
            found[key] = shape(value)
    return found


def shape(value: Any, kept: frozenset[str] = frozenset(), depth: int = 0) -> Any:
    """Return a value with its member names, and a placeholder for each text and number."""
    if depth > _DEEPEST:
        return "<nested>"
    match value:
        case dict():
            return {
                name: one if name in kept and isinstance(one, str | bool) else shape(one, kept, depth + 1)
                for name, one in value.items()
            }
        case list():
            return [shape(one, kept, depth + 1) for one in value]
        case str():
            return f"<text, {plural(len(value), 'character')}>" if value else value
        case bool():
            return "<boolean>"
        case int() | float():
            return "<number>"
        case _:
            return value
