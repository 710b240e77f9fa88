"""The calls made by hand that are remembered, as the workbench uses them: read once, written in a thread."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from tui.core.workbench import CallMemory
from tui.settings.calls import change_calls, load_calls


class StoredCalls:
    """What is remembered, and the file that it is kept in.

    Args:
        path: the file; it need not be there.

    Attributes:
        memory: what is remembered, as far as it was read.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._turn = asyncio.Lock()
        self.memory = CallMemory()

    async def load(self) -> None:
        """Read the file."""
        self.memory = await asyncio.to_thread(load_calls, self._path)

    async def change(self, change: Callable[[CallMemory], CallMemory]) -> None:
        """Change what is remembered; one change at a time.

        Raises:
            ConfigError: the file is damaged or cannot be written.
            ValueError: with a sentence, if the change cannot be made.
        """
        async with self._turn:
            self.memory = await asyncio.to_thread(change_calls, self._path, change)
