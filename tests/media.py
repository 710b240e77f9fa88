"""Small real pictures and sounds, made of bytes."""

import base64
import struct
import wave
import zlib
from io import BytesIO

from tui.core.tools import BinaryContent


def png(width: int = 3, height: int = 2) -> bytes:
    """Return a whole picture, black."""

    def piece(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    pixels = zlib.compress((b"\0" + b"\0" * width) * height)
    return b"\x89PNG\r\n\x1a\n" + piece(b"IHDR", head) + piece(b"IDAT", pixels) + piece(b"IEND", b"")


def wav(frames: int = 8) -> bytes:
    """Return a whole sound, silent."""
    file = BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(1)
        writer.setsampwidth(2)
        writer.setframerate(8000)
        writer.writeframes(b"\0\0" * frames)
    return file.getvalue()


def base64_of(octets: bytes) -> str:
    """Return `octets` as results and messages carry them."""
    return base64.b64encode(octets).decode()


def image(octets: bytes = b"", mime: str = "image/png") -> BinaryContent:
    """Return a picture in a tool result; a small one if no bytes are given."""
    octets = octets or png()
    return BinaryContent("image", mime, len(octets), base64_of(octets))
