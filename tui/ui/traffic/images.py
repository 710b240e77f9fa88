"""What a base64 string is, told by how it begins: which kind of image, and how large. Pure."""

import base64
import re
import struct

LEAST = 60
"""Shorter strings are no images."""

HEAD = 400
"""Characters that are looked at."""

_BASE64 = re.compile(rb"[A-Za-z0-9+/=_-]+")
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
    """Return what a base64 text holds ("PNG image, 640 × 480"), "" if it is not known."""
    head = _decoded(encoded)
    for sign, words, ending in _SIGNS:
        if head.startswith(sign):
            if ending == "png" and len(head) >= 24:
                width, height = struct.unpack(">II", head[16:24])
                return f"{words}, {width} × {height}"
            if ending == "gif" and len(head) >= 10:
                width, height = struct.unpack("<HH", head[6:10])
                return f"{words}, {width} × {height}"
            return words
    if head[:4] == b"RIFF":
        return "WebP image" if head[8:12] == b"WEBP" else "WAV audio"
    return ""


def ending(encoded: bytes) -> str:
    """Return the ending of a file with what a base64 text holds, "" if it is not known."""
    head = _decoded(encoded)
    for sign, _, name in _SIGNS:
        if head.startswith(sign):
            return name
    if head[:4] == b"RIFF":
        return "webp" if head[8:12] == b"WEBP" else "wav"
    return ""


def _decoded(encoded: bytes) -> bytes:
    head = encoded[:HEAD]
    head = head[: len(head) - len(head) % 4]
    if len(head) < LEAST // 2 or not _BASE64.fullmatch(head):
        return b""
    try:
        return base64.b64decode(head)
    except ValueError:
        return b""
