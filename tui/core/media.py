"""Media types from the first bytes, and the size of images from their headers. Pure.

A server's declared type is only a claim: an endpoint rejects a request with invalid images, and with it every
later one in the conversation. Nothing here raises, and only headers are read.
"""

import binascii
import re
from collections.abc import Callable, Iterator

HEAD_BYTES = 256 * 1024
"""Maximum bytes read from a file; in a JPEG, the dimensions follow the camera's metadata."""

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
_EXTENSIONS = {
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "image/gif": ".gif",
    "image/webp": ".webp",
    "image/svg+xml": ".svg",
    "audio/mpeg": ".mp3",
    "audio/wav": ".wav",
    "audio/ogg": ".ogg",
    "audio/flac": ".flac",
    "application/pdf": ".pdf",
    "application/zip": ".zip",
    "application/gzip": ".gz",
    "text/markdown": ".md",
    "text/html": ".html",
    "text/csv": ".csv",
    "text/plain": ".txt",
    "application/json": ".json",
}
_RIFF = {b"WEBP": "image/webp", b"WAVE": "audio/wav"}
_DATA_URI = re.compile(r"\s*data:[^,]{0,200};base64,", re.IGNORECASE)
_URL_SAFE = str.maketrans("-_", "+/")


def media_type(head: bytes) -> str:
    """Return the media type by the first bytes, or ""."""
    if head[:4] == b"RIFF":
        return _RIFF.get(head[8:12], "")
    return next((mime for magic, mime in _MAGIC if head.startswith(magic)), "")


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
    """Return the file name extension of a media type (".png"), or ""."""
    return _EXTENSIONS.get(mime.partition(";")[0].strip().lower(), "")


def type_by_name(name: str) -> str:
    """Return the media type of a text by its file name extension, or ""."""
    ending = "." + name.rpartition(".")[2].lower()
    return next((mime for mime, end in _EXTENSIONS.items() if end == ending and "text" in mime), "")


def dimensions(head: bytes) -> tuple[int, int] | None:
    """Return width and height in pixels from an image's header, or None."""
    read = _READERS.get(media_type(head))
    size = read(head) if read is not None else None
    return size if size is not None and min(size) > 0 else None


def picture_size(data: str) -> tuple[int, int] | None:
    """Return the `dimensions` of an image in plain base64; only a JPEG has them far from its start."""
    head = head_of(data, 64)
    return dimensions(head_of(data) if media_type(head) == "image/jpeg" else head)


def plain_base64(data: str) -> str | None:
    """Return `data` as base64 that every decoder accepts, or None if it is not base64.

    Servers write it with line breaks, without padding, with the URL alphabet, or as a data URI.
    """
    if _is_base64(data):
        return data
    if found := _DATA_URI.match(data):
        data = data[found.end() :]
    data = "".join(data.split()).translate(_URL_SAFE).rstrip("=")
    data += "=" * (-len(data) % 4)
    return data if _is_base64(data) else None


def head_of(data: str, size: int = HEAD_BYTES) -> bytes:
    """Return the first bytes of plain base64; b"" if it is not base64."""
    try:
        return binascii.a2b_base64(data[: -(-size // 3) * 4])
    except (binascii.Error, ValueError):
        return b""


def decoded_size(data: str) -> int:
    """Return how many bytes plain base64 decodes to."""
    return max(0, len(data) * 3 // 4 - data[-2:].count("="))


def _is_base64(data: str) -> bool:
    try:
        binascii.a2b_base64(data, strict_mode=True)
    except (binascii.Error, ValueError):
        return False
    return True


def _png(head: bytes) -> tuple[int, int] | None:
    if head[12:16] != b"IHDR" or len(head) < 24:
        return None
    return int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")


def _gif(head: bytes) -> tuple[int, int] | None:
    if len(head) < 10:
        return None
    return int.from_bytes(head[6:8], "little"), int.from_bytes(head[8:10], "little")


def _webp(head: bytes) -> tuple[int, int] | None:
    if len(head) < 30:
        return None
    match head[12:16]:
        case b"VP8 ":
            size = int.from_bytes(head[26:28], "little"), int.from_bytes(head[28:30], "little")
            return size[0] & 0x3FFF, size[1] & 0x3FFF
        case b"VP8L":
            bits = int.from_bytes(head[21:25], "little")
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8X":
            return int.from_bytes(head[24:27], "little") + 1, int.from_bytes(head[27:30], "little") + 1
    return None


def _jpeg(head: bytes) -> tuple[int, int] | None:
    for marker, at in _segments(head):
        # The frame headers of all codings; C4, C8 and CC are something else.
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            if at + 7 > len(head):
                return None
            return int.from_bytes(head[at + 5 : at + 7], "big"), int.from_bytes(head[at + 3 : at + 5], "big")
    return None


def _segments(head: bytes) -> Iterator[tuple[int, int]]:
    at = 2
    for _ in range(MAX_SEGMENTS):
        while head[at : at + 2] == b"\xff\xff":  # fill bytes
            at += 1
        if at + 4 > len(head) or head[at] != 0xFF:
            return
        yield head[at + 1], at + 2
        length = int.from_bytes(head[at + 2 : at + 4], "big")
        if length < 2:
            return
        at += 2 + length


_READERS: dict[str, Callable[[bytes], tuple[int, int] | None]] = {
    "image/png": _png,
    "image/gif": _gif,
    "image/webp": _webp,
    "image/jpeg": _jpeg,
}
