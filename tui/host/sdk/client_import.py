"""Loads the client half of the SDK without its server half, which a host does not need.

`import mcp` loads both. The server half brings starlette, uvicorn and cryptography, and the models of
server messages: 15 MB that are never freed (measured). The client half imports a few names from it, only
to recognise an in-process server object; it gets empty classes of these names instead (seen with mcp 2.3).
"""

from tui.core.partial_import import import_without

LEFT_OUT = ("mcp.server",)


def load_client_half() -> None:
    """Import the client half, unless the SDK is imported already. Thread-safe: all callers share one load."""
    import_without("mcp", ["mcp.client"], LEFT_OUT)
