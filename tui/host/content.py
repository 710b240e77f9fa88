"""A raw `tools/call` result -> what the rest of the program knows. Tolerant, total, pure.

Whatever shape an item has, it becomes something a person can look at; nothing is dropped in silence.
"""

import json
from collections.abc import Mapping
from typing import Any, Literal

from tui.core.tools import BinaryContent, Content, LinkContent, ResourceContent, TextContent, ToolResult

MAX_ITEMS = 10_000
_UNKNOWN_CHARS = 2_000


def result_of(raw: Mapping[str, Any]) -> ToolResult:
    """Return the result that a server's answer to `tools/call` means."""
    warnings: list[str] = []
    items = raw.get("content")
    if items is None:
        items = []
    elif not isinstance(items, list):
        warnings.append("content is not a list")
        items = [items]
    if len(items) > MAX_ITEMS:
        warnings.append(f"{len(items) - MAX_ITEMS:,} more content items are left out")
    is_error = raw.get("isError", False)
    return ToolResult(
        content=tuple(content_of(item) for item in items[:MAX_ITEMS]),
        structured=raw.get("structuredContent"),
        is_error=is_error in (True, "true"),
        warning="; ".join(warnings),
    )


def content_of(item: Any) -> Content:
    """Return one content item; an unknown one as the JSON that it is."""
    if isinstance(item, dict):
        match item:
            case {"type": "text", "text": str(text)}:
                return TextContent(text)
            case {"type": "image" | "audio" as kind, "data": str(data)}:
                return _binary(kind, _text(item, "mimeType"), data)
            case {"type": "resource_link", "uri": str(uri)}:
                return LinkContent(uri, _text(item, "name"), _text(item, "description"))
            case {"type": "resource", "resource": {"uri": str(uri), "text": str(text)} as resource}:
                return ResourceContent(uri, _text(resource, "mimeType"), text)
            case {"type": "resource", "resource": {"uri": str(uri), "blob": str(data)} as resource}:
                return _binary("blob", _text(resource, "mimeType"), data, uri)
    return TextContent(_as_json(item))


def _text(holder: Mapping[str, Any], key: str) -> str:
    value = holder.get(key)
    return value if isinstance(value, str) else ""


def _binary(kind: str, mime: str, data: str, uri: str = "") -> BinaryContent:
    size = max(0, len(data) * 3 // 4 - data[-2:].count("="))
    named: Literal["image", "audio", "blob"] = "blob"
    if kind == "image":
        named = "image"
    elif kind == "audio":
        named = "audio"
    return BinaryContent(named, mime, size, data, uri)


def _as_json(item: Any) -> str:
    if isinstance(item, str):
        return item
    try:
        text = json.dumps(item, ensure_ascii=False)
    except (ValueError, RecursionError):
        return "[content that cannot be shown]"
    return text if len(text) <= _UNKNOWN_CHARS else text[:_UNKNOWN_CHARS] + "…"
