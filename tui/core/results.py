"""Tool results as models can read them. Pure."""

import json
from typing import Any

from tui.core.tools import BinaryContent, Content, LinkContent, ResourceContent, TextContent, ToolResult

_TAGS = dict.fromkeys(range(0xE0000, 0xE0080))


def _item(content: Content, number: int) -> str:
    match content:
        case TextContent(text):
            return text
        case BinaryContent(kind, mime, size):
            return f"[{kind} {number}: {mime}, {size} bytes, shown to the person, not to you]"
        case LinkContent(uri, name, description):
            return f"[resource {name or uri}: {uri}{' — ' + description if description else ''}]"
        case ResourceContent(uri, mime, text):
            return f"[resource {uri}, {mime or 'text'}]\n```\n{text}\n```"


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def _says_the_same(text: str, structured: Any) -> bool:
    try:
        return bool(json.loads(text) == structured)
    except (ValueError, RecursionError):
        return False


def result_text(result: ToolResult) -> str:
    """Return the whole of a result as text.

    Structured content is added only where no text item says the same already. Unicode tag characters,
    invisible to a person but not to a model, are taken out; lone surrogates become U+FFFD.
    """
    parts = [_item(content, number) for number, content in enumerate(result.content, 1)]
    if result.structured is not None and not any(_says_the_same(part, result.structured) for part in parts):
        parts.append(_as_json(result.structured))
    text = "\n".join(part for part in parts if part)
    if not text.isascii():
        text = text.translate(_TAGS).encode("utf-8", "replace").decode("utf-8")
    return text or "(empty result)"


def cut(text: str, limit: int) -> str:
    """Return `text` in at most about `limit` bytes: its head and its tail, and a note on what is missing."""
    size = len(text.encode("utf-8", "replace")) if not text.isascii() else len(text)
    if size <= limit:
        return text
    share = max(limit - 120, 16) / size
    keep = int(len(text) * share)
    head, tail = text[: keep * 7 // 10], text[len(text) - keep * 3 // 10 :]
    head = head[: head.rfind("\n") + 1] or head if "\n" in head[len(head) * 3 // 4 :] else head
    omitted = size - len((head + tail).encode("utf-8", "replace"))
    return f"{head}\n[… {omitted} of {size} bytes omitted; ask for less to see the rest …]\n{tail}"


def observation(result: ToolResult, limit: int) -> str:
    """Return what the model is told of a result, in at most about `limit` bytes."""
    text = result_text(result)
    if result.warning:
        text = f"[warning: {result.warning}]\n{text}"
    if result.is_error:
        text = f"ERROR: {text}"
    return cut(text, limit)
