"""Raw results of `tools/call`, `resources/read` and `prompts/get` as core values. Tolerant, pure.

Every item becomes something that can be shown, whatever its shape; nothing is dropped silently.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from tui.core.attachments import decoded_size
from tui.core.errors import as_sentences
from tui.core.text import clean_line, object_in, text_in, truncated
from tui.core.tools import (
    PLAIN,
    Annotations,
    BinaryContent,
    Content,
    LinkContent,
    ResourceContent,
    TextContent,
    ToolResult,
)
from tui.core.workbench import Completions, PromptMessage, PromptResult

MAX_ITEMS = 10_000
_UNKNOWN_CHARS = 2_000
MAX_COMPLETIONS = 100
MAX_COMPLETION_CHARS = 2_000


def result_of(raw: Mapping[str, Any]) -> ToolResult:
    """Return the result of a raw answer to `tools/call`."""
    warnings: list[str] = []
    items = raw.get("content")
    if items is None:
        items = []
    elif not isinstance(items, list):
        warnings.append("content is not a list")
        items = [items]
    if len(items) > MAX_ITEMS:
        warnings.append(f"{len(items) - MAX_ITEMS:,} more content items omitted")
    is_error = raw.get("isError", False)
    return ToolResult(
        content=tuple(content_of(item) for item in items[:MAX_ITEMS]),
        structured=raw.get("structuredContent"),
        is_error=is_error in (True, "true"),
        warning=as_sentences(warnings),
        raw=raw,
    )


def content_of(item: Any, *, shown: Any = None) -> Content:
    """Return one content item; an unknown one as JSON: of `shown`, or of the item if that is None."""
    if isinstance(item, dict):
        annotations = annotations_of(item)
        match item:
            case {"type": "text", "text": str(text)}:
                return TextContent(text, annotations)
            case {"type": "image" | "audio" as kind, "data": str(data)}:
                return _binary(kind, text_in(item, "mimeType"), data, "", annotations)
            case {"type": "resource_link", "uri": str(uri)}:
                return LinkContent(uri, text_in(item, "name"), text_in(item, "description"), annotations)
            case {"type": "resource", "resource": {"uri": str(uri), "text": str(text)} as resource}:
                return ResourceContent(uri, text_in(resource, "mimeType"), text, annotations)
            case {"type": "resource", "resource": {"uri": str(uri), "blob": str(data)} as resource}:
                return _binary("blob", text_in(resource, "mimeType"), data, uri, annotations)
    return TextContent(_as_json(item if shown is None else shown))


def annotations_of(item: Mapping[str, Any]) -> Annotations:
    """Return the annotations of an item; malformed ones count as missing."""
    said = item.get("annotations")
    if not isinstance(said, Mapping):
        return PLAIN
    listed, priority = said.get("audience"), said.get("priority")
    audience = [one for one in ("user", "assistant") if isinstance(listed, list) and one in listed]
    known = isinstance(priority, int | float) and not isinstance(priority, bool) and 0 <= priority <= 1
    return Annotations(tuple(audience), priority if known else None)


def contents_of(raw: Mapping[str, Any]) -> ToolResult:
    """Return the contents of a raw answer to `resources/read`."""
    items = raw.get("contents")
    if not isinstance(items, list):
        return ToolResult(warning="the response has no list of contents", raw=raw)
    over = len(items) - MAX_ITEMS
    return ToolResult(
        tuple(content_of({"type": "resource", "resource": item}, shown=item) for item in items[:MAX_ITEMS]),
        warning=f"{over:,} more contents omitted" if over > 0 else "",
        raw=raw,
    )


def prompt_of(raw: Mapping[str, Any]) -> PromptResult:
    """Return the messages of a raw answer to `prompts/get`."""
    items = raw.get("messages")
    if not isinstance(items, list):
        problem = "The server's response has no list of messages."
        return PromptResult(text_in(raw, "description"), problem=problem, raw=raw)
    messages = tuple(message for item in items[:MAX_ITEMS] for message in _messages(item))
    over = len(items) - MAX_ITEMS
    return PromptResult(
        text_in(raw, "description"),
        messages,
        f"{over:,} more messages omitted." if over > 0 else "",
        raw=raw,
    )


def completions_of(raw: Mapping[str, Any]) -> Completions:
    """Return the values of a raw answer to `completion/complete`, each once.

    Values that cannot be shown unchanged, because they contain control characters or are too long, are
    omitted: what the user selects is exactly what is sent.
    """
    completion = object_in(raw, "completion")
    listed = completion.get("values")
    if not isinstance(listed, list):
        return Completions()
    head = listed[:MAX_COMPLETIONS]
    values = dict.fromkeys(
        value
        for value in head
        if isinstance(value, str) and 0 < len(value) <= MAX_COMPLETION_CHARS and clean_line(value) == value
    )
    total = completion.get("total")
    known = isinstance(total, int | float) and total > len(head)
    return Completions(tuple(values), completion.get("hasMore") is True or known or len(listed) > len(head))


def _messages(item: Any) -> Iterator[PromptMessage]:
    """Yield one message for each content item: some servers send a list of them."""
    if not isinstance(item, dict):
        yield PromptMessage("user", content_of(item))
        return
    content = item.get("content")
    for piece in content if isinstance(content, list) else [content]:
        known = isinstance(piece, str) or "content" not in item
        shown = TextContent(_as_json(piece if "content" in item else item)) if known else content_of(piece)
        yield PromptMessage("assistant" if item.get("role") == "assistant" else "user", shown)


def _binary(
    kind: Literal["image", "audio", "blob"], mime: str, data: str, uri: str, said: Annotations
) -> BinaryContent:
    return BinaryContent(kind, mime, decoded_size(data), data, uri, said)


def _as_json(item: Any) -> str:
    if isinstance(item, str):
        return item
    try:
        text = json.dumps(item, ensure_ascii=False)
    except (ValueError, RecursionError):
        return "[unsupported content]"
    return truncated(text, _UNKNOWN_CHARS)
