"""Short descriptions of the non-text parts of a result or a message. Pure."""

from collections.abc import Iterator, Sequence

from tui.core import units
from tui.core.conversation.conversation import Attachment, ToolMessage
from tui.core.events import NEVER_RUN
from tui.core.media import dimensions, extension, head_of, media_type, plain_base64
from tui.core.text import clean_line
from tui.core.tools import BinaryContent, LinkContent, ResourceContent, TextContent, ToolResult

HEAD_CHARS = 8 * 1024
"""Number of base64 characters to inspect."""


def pieces_of(result: ToolResult) -> Sequence[str]:
    """Return descriptions of a result's parts besides text: "PNG image, 640 × 480, 34 kB"."""
    return tuple(_pieces(result))


def _pieces(result: ToolResult) -> Iterator[str]:
    for item in result.content:
        match item:
            case BinaryContent(kind, mime, size, data, uri):
                yield _binary(kind, mime, size, data, uri)
            case LinkContent(uri, name, _):
                yield "link   " + "  ".join(filter(None, (clean_line(name, 60), clean_line(uri, 200))))
            case ResourceContent(uri, mime, text):
                said = clean_line(mime, 60) or "text"
                yield f"resource   {clean_line(uri, 200)}  {said}, {units.size(len(text))}"
            case TextContent():
                pass


def attachment_words(attachment: Attachment) -> str:
    """Return a description of an attachment: its name, type and size."""
    name = clean_line(attachment.name, 120)
    if attachment.kind == "text":
        what = f"{clean_line(attachment.mime, 60) or 'text'}, {units.size(attachment.size)}"
    else:
        what = _binary(attachment.kind, attachment.mime, attachment.size, attachment.data, "")
    return f"{name}   {what}" if name else what


def _binary(kind: str, mime: str, size: int, data: str, name: str) -> str:
    """Describe a binary part. Its first bytes take precedence over its declared type."""
    plain = (
        plain_base64(data[: HEAD_CHARS - HEAD_CHARS % 4]) if len(data) > HEAD_CHARS else plain_base64(data)
    )
    head = head_of(plain) if plain else b""
    found = media_type(head)
    said = clean_line(mime, 60)
    what = f"{extension(found or said).removeprefix('.').upper()} {kind}".strip()
    parts = [what if found or not said else f"{what}, {said}"]
    if measured := dimensions(head):
        parts.append(f"{measured[0]} × {measured[1]}")
    parts.append(units.size(size))
    words = ", ".join(parts)
    return f"{words}   {clean_line(name, 120)}" if name else words


def outcome(why: str, is_error: bool, warning: str = "") -> tuple[str, str]:
    """Return the state of a call that has ended, and the note next to it.

    `why` is as in `ToolCallEnded`; `warning` is what the user should know about its result.
    """
    match why:
        case "denied" | "cancelled":
            return why, ""
        case _ if why in NEVER_RUN:
            return "unsent", "" if why == "not run" else why
        case "":
            return ("failed" if is_error else "done"), warning
        case _:
            return "failed", why


def result_of(message: ToolMessage, whole: str = "") -> ToolResult:
    """Return the result in a message, as far as it is stored; `whole` is its complete text.

    What mcptui writes about a call that was cancelled, denied or not run is not an error of the tool.
    """
    state, _ = outcome(message.why, message.is_error)
    text = whole or message.text
    attached = tuple(
        BinaryContent("image" if one.kind == "image" else "audio", one.mime, one.size, one.data, one.name)
        for one in message.attachments
        if one.kind in ("image", "audio")
    )
    return ToolResult(
        (TextContent(text), *attached) if text else attached, is_error=message.is_error and state == "failed"
    )
