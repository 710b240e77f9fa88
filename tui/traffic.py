"""The traffic of one run of the program: everything that taps see passes here."""

from tui.core.traffic import Captured


class Traffic:
    """`core.traffic.TrafficSink` that counts.

    Attributes:
        frames: how many lines went to servers or came from them.
    """

    def __init__(self) -> None:
        self.frames = 0

    def __call__(self, captured: Captured) -> None:
        """Take what a tap saw."""
        if captured.kind is None:
            self.frames += 1
