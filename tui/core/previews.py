"""What a person can look at, open or save of a tool's result. Pure."""

from collections import Counter
from urllib.parse import unquote

from tui.core.conversation import Attachment
from tui.core.cutting import octets
from tui.core.media import extension, head_of, media_type
from tui.core.text import clean_line
from tui.core.tools import BinaryContent, ResourceContent, ToolResult


def previews(result: ToolResult) -> tuple[Attachment, ...]:
    """Return what a person can look at, open or save of a result besides its texts, as the server gave it."""
    found: list[Attachment] = []
    numbers: Counter[str] = Counter()
    for content in result.content:
        match content:
            case BinaryContent(kind, mime, size, data, uri):
                numbers[kind] += 1
                known = media_type(head_of(data[:64])) or clean_line(mime, 80)
                name = _file_name(uri) or f"{kind} {numbers[kind]}{extension(known)}"
                found.append(Attachment(kind, known or "application/octet-stream", name, size, data))
            case ResourceContent(uri, mime, text):
                numbers["text"] += 1
                name = _file_name(uri) or f"text {numbers['text']}.txt"
                found.append(
                    Attachment("text", clean_line(mime, 80) or "text/plain", name, octets(text), text)
                )
    return tuple(found)


def _file_name(uri: str) -> str:
    """Return the last part of an address as a name that a file may have, or ""."""
    last = unquote(uri.partition("#")[0].partition("?")[0]).replace("\\", "/").rstrip("/").rpartition("/")[2]
    return clean_line(last.replace(":", " "), 80).lstrip(". ")
