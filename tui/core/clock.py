"""The real clock behind `ports.Clock`."""

import asyncio
import time


class MonotonicClock:
    """Monotonic time of this machine."""

    def now_ns(self) -> int:
        """Return monotonic nanoseconds."""
        return time.monotonic_ns()

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)
