"""All saved conversations: listed, searched, renamed, deleted, brought back, exported."""

from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path

from tui.core.conversation.conversation import Compaction, Conversation, Message
from tui.core.conversation.sessions import ExportKind, SessionInfo, SessionMatch, SessionMeta, Sessions
from tui.core.errors import McptuiError
from tui.runtime.open_conversation import OpenConversation


class SavedConversations:
    """What can be done with saved conversations, the open one among them.

    Args:
        store: where they are saved; None saves none.

    Attributes:
        revision: grows when the open conversation was replaced by another, renamed or compacted.
        opened: grows when it was replaced by another.
    """

    def __init__(self, store: Sessions | None) -> None:
        self._store = store
        self._now = OpenConversation(Conversation())
        self.revision = self.opened = 0

    @property
    def messages(self) -> Sequence[Message]:
        """What was said in the open one."""
        return self._now.conversation.messages

    @property
    def unknown(self) -> frozenset[str]:
        """Ids of calls in it that were sent and whose outcome nobody knows."""
        return self._now.unknown

    @property
    def turn_numbers(self) -> Mapping[int, int]:
        """Numbers that its turns have in the traffic of this run, by the index of their question."""
        return self._now.turn_numbers

    @property
    def compaction(self) -> Compaction:
        """What stands in for its oldest messages when the model is asked."""
        return self._now.conversation.compaction

    async def sessions(self, text: str = "", *, limit: int = 200) -> Sequence[SessionInfo]:
        """Return saved ones whose title has `text` in it, the last changed first."""
        return await self._store.list(text, limit=limit) if self._store is not None else ()

    async def search(self, text: str) -> AsyncIterator[SessionMatch]:
        """Yield where `text` was said in any of them."""
        if self._store is not None:
            async for found in self._store.search(text):
                yield found

    async def rename(self, session: str, title: str) -> None:
        """Give one another title."""
        if self._is_open(session):
            self._now.describe(SessionMeta(title=title))
            await self._now.settled()
        else:
            await self._stored().rename(session, title)
        self.revision += 1

    async def delete(self, session: str) -> None:
        """Take one out of the list; `restore` brings it back."""
        if self._is_open(session):
            raise McptuiError("this conversation is open", next_step="Begin a new one first.")
        await self._stored().delete(session)

    async def restore(self, session: str) -> None:
        """Bring back what was deleted."""
        await self._stored().restore(session)

    async def export(self, session: str, kind: ExportKind, path: Path) -> None:
        """Write one to a file."""
        await self._now.settled()
        await self._stored().export(session, kind, path)

    def _is_open(self, session: str) -> bool:
        return self._now.info is not None and self._now.info.id == session

    def _stored(self) -> Sessions:
        if self._store is None:
            raise McptuiError("conversations are not saved in this run")
        return self._store
