"""Attachments of messages, from files, resources and tool results, and their text for a model. Pure.

Content that an endpoint would reject never becomes an attachment: one broken image would fail this request
and every later one in the conversation.
"""

import base64
import re
from collections.abc import Sequence
from typing import Literal

from tui.core.conversation.conversation import Attachment
from tui.core.media import (
    HEAD_BYTES,
    PICTURES,
    SOUNDS,
    dimensions,
    head_of,
    is_whole,
    media_type,
    picture_size,
    plain_base64,
    type_by_name,
)
from tui.core.text import clean_line, octets, visible
from tui.core.tools import BinaryContent, Content, ResourceContent, TextContent
from tui.core.units import size as in_bytes

ATTACHED = "attached below"
"""Marks an image that is sent with the request; see `as_sent`."""

_ATTACHED = re.compile(rf"(?<=[^\[\]\n]), {ATTACHED}\]")
_BACKTICKS = re.compile("`{3,}")


def label(attachment: Attachment) -> str:
    """Return the name of an image or sound as a model reads it: "image 1: image/png 640x480"."""
    size = picture_size(attachment.data) if attachment.kind == "image" else None
    shape = f"{size[0]}x{size[1]}" if size else in_bytes(attachment.size)
    return f"{word(attachment.name, 300)}: {word(attachment.mime, 80)} {shape}"


def as_shown(text: str) -> str:
    """Return the text of a tool result for the user, without the notes on where content is attached."""
    return _ATTACHED.sub("]", text)


def as_sent(text: str, attachments: Sequence[Attachment], reasons: Sequence[str]) -> str:
    """Return the text of a tool result, with a note for each attachment that is not sent.

    `reasons` says for each attachment why it is not sent ("not shown to you"), or "".
    """
    for attachment, why in zip(attachments, reasons, strict=True):
        if why:
            name = label(attachment)
            text = text.replace(f"[{name}, {ATTACHED}]", f"[{name}, {why}]", 1)
    return text


def fenced(text: str) -> str:
    """Return `text` between fences that nothing in it can close."""
    longest = max((len(found.group()) for found in _BACKTICKS.finditer(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}\n{text}\n{fence}"


def word(text: str, limit: int) -> str:
    """Return a server's text for use where a bracket or a line break would end the surrounding text."""
    return clean_line(text, limit).replace("[", "(").replace("]", ")")


MAX_TEXT = 256 * 1024
"""Maximum bytes of a text; a longer one would fill the window of most models."""

MAX_BYTES = 10 * 1024 * 1024
"""Maximum bytes of any other attachment."""

MAX_PIXELS = 8_000
"""Maximum width and height of an image; Anthropic rejects larger ones."""

_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
"""Bytes that no text contains; the escape character may be in logs."""


def attachment_of(name: str, data: bytes, *, shorten: bool = False) -> Attachment:
    """Return `data` as an attachment called `name`; `shorten` truncates a text that is too large.

    Raises:
        ValueError: with a sentence, if it is empty, too large, or of a type that no model accepts.
    """
    if not data:
        raise ValueError("the file is empty")
    mime = media_type(data[:64])
    if mime in PICTURES or mime in SOUNDS:
        if len(data) > MAX_BYTES:
            raise ValueError(f"larger than {MAX_BYTES // 2**20} MiB")
        _check(mime, data)
        return Attachment(_kind(mime), mime, name, len(data), base64.b64encode(data).decode("ascii"))
    text = None if mime else text_of(data)
    if text is None:
        if mime.startswith(("audio/", "image/")):
            raise ValueError(f"unsupported type {mime}")
        what = f" {mime}" if mime else ""
        raise ValueError(f"unsupported type{what}: only text, images and audio can be attached")
    if not text:
        raise ValueError("the file is empty")  # apart from its byte order mark
    return _of_text(name, type_by_name(name) or "text/plain", text, shorten)


def attachment_of_binary(name: str, content: BinaryContent) -> Attachment:
    """Return a server's image or audio as an attachment called `name`.

    Raises:
        ValueError: with a sentence, if it is neither, too large, or broken.
    """
    if (kind := kind_of(content)) == "blob":
        raise ValueError("unsupported type: only text, images and audio can be attached")
    data, decoded = _decoded(content)
    mime = media_type(decoded[:64])
    if mime not in PICTURES and mime not in SOUNDS:
        raise ValueError(f"unsupported {kind} format")
    _check(mime, decoded)
    return Attachment(_kind(mime), mime, name, len(decoded), data)


def attachments_of(contents: Sequence[Content], name: str, *, shorten: bool = False) -> list[Attachment]:
    """Return the contents of a resource as attachments; `shorten` truncates a text that is too large.

    Raises:
        ValueError: with a sentence, if one of them cannot be attached.
    """
    found: list[Attachment] = []
    for content in contents:
        match content:
            case BinaryContent() if kind_of(content) == "blob":
                found.append(attachment_of(name, _decoded(content)[1], shorten=shorten))
            case BinaryContent():
                found.append(attachment_of_binary(name, content))
            case TextContent(text):
                found.append(_of_text(name, "text/plain", text, shorten))
            case ResourceContent(_, mime, text):
                found.append(_of_text(name, mime or "text/plain", text, shorten))
            case _:
                continue  # a link has no content
    return found


def kind_of(content: BinaryContent) -> Literal["image", "audio", "blob"]:
    """Return the kind of binary content; images and audio in resources arrive as blobs."""
    mime = media_type(head_of(content.data[:64])) if content.kind == "blob" else ""
    return _kind(mime) if mime in PICTURES or mime in SOUNDS else content.kind


def _kind(mime: str) -> Literal["image", "audio"]:
    return "image" if mime in PICTURES else "audio"


def _check(mime: str, data: bytes) -> None:
    if mime in PICTURES:
        shape = dimensions(data[:HEAD_BYTES])
        if shape is None or not is_whole(data):
            raise ValueError("the image is damaged")
        if max(shape) > MAX_PIXELS:
            raise ValueError(f"wider or higher than {MAX_PIXELS:,} pixels")


def _decoded(content: BinaryContent) -> tuple[str, bytes]:
    if content.size > MAX_BYTES:
        raise ValueError(f"larger than {MAX_BYTES // 2**20} MiB")
    data = plain_base64(content.data)
    if not data:
        raise ValueError("not valid base64")
    return data, base64.b64decode(data)


def _of_text(name: str, mime: str, text: str, shorten: bool) -> Attachment:
    text = visible(text)
    size = octets(text)
    if size > MAX_TEXT and not shorten:
        raise ValueError(f"text larger than {MAX_TEXT // 1024} KiB. Attach part of the text")
    if size > MAX_TEXT:
        head = text.encode("utf-8", "replace")[:MAX_TEXT].decode("utf-8", "ignore")
        text = f"{head}\n[… truncated: first {octets(head):,} of {size:,} bytes]"
    return Attachment("text", mime, name, octets(text), text)


def text_of(data: bytes) -> str | None:
    """Decode a file's text from UTF-8, UTF-16 or Windows-1252; None if it is not text."""
    marked = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    try:
        text = data.decode("utf-16" if marked else "utf-8-sig")
    except UnicodeDecodeError:
        return None if marked or _CONTROLS.search(data) else data.decode("cp1252", "replace")
    return None if "\0" in text else text
