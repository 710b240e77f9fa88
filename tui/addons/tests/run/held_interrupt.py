"""Ctrl+c before and after the event loop of a run. Imports nothing."""


class HeldInterrupt:
    """Notes ctrl+c while no event loop handles it. The third one raises KeyboardInterrupt."""

    def __init__(self) -> None:
        self.count = 0

    def note(self, number: int, frame: object) -> None:
        """Handle the signal."""
        self.count += 1
        if self.count > 2:
            raise KeyboardInterrupt
