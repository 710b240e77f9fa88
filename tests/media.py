"""Small valid images and sounds, generated as bytes."""

import base64
import struct
import wave
import zlib
from io import BytesIO

from tui.core.tools import BinaryContent


def png(width: int = 3, height: int = 2) -> bytes:
    """Return a valid black image."""

    def piece(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    pixels = zlib.compress((b"\0" + b"\0" * width) * height)
    return b"\x89PNG\r\n\x1a\n" + piece(b"IHDR", head) + piece(b"IDAT", pixels) + piece(b"IEND", b"")


def wav(frames: int = 8) -> bytes:
    """Return a valid silent sound."""
    file = BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(1)
        writer.setsampwidth(2)
        writer.setframerate(8000)
        writer.writeframes(b"\0\0" * frames)
    return file.getvalue()


def base64_of(octets: bytes) -> str:
    """Return `octets` in base64, as in results and messages."""
    return base64.b64encode(octets).decode()


def image(octets: bytes = b"", mime: str = "image/png") -> BinaryContent:
    """Return an image of a tool result, by default a small one."""
    octets = octets or png()
    return BinaryContent("image", mime, len(octets), base64_of(octets))
