"""A server on the current SDK whose tools return content other than short text."""

import base64
import struct
import zlib

from mcp.server.mcpserver import Image, MCPServer
from mcp_types import (
    AudioContent,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

server = MCPServer("showing")


def png(width: int, height: int) -> bytes:
    def piece(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    pixels = zlib.compress((b"\0" + b"\0" * width) * height)
    return b"\x89PNG\r\n\x1a\n" + piece(b"IHDR", head) + piece(b"IDAT", pixels) + piece(b"IEND", b"")


@server.tool()
def picture() -> Image:
    """Show a picture."""
    return Image(data=png(64, 48), format="png")


@server.tool()
def log() -> str:
    """Return a long log."""
    return "\n".join(f"{number}: all is well" for number in range(30_000))


@server.tool()
def numbers() -> list[int]:
    """Return numbers, as text and structured."""
    return [1, 2, 3]


@server.tool(structured_output=False)
def everything() -> list[TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource]:
    """Return one of each kind."""
    return [
        TextContent(type="text", text="words"),
        ImageContent(type="image", data="no picture", mime_type="image/png"),
        AudioContent(type="audio", data=base64.b64encode(b"OggS....").decode(), mime_type="audio/ogg"),
        ResourceLink(type="resource_link", name="a", uri="file:///a", description="first"),
        EmbeddedResource(
            type="resource",
            resource=TextResourceContents(uri="notes://1", mime_type="text/markdown", text="```\nx\n```"),
        ),
    ]


if __name__ == "__main__":
    server.run()
