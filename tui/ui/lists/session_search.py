"""Searches the messages of all sessions."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, cast

from tui.core import units
from tui.core.conversation.sessions import SessionMatch
from tui.ui.lists.items import FinderItem, found_items, heading
from tui.ui.widgets.rows import cells_of

if TYPE_CHECKING:
    from tui.runtime.conversations import Conversations

LEAST_CELLS = 2
"""Minimum width of a text to search messages for: two letters, or one letter of a wide script."""

QUIET_SECONDS = 0.25
"""Seconds without a key before a search starts."""

REDRAW_SECONDS = 0.1
MOST_FINDS = 200

Keep = Callable[[Coroutine[Any, Any, None], str], asyncio.Task[None]]


class SessionSearch:
    """A search in the messages of all sessions; results arrive one by one.

    Attributes:
        text: the text to search for.
        finds: the matches so far.
        running: whether there may be more.
    """

    def __init__(self, conversations: "Conversations", text: str) -> None:
        self._conversations = conversations
        self.text = text
        self.finds: list[SessionMatch] = []
        self.running = False
        self._task: asyncio.Task[None] | None = None

    def start(self, keep: Keep, more: Callable[[], None]) -> None:
        """Start after a pause in typing, unless the text is too short.

        `more` is called for new matches, and at the end.
        """
        if cells_of(self.text) < LEAST_CELLS:
            return
        self.running = True
        self._task = keep(self._run(more), "search the sessions")

    async def _run(self, more: Callable[[], None]) -> None:
        found = cast(AsyncGenerator[SessionMatch], self._conversations.search(self.text))
        try:
            await asyncio.sleep(QUIET_SECONDS)
            drawn = time.monotonic()
            async with aclosing(found) as finds:
                async for one in finds:
                    self.finds.append(one)
                    if len(self.finds) >= MOST_FINDS:
                        return
                    if time.monotonic() - drawn >= REDRAW_SECONDS or len(self.finds) == 1:
                        drawn = time.monotonic()
                        more()
        finally:
            self.running = False
            more()

    def stop(self) -> bool:
        """Stop the search; return whether it was running."""
        if not self.running or self._task is None:
            return False
        self.running = False
        self._task.cancel()
        return True

    def items(self, now: float) -> list[FinderItem]:
        """Return a heading with the state of the search, and the matches so far."""
        if cells_of(self.text) < LEAST_CELLS:
            return []
        amount = units.plural(len(self.finds), "place")
        if self.running:
            after = f"searching…  {amount}  esc stops" if self.finds else "searching…  esc stops"
        else:
            after = amount if self.finds else "nothing"
        if len(self.finds) >= MOST_FINDS:
            after = f"first {MOST_FINDS} matches"
        return [heading("IN MESSAGES", after), *found_items(self.finds, self.text, now)]
