"""Counts what travels between mcptui and its servers: the first thing that sees every line."""

from collections import Counter

from tui.core.ports import FrameDirection

_FRAMES = (FrameDirection.IN, FrameDirection.OUT)


class FrameTally:
    """`core.ports.FrameSink` that counts.

    Attributes:
        frames: protocol frames seen, both ways, all servers.
        octets: their bytes.
        by_server: frames by server.
    """

    def __init__(self) -> None:
        self.frames = 0
        self.octets = 0
        self.by_server: Counter[str] = Counter()

    def __call__(self, server: str, direction: FrameDirection, at_ns: int, raw: bytes) -> None:
        """Count one line if it is a frame."""
        if direction in _FRAMES:
            self.frames += 1
            self.octets += len(raw)
            self.by_server[server] += 1
