"""A server whose tools return content other than short text."""

import base64
import struct
import zlib

from answering_loop import Answer, serve  # beside this script


def png(width: int, height: int) -> bytes:
    def piece(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    pixels = zlib.compress((b"\0" + b"\0" * width) * height)
    return b"\x89PNG\r\n\x1a\n" + piece(b"IHDR", head) + piece(b"IDAT", pixels) + piece(b"IEND", b"")


PICTURE = {"type": "image", "mimeType": "image/png", "data": base64.b64encode(png(64, 48)).decode()}
LOG = {"type": "text", "text": "\n".join(f"{number}: all is well" for number in range(30_000))}
CONTENT = {"picture": [PICTURE], "log": [LOG]}


def answer(method: str, params: dict[str, str], ident: object) -> Answer:
    return {"content": CONTENT[params["name"]]} if method == "tools/call" else None


serve(answer, CONTENT, modern=True)
