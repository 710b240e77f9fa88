"""Recognizes images in base64 strings by their first bytes: type and size. Pure."""

import base64
import re
import struct

LEAST = 60
"""A shorter string is not an image."""

HEAD = 400
"""Number of characters to examine."""

PICTURES = frozenset({"png", "jpg", "gif", "webp"})
"""Extensions of images that can be shown as pictures."""

_BASE64 = re.compile(rb"[A-Za-z0-9+/=]+")
_DATA_URL = re.compile(rb"data:[\w.+/\\-]{1,100}(;[\w=.+-]{1,100}){0,8};base64,")
_FOR_URLS = bytes.maketrans(b"-_", b"+/")
_SIGNS = (
    (b"\x89PNG\r\n\x1a\n", "PNG image", "png"),
    (b"\xff\xd8\xff", "JPEG image", "jpg"),
    (b"GIF8", "GIF image", "gif"),
    (b"%PDF", "PDF document", "pdf"),
    (b"PK\x03\x04", "ZIP archive", "zip"),
    (b"\x1f\x8b", "gzip data", "gz"),
    (b"OggS", "Ogg audio", "ogg"),
    (b"ID3", "MP3 audio", "mp3"),
    (b"fLaC", "FLAC audio", "flac"),
)


def look(encoded: bytes) -> str:
    """Return a description of base64 data ("PNG image, 640 × 480"), "" if unknown."""
    head = _decoded(encoded)
    words, name = _kind(head)
    if name == "png" and len(head) >= 24:
        width, height = struct.unpack(">II", head[16:24])
    elif name == "gif" and len(head) >= 10:
        width, height = struct.unpack("<HH", head[6:10])
    else:
        return words
    return f"{words}, {width} × {height}"


def ending(encoded: bytes) -> str:
    """Return the file extension for base64 data, "" if unknown."""
    return _kind(_decoded(encoded))[1]


def _kind(head: bytes) -> tuple[str, str]:
    if head[:4] == b"RIFF":
        return ("WebP image", "webp") if head[8:12] == b"WEBP" else ("WAV audio", "wav")
    return next(((words, name) for sign, words, name in _SIGNS if head.startswith(sign)), ("", ""))


def base64_of(encoded: bytes) -> bytes:
    """Return the base64 in a JSON string: without a data URL's prefix, in the standard alphabet."""
    found = _DATA_URL.match(encoded, 0, HEAD)
    text = encoded[found.end() :] if found is not None else encoded
    return text.replace(b"\\/", b"/").translate(_FOR_URLS)


def _decoded(encoded: bytes) -> bytes:
    head = base64_of(encoded[:HEAD])
    head = head[: len(head) - len(head) % 4]
    if len(head) < LEAST // 2 or not _BASE64.fullmatch(head):
        return b""
    try:
        return base64.b64decode(head)
    except ValueError:
        return b""
