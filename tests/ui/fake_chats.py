"""Saved conversations in memory, over the conversation of a fake runtime."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tui.core.conversation.conversation import (
    Attachment,
    Compaction,
    Conversation,
    Message,
    Remark,
    UserMessage,
)
from tui.core.conversation.sessions import ExportKind, SessionInfo, SessionMatch
from tui.core.errors import McptuiError
from tui.core.ports import Approver, Meters, ModelChoice
from tui.storage.exports.contents import Choice, Review, review_of
from tui.storage.exports.document import Document, Heading
from tui.storage.sessions.store import TrafficOf, no_traffic

if TYPE_CHECKING:
    from tui.runtime.turn import PendingTurn

DEMO = ModelChoice("demo", "demo", "offline", "built in", facts=("no language model",), current=True)
OLLAMA = ModelChoice(
    "ollama", "qwen3:8b", "http://127.0.0.1:11434/v1", "found on this machine", 32768, ("text protocol xml",)
)


class FakeChats:
    """The part of the conversations that screens use, set by a test.

    Attributes:
        saved: the listed sessions by id, and the messages of each (`talks`).
        deleted: the deleted sessions by id.
        finds: the results of a search, each after `gate`, if set.
        offers: the models of each endpoint, or an error to raise.
        asked: each question with its attachments.
        done: other requests, as tuples.
    """

    def __init__(
        self, conversation: Conversation, turn: "Callable[[Approver], PendingTurn] | None" = None
    ) -> None:
        self.conversation = conversation
        self.revision = 1
        self.opened = 0
        self.turn_numbers: dict[int, int] = {}
        self.recordings: tuple[str, ...] = ()
        self.busy = ""
        self.info: SessionInfo | None = None
        self.problem = self.left_unsaved = ""
        self.unknown: frozenset[str] = frozenset()
        self.meters = Meters()
        self.saved: dict[str, SessionInfo] = {}
        self.talks: dict[str, list[Message]] = {}
        self.deleted: dict[str, SessionInfo] = {}
        self.finds: list[SessionMatch] = []
        self.gate: asyncio.Event | None = None
        self.begun_searches = self.closed_searches = 0
        self.known: list[ModelChoice] = [DEMO, OLLAMA]
        self.offers: dict[str, Sequence[str] | McptuiError] = {}
        self.system = ""
        self.results: dict[str, str] = {}
        self.asked: list[tuple[str, tuple[Attachment, ...]]] = []
        self.done: list[tuple[object, ...]] = []
        self.effort = ""
        self._turn = turn

    def profile_of(self, label: str) -> None:
        """No model has prices."""

    def lost(self) -> str:
        lost, self.left_unsaved = self.left_unsaved, ""
        return lost

    @property
    def now(self) -> "FakeChats":
        return self

    active_model = now

    @property
    def parent(self) -> str:
        return self.info.parent if self.info is not None else ""

    @property
    def messages(self) -> Sequence[Message]:
        return self.conversation.messages

    @property
    def remarks(self) -> Sequence[Remark]:
        return self.conversation.remarks

    @property
    def compaction(self) -> Compaction:
        return self.conversation.compaction

    def save(self, info: SessionInfo, *messages: Message) -> SessionInfo:
        """Add a session to the list."""
        self.saved[info.id] = info
        self.talks[info.id] = list(messages)
        return info

    # ---- saved conversations ----

    async def sessions(self, text: str = "") -> Sequence[SessionInfo]:
        found = [info for info in self.saved.values() if text.casefold() in info.title.casefold()]
        return sorted(found, key=lambda info: -info.changed)

    async def search(self, text: str) -> AsyncIterator[SessionMatch]:
        self.begun_searches += 1
        try:
            for found in self.finds:
                if self.gate is not None:
                    await self.gate.wait()
                if text.casefold() in found.excerpt.casefold():
                    yield found
        finally:
            self.closed_searches += 1

    async def new(self) -> None:
        self.left_unsaved = self.problem
        self.info = None
        self.conversation.messages.clear()
        self.conversation.compaction = Compaction()
        self.revision += 1
        self.opened += 1

    async def resume(self, session: str) -> None:
        info = self._saved(session)
        if info.problem or info.in_use:
            raise McptuiError(info.problem or "it is open in another mcptui", where=info.title)
        self.done.append(("resume", session))
        self._replace(info, self.talks[session])

    async def branch(self, upto: int, parent: str = "") -> None:
        self.done.append(("branch", upto))
        self.left_unsaved = self.problem
        if self.problem:
            self.info = None
            del self.conversation.messages[upto:]
            self.revision += 1
            return
        of = self.info or SessionInfo("s0", "first")
        branch = replace(of, id=f"{of.id}-b{len(self.saved)}", parent=parent or of.id, branched_at=upto)
        self.save(branch, *self.conversation.messages[:upto])
        self.talks[of.id] = list(self.conversation.messages)
        self.saved.setdefault(of.id, of)
        self._replace(branch, self.talks[branch.id])

    async def messages_of(self, session: str) -> Sequence[Message]:
        return self.talks[self._saved(session).id]

    async def rename(self, session: str, title: str) -> str:
        self.saved[session] = replace(self._saved(session), title=title)
        self.revision += 1
        return title

    async def title_from_model(self) -> str:
        assert self.info is not None
        return await self.rename(self.info.id, "A title of the model")

    async def delete(self, session: str) -> None:
        self.deleted[session] = self._saved(session)
        del self.saved[session]

    async def restore(self, session: str) -> None:
        self.saved[session] = self.deleted.pop(session)

    async def export(
        self, session: str, kind: ExportKind, path: Path, *, new: bool, choice: Choice, traffic: TrafficOf
    ) -> str:
        self.done.append(("export", kind, "new" if new else "over"))
        await asyncio.to_thread(path.write_text, kind)
        return (await self.review(session)).words()

    def stored(self) -> "FakeChats":
        return self

    async def review(self, session: str, traffic: TrafficOf = no_traffic) -> Review:
        review = review_of(Document("", "", iter([Heading("You", turn=1), Heading("m")])))
        review.redacted = 1
        return review

    # ---- requests to the model ----

    async def set_system(self, text: str) -> None:
        self.system = text

    async def compact(self) -> str:
        self.done.append(("compact",))
        self.conversation.compaction = Compaction(2, "They said hello.", 0)
        self.revision += 1
        return "1 turn was summarized."

    def uncompact(self) -> None:
        self.done.append(("uncompact",))
        self.conversation.compaction = Compaction()
        self.revision += 1

    def result(self, name: str) -> str:
        return self.results.get(name, "")

    # ---- models ----

    async def choices(self) -> Sequence[ModelChoice]:
        return tuple(self.known)

    async def offered(self, name: str) -> Sequence[str]:
        if self.gate is not None:
            await self.gate.wait()
        offer = self.offers.get(name, ())
        if isinstance(offer, McptuiError):
            raise offer
        return offer

    async def forget_learned(self, name: str) -> None:
        self.done.append(("forget", name))
        self.known = [replace(choice, learned=()) if choice.name == name else choice for choice in self.known]

    async def switch(
        self, name: str, model: str = "", effort: str | None = None, *, for_branch: bool = False
    ) -> None:
        self.done.append(("switch", name, model, *((effort,) if effort is not None else ())))
        self.effort = effort or ""
        self.known = [
            replace(choice, current=choice.name == name, model=model or choice.model)
            if choice.name == name
            else replace(choice, current=False)
            for choice in self.known
        ]

    # ---- turns ----

    def ask(self, text: str, approver: Approver, attachments: tuple[Attachment, ...] = ()) -> "PendingTurn":
        assert self._turn is not None
        self.asked.append((text, attachments))
        self.conversation.say(text, attachments)
        if self.info is None:
            self.info = self.save(SessionInfo("s0", text, turns=1))
        return self._turn(approver)

    async def again(self, upto: int | None = None, parent: str = "") -> tuple[str, tuple[Attachment, ...]]:
        messages = self.conversation.messages
        index = upto if upto is not None else _last_question(messages)
        message = messages[index] if 0 <= index < len(messages) else None
        if not isinstance(message, UserMessage):
            raise McptuiError("Nothing was asked yet.")
        await self.branch(index)
        return message.text, message.attachments

    def _saved(self, session: str) -> SessionInfo:
        if session not in self.saved:
            raise McptuiError("session not found", where=session)
        return self.saved[session]

    def _replace(self, info: SessionInfo, messages: Sequence[Message]) -> None:
        self.info = info
        self.conversation.messages[:] = messages
        self.revision += 1
        self.opened += 1


def _last_question(messages: Sequence[Message]) -> int:
    return max((at for at, message in enumerate(messages) if isinstance(message, UserMessage)), default=-1)
