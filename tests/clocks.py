"""Clocks that tests own."""


class NotedWaits:
    """A clock that only notes how long it was asked to wait."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    def now_ns(self) -> int:
        return 0

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
