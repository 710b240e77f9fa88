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


def text(said: str) -> dict[str, object]:
    return {"type": "text", "text": said}


def data(kind: str, mime: str, encoded: str) -> dict[str, object]:
    return {"type": kind, "mimeType": mime, "data": encoded}


NOTE = {"uri": "notes://1", "mimeType": "text/markdown", "text": "```\nx\n```"}
CONTENT = {
    "picture": [data("image", "image/png", base64.b64encode(png(64, 48)).decode())],
    "log": [text("\n".join(f"{number}: all is well" for number in range(30_000)))],
    "numbers": [text("1"), text("2"), text("3")],
    "everything": [
        text("words"),
        data("image", "image/png", "no picture"),
        data("audio", "audio/ogg", base64.b64encode(b"OggS....").decode()),
        {"type": "resource_link", "name": "a", "uri": "file:///a", "description": "first"},
        {"type": "resource", "resource": NOTE},
    ],
}
STRUCTURED = {"numbers": {"structuredContent": {"result": [1, 2, 3]}}}


def answer(method: str, params: dict[str, str], ident: object) -> Answer:
    if method != "tools/call":
        return None
    return {"content": CONTENT[params["name"]], **STRUCTURED.get(params["name"], {})}


serve(answer, CONTENT, modern=True)
