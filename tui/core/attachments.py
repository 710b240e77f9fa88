"""Attachments of messages, from files, resources and tool results, and their text for a model. Pure.

Content that an endpoint would reject never becomes an attachment: one broken image would fail this request
and every later one in the conversation. A server's declared type is only a claim, so the type is that of the
first bytes, and the size of an image that of its header.
"""

import base64
import binascii
import re
import struct
from collections.abc import Sequence
from contextlib import suppress
from typing import Literal

from tui.core.conversation.conversation import Attachment
from tui.core.language.translate import N_, message
from tui.core.secrets.encodings import plain_base64, standard_base64
from tui.core.text import clean_line, visible
from tui.core.tools import BinaryContent, Content, ResourceContent, TextContent
from tui.core.units import octets
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


def fenced(text: str, language: str = "") -> str:
    """Return `text` between fences that nothing in it can close."""
    longest = max((len(found.group()) for found in _BACKTICKS.finditer(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


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


_UNSUPPORTED = message("unsupported type: only text, images and audio can be attached")


def attachment_of(name: str, data: bytes) -> Attachment:
    """Return `data` as an attachment called `name`.

    Raises:
        ValueError: with a sentence, if it is empty, too large, or of a type that no model accepts.
    """
    if not data:
        raise ValueError(message("the file is empty"))
    mime = media_type(data[:64])
    if mime in PICTURES or mime in SOUNDS:
        if len(data) > MAX_BYTES:
            raise ValueError(message("larger than {limit} MiB", limit=MAX_BYTES // 2**20))
        return _of_media(name, mime, data, base64.b64encode(data).decode("ascii"))
    text = None if mime else text_of(data)
    if text is None:
        if mime.startswith(("audio/", "image/")):
            raise ValueError(message("unsupported type {type}", type=mime))
        if mime:
            only = N_("unsupported type {type}: only text, images and audio can be attached")
            raise ValueError(message(only, type=mime))
        raise ValueError(_UNSUPPORTED)
    if not text:
        raise ValueError(message("the file is empty"))  # apart from its byte order mark
    return _of_text(name, type_by_name(name) or "text/plain", text)


def attachment_of_binary(name: str, content: BinaryContent) -> Attachment:
    """Return a server's image or audio as an attachment called `name`.

    Raises:
        ValueError: with a sentence, if it is neither, too large, or broken.
    """
    if (kind := kind_of(content)) == "blob":
        raise ValueError(_UNSUPPORTED)
    data, decoded = _decoded(content)
    mime = media_type(decoded[:64])
    if mime not in PICTURES and mime not in SOUNDS:
        raise ValueError(
            message("unsupported image format") if kind == "image" else message("unsupported audio format")
        )
    return _of_media(name, mime, decoded, data)


def attachments_of(contents: Sequence[Content], name: str) -> list[Attachment]:
    """Return the contents of a resource as attachments.

    Raises:
        ValueError: with a sentence, if one of them cannot be attached.
    """
    found: list[Attachment] = []
    for content in contents:
        match content:
            case BinaryContent() if kind_of(content) == "blob":
                found.append(attachment_of(name, _decoded(content)[1]))
            case BinaryContent():
                found.append(attachment_of_binary(name, content))
            case TextContent(text):
                found.append(_of_text(name, "text/plain", text))
            case ResourceContent(_, mime, text):
                found.append(_of_text(name, mime or "text/plain", text))
            case _:
                continue  # a link has no content
    return found


def kind_of(content: BinaryContent) -> Literal["image", "audio", "blob"]:
    """Return the kind of binary content; images and audio in resources arrive as blobs."""
    mime = base64_type(content.data) if content.kind == "blob" else ""
    return _kind(mime) if mime in PICTURES or mime in SOUNDS else content.kind


def _kind(mime: str) -> Literal["image", "audio"]:
    return "image" if mime in PICTURES else "audio"


def _of_media(name: str, mime: str, data: bytes, encoded: str) -> Attachment:
    if mime in PICTURES:
        shape = dimensions(data[:HEAD_BYTES])
        if shape is None or not is_whole(data):
            raise ValueError(message("the image is damaged"))
        if max(shape) > MAX_PIXELS:
            raise ValueError(message("wider or higher than {limit:,} pixels", limit=MAX_PIXELS))
    return Attachment(_kind(mime), mime, name, len(data), encoded)


def _decoded(content: BinaryContent) -> tuple[str, bytes]:
    if content.size > MAX_BYTES:
        raise ValueError(message("larger than {limit} MiB", limit=MAX_BYTES // 2**20))
    data = plain_base64(content.data)
    if not data:
        raise ValueError(message("not valid base64"))
    return data, base64.b64decode(data)


def _of_text(name: str, mime: str, text: str) -> Attachment:
    text = visible(text)
    if (size := octets(text)) > MAX_TEXT:
        raise ValueError(
            message("text larger than {limit} KiB. Attach part of the text", limit=MAX_TEXT // 1024)
        )
    return Attachment("text", mime, name, size, text)


def text_of(data: bytes) -> str | None:
    """Decode a file's text from UTF-8, UTF-16 or Windows-1252; None if it is not text."""
    marked = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    try:
        text = data.decode("utf-16" if marked else "utf-8-sig")
    except UnicodeDecodeError:
        return None if marked or _CONTROLS.search(data) else data.decode("cp1252", "replace")
    return None if "\0" in text else text


HEAD_BYTES = 256 * 1024
"""Maximum bytes read from a file; in a JPEG, the dimensions follow the camera's metadata."""

_NEAR_BYTES = 4 * 1024
"""Where the dimensions of most JPEGs are."""

MAX_SEGMENTS = 512

PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""Image types that models accept."""

SOUNDS = frozenset({"audio/wav", "audio/mpeg"})
"""Audio types that models accept."""

_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"ID3", "audio/mpeg"),
    (b"\xff\xfb", "audio/mpeg"),
    (b"\xff\xf3", "audio/mpeg"),
    (b"\xff\xf2", "audio/mpeg"),
    (b"OggS", "audio/ogg"),
    (b"fLaC", "audio/flac"),
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b", "application/gzip"),
    (b"SQLite format 3\x00", "application/vnd.sqlite3"),
    (b"\x7fELF", "application/x-executable"),
)
_NAMES = {
    "image/png": message("PNG image"),
    "image/jpeg": message("JPEG image"),
    "image/gif": message("GIF image"),
    "image/webp": message("WebP image"),
    "audio/mpeg": message("MP3 audio"),
    "audio/wav": message("WAV audio"),
    "audio/ogg": message("Ogg audio"),
    "audio/flac": message("FLAC audio"),
    "application/pdf": message("PDF document"),
    "application/zip": message("ZIP archive"),
    "application/gzip": message("gzip data"),
    "application/vnd.sqlite3": message("SQLite database"),
    "application/x-executable": message("ELF executable"),
}
_EXTENSIONS = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/gif": "gif",
    "image/webp": "webp",
    "image/svg+xml": "svg",
    "audio/mpeg": "mp3",
    "audio/wav": "wav",
    "audio/ogg": "ogg",
    "audio/flac": "flac",
    "application/pdf": "pdf",
    "application/zip": "zip",
    "application/gzip": "gz",
    "text/markdown": "md",
    "text/html": "html",
    "text/csv": "csv",
    "text/plain": "txt",
    "application/json": "json",
    "application/xml": "xml",
}
_RIFF = {b"WEBP": "image/webp", b"WAVE": "audio/wav"}
_MAX_PREFIX = 256


def media_type(head: bytes) -> str:
    """Return the media type by the first bytes, or ""."""
    if head[:4] == b"RIFF":
        return _RIFF.get(head[8:12], "")
    return next((mime for magic, mime in _MAGIC if head.startswith(magic)), "")


def base64_type(data: str) -> str:
    """Return the media type of base64 data by its first bytes, or ""."""
    return media_type(head_of(data, 64))


def described(data: str) -> str:
    """Return what base64 data contains, by its first bytes: "PNG image, 640 × 480"; "" if unknown."""
    name, size = _NAMES.get(base64_type(data), ""), picture_size(data)
    if not size:
        return name
    return message("{kind}, {width} × {height}", kind=name, width=size[0], height=size[1])


def is_whole(data: bytes) -> bool:
    """Return whether the data seems complete, because one truncated image fails a whole request."""
    match media_type(data[:64]):
        case "image/png":
            return b"IEND" in data
        case "image/jpeg":
            return b"\xff\xd9" in data[2:]
        case "image/gif":
            return data.rstrip(b"\0").endswith(b";")
        case "image/webp":
            return int.from_bytes(data[4:8], "little") + 8 <= len(data)
        case _:
            return True


def extension(mime: str) -> str:
    """Return the file name extension of a media type ("png"), or ""."""
    return _EXTENSIONS.get(mime.partition(";")[0].strip().lower(), "")


def type_by_name(name: str) -> str:
    """Return the media type of a text by its file name extension, or ""."""
    ending = name.rpartition(".")[2].lower()
    return next((mime for mime, end in _EXTENSIONS.items() if end == ending and "text" in mime), "")


def dimensions(head: bytes) -> tuple[int, int] | None:
    """Return width and height in pixels from an image's header, or None."""
    size: tuple[int, int] | None = None
    with suppress(struct.error):  # too short
        match media_type(head):
            case "image/png" if head[12:16] == b"IHDR":
                size = struct.unpack_from(">II", head, 16)
            case "image/gif":
                size = struct.unpack_from("<HH", head, 6)
            case "image/webp":
                size = _webp(head)
            case "image/jpeg":
                size = _jpeg(head)
    return size if size is not None and min(size) > 0 else None


def picture_size(data: str) -> tuple[int, int] | None:
    """Return the `dimensions` of an image in base64; only a JPEG may have them far from its start."""
    head = head_of(data, _NEAR_BYTES)
    size = dimensions(head)
    return dimensions(head_of(data)) if size is None and media_type(head) == "image/jpeg" else size


def head_of(data: str, size: int = HEAD_BYTES) -> bytes:
    """Return the first bytes of base64, however it is written; b"" if it is not base64."""
    length = -(-size // 3) * 4
    head = standard_base64(data[: 2 * length + _MAX_PREFIX])
    try:
        return binascii.a2b_base64(head[: min(length, len(head) // 4 * 4)], strict_mode=True)
    except (binascii.Error, ValueError):
        return b""


def decoded_size(data: str) -> int:
    """Return how many bytes plain base64 decodes to."""
    return max(0, len(data) * 3 // 4 - data[-2:].count("="))


def _webp(head: bytes) -> tuple[int, int] | None:
    match head[12:16] if len(head) >= 30 else b"":
        case b"VP8 ":
            width, height = struct.unpack_from("<HH", head, 26)
            return width & 0x3FFF, height & 0x3FFF
        case b"VP8L":
            bits = int.from_bytes(head[21:25], "little")
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8X":
            return int.from_bytes(head[24:27], "little") + 1, int.from_bytes(head[27:30], "little") + 1
    return None


def _jpeg(head: bytes) -> tuple[int, int] | None:
    at = 2
    for _ in range(MAX_SEGMENTS):
        while head[at : at + 2] == b"\xff\xff":  # fill bytes
            at += 1
        if at + 4 > len(head) or head[at] != 0xFF:
            break
        marker, length = head[at + 1], int.from_bytes(head[at + 2 : at + 4], "big")
        # The frame headers of all codings; C4, C8 and CC are something else.
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack_from(">HH", head, at + 5)
            return width, height
        if length < 2:
            break
        at += 2 + length
    return None
