"""Searching in what was said: what is found arrives piece by piece, and the search can be stopped."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, cast

from tui.core.conversation.sessions import Found

if TYPE_CHECKING:
    from tui.runtime.conversations import Conversations

QUIET_SECONDS = 0.25
"""So long nothing must be typed before anything is searched."""

REDRAW_SECONDS = 0.1
LEAST_LETTERS = 2
MOST_FINDS = 200

Keep = Callable[[Coroutine[Any, Any, None], str], asyncio.Task[None]]


class Search:
    """One search.

    Attributes:
        text: what is searched for.
        finds: what was found so far.
        running: more may be found.
    """

    def __init__(self, conversations: "Conversations", text: str) -> None:
        self._conversations = conversations
        self.text = text
        self.finds: list[Found] = []
        self.running = False
        self._task: asyncio.Task[None] | None = None

    def start(self, keep: Keep, more: Callable[[], None]) -> None:
        """Search, once nothing was typed for a moment.

        Args:
            keep: runs what searches, and tells what goes wrong with it.
            more: called as things are found, and at the end.
        """
        self.running = True
        self._task = keep(self._run(more), "search the sessions")

    async def _run(self, more: Callable[[], None]) -> None:
        try:
            await asyncio.sleep(QUIET_SECONDS)
            await self._find(more)
        finally:
            self.running = False
            more()

    async def _find(self, more: Callable[[], None]) -> None:
        drawn = time.monotonic()
        async with aclosing(cast(AsyncGenerator[Found], self._conversations.search(self.text))) as finds:
            async for found in finds:
                self.finds.append(found)
                if len(self.finds) >= MOST_FINDS:
                    return
                if time.monotonic() - drawn >= REDRAW_SECONDS or len(self.finds) == 1:
                    drawn = time.monotonic()
                    more()

    def stop(self) -> bool:
        """Stop it; False if it does not run."""
        if not self.running or self._task is None:
            return False
        self.running = False
        self._task.cancel()
        return True
