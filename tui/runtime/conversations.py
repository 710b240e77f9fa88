"""The conversation on screen and all sessions: saving, resuming, branching, turns."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tui.core.context.compaction import Compactor, take_compaction
from tui.core.context.context_parts import ContextPart
from tui.core.context.skill_texts import SkillMark
from tui.core.context.summaries import suggest_title
from tui.core.conversation.conversation import (
    SYSTEM,
    Attachment,
    Compaction,
    Conversation,
    Journal,
    Message,
    Remark,
    SessionMeta,
    UserMessage,
)
from tui.core.conversation.sessions import LAST, LIST_STEP, SessionInfo, SessionMatch, named, title_of
from tui.core.errors import McptuiError, UsageError
from tui.core.events import EndReason, Event, TurnEnded
from tui.core.language.translate import message
from tui.core.permission.content_sources import loaded_skills
from tui.core.ports import Approver, Meters, Usage
from tui.core.secrets.walk import without_secrets
from tui.core.text import capitalized, clean_line, quoted_name
from tui.core.turn.limits import TurnMeter
from tui.core.turn.loop import Turn
from tui.core.turn.tool_calls import TurnDeps, TurnModel
from tui.runtime.active_model import ActiveModel
from tui.runtime.redaction import EventRedactor, ShownMessages
from tui.runtime.request_context import RequestContext
from tui.runtime.saved_conversation import SavedConversation
from tui.runtime.turn import PendingTurn, Prerequisite, TurnContext, servers_starting

if TYPE_CHECKING:
    from tui.core.turn.model_step import AnswerFormat
    from tui.storage.sessions.store import SessionStore


def _sentence(problem: str) -> str:
    return message("{sentence}.", sentence=capitalized(problem))


def _loading(model: str) -> str:
    return message("Loading {model}", model=clean_line(model, 60)) if model else ""


@dataclass(eq=False, repr=False)
class Conversations:
    """The conversation on screen, and all sessions. Without a `_store`, nothing is saved.

    `revision` grows when the open conversation is replaced, renamed or compacted, `opened` when it is
    replaced. `now` is the conversation and what is saved with it. Screens show `messages`: its own may have
    secrets. `busy` is the command in progress, such as "the conversation is being summarized", or "". While
    it runs, the conversation cannot be replaced, and no other command or turn can start.
    """

    active_model: ActiveModel
    _context: TurnContext
    _request: RequestContext
    _store: "SessionStore | None"

    def __post_init__(self) -> None:
        self._shown = ShownMessages((), self._context.redactor)
        self.now = SavedConversation(Conversation())
        self.revision = self.opened = 0
        self.busy = self._lost = ""
        self._turns = 0
        self._titling: asyncio.Task[None] | None = None
        self._numbers: dict[str, dict[int, int]] = {}  # session -> numbers of its turns in this run

    @property
    def info(self) -> SessionInfo | None:
        """The session of the conversation, None before the first message."""
        return self.now.info if self.now.info.id else None

    @property
    def parent(self) -> str:
        """The id of the session that the conversation branched from, or ""."""
        return self.now.info.parent

    @property
    def problem(self) -> str:
        """Why this conversation is not being saved, or ""."""
        return self.now.problem

    @property
    def messages(self) -> Sequence[Message]:
        """The messages without configured secrets."""
        if self._shown.messages is not (messages := self.now.talk.messages):
            self._shown = ShownMessages(messages, self._context.redactor)
        return self._shown

    @property
    def compaction(self) -> Compaction:
        now = self.now.talk.compaction
        return replace(now, summary=self._context.redactor.redact_spoken(now.summary))

    def lost(self) -> str:
        """Return, once, why the previous conversation was not saved, or ""."""
        lost, self._lost = self._lost, ""
        return lost

    @property
    def remarks(self) -> Sequence[Remark]:
        return without_secrets(list(self.now.talk.remarks), self._context.redactor.redact)

    @property
    def meters(self) -> Meters:
        context_meter, now, profile = self.active_model.context_meter, self.now, self.active_model.profile
        estimated = now.info.estimated or (context_meter.estimated and context_meter.tokens > 0)
        currency = profile.currency if profile is not None else "USD"
        return Meters(
            context_meter.tokens, context_meter.window, estimated, now.info.tokens, now.info.cost, currency
        )

    def result(self, name: str) -> str:
        return self._context.redactor.redact_spoken(self.now.result_store.find(name) or "")

    async def new(self) -> None:
        with self._exclusively(message("a new conversation is being started")):
            await self._replace(SavedConversation(Conversation()))

    async def resume(self, session: str) -> None:
        """Continue a session in place of the conversation on screen, which stays if that fails (McptuiError).

        Cancelling while the file is read changes nothing. After that, it can no longer be cancelled.
        """
        if session == self.now.info.id:
            return
        with self._exclusively(message("a session is being opened")):
            found, journal = await self.stored().reopen(session)
            opened = SavedConversation.reopened(found, journal)
            opened.turn_numbers = self._numbers.get(session, {})
            if problem := found.info.problem:
                opened.talk.remark(Remark(len(opened.talk.messages), "warn", _sentence(problem)))
            await self._replace(opened, found.meta)

    async def resume_named(self, name: str, *, begin: bool = False) -> str:
        """Continue the session with this id, start of an id, or title, or "last" for the most recent one.

        With `begin`, if there is none, the next question starts a session with this title, and a note is
        returned. Raises McptuiError.
        """
        found = named(await self.sessions(limit=100_000), name)
        if found is not None:
            await self.resume(found.id)
            return ""
        if name == LAST:
            raise UsageError(message("no session to resume"))
        if not begin:
            raise UsageError(message("session not found"), where=name, next_step=LIST_STEP)
        self.now.describe(SessionMeta(title=name))
        return message("No session {name} yet. Your first message starts it.", name=quoted_name(name, 60))

    async def branch(self, upto: int, parent: str = "") -> None:
        """Continue with a copy that ends before message `upto`. The original is unchanged.

        `parent` is the id of another session with the same messages up to there, of which it is the branch.
        Raises McptuiError if the copy cannot be written.
        """
        with self._exclusively(message("a branch is being made")) as now:
            journal: Journal | None = None
            if upto > 0 and self._store is not None and now.info.id and not now.problem:
                await now.settled()
                journal = await self._store.begin(parent=parent or now.info.id, upto=upto)
            await self._replace(now.branched(upto, journal, parent))
            self.now.describe(self._about_model())

    async def again(self, upto: int | None = None, parent: str = "") -> tuple[str, tuple[Attachment, ...]]:
        """Branch before the user message at `upto` (None: the last one) and return that message.

        `parent` as for `branch`.

        Raises McptuiError if there is no question.
        """
        messages = self.now.talk.messages
        asked = [at for at, message in enumerate(messages) if isinstance(message, UserMessage)]
        index = upto if upto is not None else (asked[-1] if asked else -1)
        question = messages[index] if index in asked else None
        if not isinstance(question, UserMessage):
            raise McptuiError(message("no question to retry"))
        await self.branch(index, parent)
        return question.text, question.attachments

    async def sessions(self, *, limit: int = 200) -> Sequence[SessionInfo]:
        """Return the sessions, most recently changed first."""
        return await self._store.list(limit=limit) if self._store is not None else ()

    async def search(self, text: str) -> AsyncIterator[SessionMatch]:
        if self._store is not None:
            async for found in self._store.search(text):
                yield found

    async def messages_of(self, session: str) -> Sequence[Message]:
        """Return the messages of a session without opening it. Raises McptuiError if it cannot be read."""
        if session == self.now.info.id:
            return self.messages
        return (await self.stored().read(session)).conversation.messages

    async def rename(self, session: str, title: str) -> str:
        title = self._context.redactor.redact_cut(title, spoken=True)
        if session == self.now.info.id:
            self.now.describe(SessionMeta(title=title))
            await self.now.settled()
        else:
            await self.stored().rename(session, title)
        self.revision += 1
        return title

    async def delete(self, session: str) -> None:
        """Delete a session. `SessionStore.restore` undoes that."""
        if session == self.now.info.id:
            step = message("Start a new one first.")
            raise McptuiError(message("this session is already open"), next_step=step)
        await self.stored().delete(session)

    @property
    def system(self) -> str:
        return self._system_of(self.now)

    def _system_of(self, now: SavedConversation) -> str:
        profile = self.active_model.profile
        return now.talk.system if now.own_system else (profile and profile.system) or SYSTEM

    async def set_system(self, text: str) -> None:
        """Set the system prompt; an empty one restores the default."""
        own = text.strip()
        self.now.talk.system, self.now.own_system = own, bool(own)
        self.now.describe(SessionMeta(system=own))
        self.active_model.context_meter.forget()
        self.revision += 1

    async def compact(self) -> str:
        """Summarize the older turns now. Return a sentence about the result.

        Raises McptuiError if there is no model, or if it fails to write the summary.
        """
        with self._exclusively(message("the conversation is being summarized")) as now:
            active = self.active_model
            room = Compactor(now.talk, active.model, active.context_meter, self.biller(now))
            notice = await room.make_room(by_hand=True)
        self.revision += 1
        return notice.message if notice is not None else message("Nothing to compact yet.")

    def uncompact(self) -> None:
        """Undo the summary, so that the model reads everything again."""
        meter = self.active_model.context_meter
        talk = self.now.talk
        take_compaction(talk, Compaction(skills_off=talk.compaction.skills_off), meter)
        meter.patient = True
        self.revision += 1

    def skills(self) -> Sequence[SkillMark]:
        """Return the skills whose text the model is sent."""
        return loaded_skills(self.now.talk)

    def turn_off_skills(self) -> str:
        """Send no text of the loaded skills any longer; return a note about them, "" if there are none."""
        if not (found := self.skills()):
            return ""
        talk = self.now.talk
        off = replace(talk.compaction, skills_off=len(talk.messages))
        take_compaction(talk, off, self.active_model.context_meter)
        names = ", ".join(dict.fromkeys(clean_line(one.name, 80) for one in found))
        told = message("Skills turned off: {names}. The model no longer gets their text.", names=names)
        talk.remark(Remark(len(talk.messages), "notice", told))
        self.revision += 1
        return told

    def context_parts(self) -> Sequence[ContextPart]:
        """Return the tokens of each part of the next request, without the question."""
        return self._request.parts(self.now.talk, self.system)

    async def title_from_model(self) -> str:
        with self._exclusively(message("the model is writing a title")) as now:
            if not now.info.id:
                raise McptuiError(message("the conversation is empty"))
            model, messages = self.active_model.model, now.talk.messages
            title = await suggest_title(model, messages, self.biller(now))
            return await self.rename(now.info.id, title)

    @property
    def effort(self) -> str:
        """The reasoning effort that is requested, or ""."""
        return self.active_model.profile.effort if self.active_model.profile is not None else ""

    async def forget_learned(self, name: str) -> None:
        with self._exclusively(message("what was learned about the model is being forgotten")):
            await self.active_model.forget(name)
        self.revision += 1

    async def switch(
        self, name: str, model: str = "", effort: str | None = None, *, for_branch: bool = False
    ) -> None:
        """Switch the model, also when this conversation is resumed, unless only a branch is to use it."""
        with self._exclusively(message("the model is being switched")) as now:
            await self.active_model.switch(name, model, effort)
            if not for_branch:
                now.describe(self._about_model())
        self.revision += 1

    def ask(
        self,
        text: str,
        approver: Approver,
        attachments: tuple[Attachment, ...] = (),
        answer_format: "AnswerFormat | None" = None,
    ) -> PendingTurn:
        """Send `text` and attachments. The turn runs while its events are iterated.

        Raises McptuiError if there is no model.
        """
        active, context, now = self.active_model, self._context, self.now
        _ = active.model  # without a model, it raises
        number, at = self.next_turn(), time.time()

        async def begin() -> Turn:
            await asyncio.to_thread(self._request.look)
            await active.renew_key()
            await self._open_journal(now, text)
            now.recorded_in(context.traffic.path.name)
            now.talk.system = self._system_of(now)
            now.turn_numbers[len(now.talk.messages)] = number
            now.talk.say(text, attachments, at)
            model = TurnModel(
                active.model,
                active.context_meter,
                active.tool_selection,
                self.biller(now),
                self._request.instructions(),
                answer_format,
            )
            permission = context.permission(approver)
            deps = TurnDeps(
                model, context.tools(), permission, context.limits, context.clock, now.result_store
            )
            return Turn(now.talk, deps, number)

        meter = TurnMeter(context.limits, context.clock)
        waits = (
            servers_starting(context.host, context.clock),
            Prerequisite(lambda: _loading(active.to_load), active.load),
        )

        def notice(event: Event) -> None:
            context.notice(event)
            if isinstance(event, TurnEnded) and event.reason is EndReason.ANSWERED:
                self._title_soon(now)

        return PendingTurn(begin, meter, notice, EventRedactor(context.redactor), waits)

    def next_turn(self) -> int:
        """Return the number of a new turn in the traffic of this run, also of one that is not shown here."""
        self._turns += 1
        return self._turns

    def _title_soon(self, now: SavedConversation) -> None:
        """After the first answer, let the model write the title in the background, if its profile says so."""
        profile = self.active_model.profile
        asked = [message.text for message in now.talk.messages if isinstance(message, UserMessage)]
        if profile is None or not profile.writes_titles or not now.info.id or len(asked) != 1:
            return
        if now.info.title != title_of(self._context.redactor.redact_spoken(asked[0])):  # the user's own
            return

        async def write(session: str, title: str) -> None:
            with suppress(McptuiError):  # keep the title made from the question
                model, messages = self.active_model.model, now.talk.messages
                written = await suggest_title(model, messages, self.biller(now))
                if now.info.title == title:
                    await self.rename(session, written)

        self._titling = asyncio.create_task(write(now.info.id, now.info.title), name="write a title")

    async def close(self) -> None:
        """Save pending data and close the files. `problem` says what was not saved. Bounded in time."""
        if self._titling is not None:
            self._titling.cancel()
            await asyncio.wait({self._titling})
        await self.now.leave()
        await self.active_model.close()

    def stored(self) -> "SessionStore":
        """Return the session store, or raise `McptuiError` if this run saves nothing."""
        if self._store is None:
            raise McptuiError(message("conversations are not saved in this run"))
        return self._store

    @contextmanager
    def _exclusively(self, doing: str) -> Iterator[SavedConversation]:
        """Run one command on the conversation on screen, which cannot be replaced meanwhile.

        Raises McptuiError if another command is running.
        """
        if self.busy:
            raise McptuiError(self.busy, next_step=message("Wait until it finishes, or cancel it."))
        self.busy = doing
        try:
            yield self.now
        finally:
            self.busy = ""

    async def _replace(self, opened: SavedConversation, meta: SessionMeta | None = None) -> None:
        task = asyncio.create_task(self._take(opened, meta), name="replace the conversation")
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            await asyncio.wait({task})
            raise

    async def _take(self, opened: SavedConversation, meta: SessionMeta | None) -> None:
        before, self.now = self.now, opened
        if before.info.id:
            self._numbers[before.info.id] = before.turn_numbers
        self.active_model.context_meter.recall(opened.talk.messages)
        self.active_model.context_meter.patient = False
        self.opened += 1
        self.revision += 1
        problem = await before.leave()
        self._lost = problem if before.talk.messages else ""
        if meta is None:
            return
        if told := await self.active_model.continue_with(meta):
            opened.talk.remark(Remark(len(opened.talk.messages), "notice", told))

    async def _open_journal(self, now: SavedConversation, question: str) -> None:
        """Start saving a conversation with its first question."""
        was_left = now is not self.now
        if now.talk.journal is not None or self._store is None or was_left:
            return
        try:
            journal = await self._store.begin(parent=now.info.parent)
        except McptuiError:  # the parent was deleted: then this is not a branch
            journal = await self._store.begin()
        now.begin(journal, self._context.redactor.redact_spoken(question), self._about_model())
        self.revision += 1

    def _about_model(self) -> SessionMeta:
        profile = self.active_model.profile
        return SessionMeta(
            model=self.active_model.label, profile=profile.name if profile is not None else "demo"
        )

    def biller(self, now: SavedConversation | None = None) -> Callable[[Usage], float | None]:
        """Return a function that adds usage of the model that is active now, and returns its cost.

        It is added to `now`, or to the conversation that is open by then. Raises McptuiError without a model.
        """
        active, model, profile = self.active_model, self.active_model.model, self.active_model.profile

        def spent(usage: Usage) -> float | None:
            cost = profile.cost_of(usage) if profile is not None else None
            active.answered(model)
            (now or self.now).spent(model.label, usage, cost)
            return cost

        return spent
