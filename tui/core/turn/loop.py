"""The loop: think -> act -> observe, until the model answers, a limit is reached or the user stops it.

It knows only ports: no screen, no network, no server. One `Turn` is one user message. It runs in a task of
its own, so that cancelling it (or losing the reader of its events) leaves the conversation valid for the next
turn.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence

from tui.core.context.compaction import FULL, Compactor, sent_messages
from tui.core.context.instructions import with_instructions
from tui.core.context.skill_texts import loaded_words, skills_in
from tui.core.context.tool_selection import ToolOffer
from tui.core.conversation.conversation import AssistantMessage, Conversation, Message, UserMessage, sanitised
from tui.core.errors import ModelError
from tui.core.events import (
    ApprovalGiven,
    EndReason,
    Event,
    LimitName,
    LimitReached,
    Notice,
    Steered,
    StepEnded,
    StepStarted,
    ToolCallEnded,
    TurnEnded,
    TurnError,
    TurnStarted,
)
from tui.core.language.translate import message, together
from tui.core.ports import ModelRequest, TextPart, ToolSpec, Usage
from tui.core.traffic import CAUSE, Cause
from tui.core.turn.limits import TurnMeter
from tui.core.turn.model_step import AnswerFormat, Reply, think, unique_calls
from tui.core.turn.prepared_calls import NOT_RUN
from tui.core.turn.tool_calls import ToolCallRunner, TurnDeps
from tui.core.turn.turn_endings import remark_of
from tui.core.units import plural

CORRECTIONS = 2
"""How often the model may correct its answer."""

ROOMS = 2
"""How often a rejected request is shortened: first the results, then with a summary."""


_log = logging.getLogger(__name__)

FINAL_SECONDS = 120.0
"""Timeout of the last request at a limit, because the turn's own time may be used up."""

WRAP_UP = (
    "You cannot call tools any more in this turn. Answer now from what you know so far, "
    "and say briefly what is missing."
)
NUDGE = "Your reply was empty. Answer the question, or call a tool."

DRAFT_NS = 1_000_000_000
"""How often a reply is saved while it streams, so that most of it survives a kill."""

FILTERED = "content_filter"
_INCOMPLETE = {"length": EndReason.CUT, "max_tokens": EndReason.CUT, FILTERED: EndReason.FILTERED}
"""Finish reasons of an incomplete answer."""

_ACKNOWLEDGED = (TurnStarted, StepEnded, ToolCallEnded, ApprovalGiven, Steered, TurnEnded)
"""Events that are emitted only once the saved conversation contains their fact."""


class Turn:
    """One user message, from question to final answer.

    `events()` may be iterated once. `cancel()` may be called at any time from the same event loop. The last
    event is always `TurnEnded`. The traffic that it causes is marked with `number`. `calls` runs its calls.
    """

    def __init__(self, conversation: Conversation, deps: TurnDeps, number: int = 0) -> None:
        self._conversation = conversation
        self._deps = deps
        self._number = number
        self._queue: asyncio.Queue[Event] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None
        self.meter = TurnMeter(deps.limits, deps.clock)
        self.calls = ToolCallRunner(deps, conversation, self.meter, self._emit)
        self._step = 0
        self._usage = Usage()
        self._reply = Reply()
        self._answers: list[str] = []
        self._steering: list[str] = []
        self._unsaid_thought = ""
        self._drafted_ns = 0
        self._begun = self._cancelled = False
        self._room = Compactor(conversation, deps.model.chat, deps.model.context_meter, self._spend)
        self._said = ""

    def cancel(self) -> None:
        """End the turn now: close the stream, cancel calls, keep the history valid. Harmless at its end."""
        self._cancelled = True
        if self._task is not None and self._begun:
            self._task.cancel()

    def steer(self, text: str) -> None:
        """Add a message before the next step, or start another step if the model is done by then."""
        self._steering.append(text)

    async def events(self) -> AsyncIterator[Event]:
        """Yield what happens, ending with `TurnEnded`. Leaving early cancels the turn."""
        self._task = asyncio.create_task(self._run(), name="turn")
        journal = self._conversation.journal
        try:
            while True:
                event = await self._queue.get()
                if journal is not None and isinstance(event, _ACKNOWLEDGED):
                    await journal.settled()
                yield event
                if isinstance(event, TurnEnded):
                    return
        finally:
            self._task.cancel()
            await asyncio.wait({self._task})

    def _emit(self, event: Event) -> None:
        self._queue.put_nowait(event)
        if (remark := remark_of(event, len(self._conversation.messages))) is not None:
            self._conversation.remark(remark)
        if isinstance(event, TextPart) and (journal := self._conversation.journal) is not None:
            now = self._deps.clock.now_ns()
            if now - self._drafted_ns >= DRAFT_NS:
                self._drafted_ns = now
                journal.draft(self._reply.text, self._reply.reasoning)

    async def _run(self) -> None:
        try:
            self._begun = True
            if self._cancelled:  # a task cancelled before its first step reports no end
                raise asyncio.CancelledError
            await self._turn()
        except asyncio.CancelledError:
            self._keep_partial()
            self._answer_dangling(message("cancelled by the user"), why="cancelled")
            self._end(EndReason.CANCELLED)
        except ModelError as error:
            self._keep_partial()
            self._emit(TurnError(error.message, error.where or "model", error.next_step))
            self._end(EndReason.MODEL_ERROR)
        except Exception as error:
            # A bug in mcptui or in a port: the history must stay valid and the reader of the events must not
            # wait forever, so the turn ends with it; the traceback goes to the log.
            _log.exception("turn ended by an internal error")
            self._keep_partial()
            self._answer_dangling(f"{NOT_RUN}{message('an internal error ended the turn')}", why="not run")
            told = message("internal error: {name}: {error}", name=type(error).__name__, error=str(error))
            self._emit(TurnError(told, "mcptui"))
            self._end(EndReason.MODEL_ERROR)

    async def _turn(self) -> None:
        deps = self._deps
        offer = await self.calls.refresh_tools()
        self._emit(TurnStarted(deps.model.chat.label, len(offer), offer.notice, self._number))
        for skill in skills_in(self._conversation.messages[-1:]):  # that the user has attached
            self._emit(Notice(loaded_words(skill)))
        extra, corrections = "", 0
        while (reached := self.meter.reached()) is None:
            self.meter.steps += 1
            await self.calls.refresh_tools()
            while self._steering:
                text = self._steering.pop(0)
                self._conversation.say(text)
                self._emit(Steered(self._step + 1, text))
            try:
                reply = await self._think(extra, tools=not corrections)
            except TimeoutError:
                self._keep_partial()
                reached = LimitReached(LimitName.TURN_SECONDS, deps.limits.turn_seconds)
                break
            nudged, extra = extra, ""
            if not reply.calls:
                if self._steering:
                    continue
                wanted = deps.model.answer_format
                if wanted and corrections < CORRECTIONS and (problem := await self._mismatch(reply, wanted)):
                    corrections += 1
                    extra = wanted.correction(problem)
                    told = message("The answer does not match the schema: {problem}", problem=problem)
                    self._emit(Notice(told))
                    continue
                if reply.text or nudged or reply.finish == FILTERED:
                    self._answered(reply)
                    return
                extra = NUDGE
                self._unsaid_thought = "" if reply.finish in _INCOMPLETE else reply.reasoning
                continue
            if (reached := self.meter.out_of_steps()) is not None:
                break
            await self.calls.act(self._step, reply.calls)
        await self._wrap_up(reached)

    async def _mismatch(self, reply: Reply, wanted: AnswerFormat) -> str:
        """Return the problem of an answer under the schema, if the model may still correct it, or ""."""
        if not reply.text or reply.finish in _INCOMPLETE or self.meter.out_of_steps():
            return ""
        return await wanted.problem(reply.text)

    async def _think(self, extra: str, final: bool = False, tools: bool = True) -> Reply:
        deps = self._deps
        self._step += 1
        CAUSE.set(Cause(self._number, self._step))
        self._emit(StepStarted(self._step, deps.limits.max_steps, final))
        started = deps.clock.now_ns()
        self._reply = reply = Reply()
        try:
            async with self.meter.limited(FINAL_SECONDS if final else None):
                offer = self.calls.offer if tools and not final else None
                request = await self._ask(reply, offer, extra)
            if extra in (NUDGE, WRAP_UP):
                self._say_thought(reply)
        finally:  # a reply that is cut off is saved with its duration and its tokens
            reply.seconds = (deps.clock.now_ns() - started) / 1e9
            if (usage := reply.usage_so_far(deps.model.context_meter.estimate)) is not None:
                reply.usage = usage
                self._spend(usage)
        self._count(request, reply, bool(extra), self.calls.offer.specs if final else ())
        return reply

    async def _ask(self, reply: Reply, offer: ToolOffer | None, extra: str) -> ModelRequest:
        """Send a request, fill `reply`, also when it is cut off, and return the request that was answered.

        If the window is known, the conversation is compacted before, otherwise after a rejection. `extra` is
        a message from mcptui after all others, only in this request. Raises ModelError as the model does.
        """
        deps, self._said = self._deps, ""
        meter, request = deps.model.context_meter, self._request(offer, extra)
        for _ in range(3):  # first with shortened results, then a summary, then a truncated newest turn
            if not meter.is_full(request, FULL) or not await self._make_room():
                break
            request = self._request(offer, extra)
        for left in range(ROOMS, -1, -1):
            try:
                await think(deps.model.chat, request, self._step, reply, self._emit, deps.clock)
                break
            except ModelError as error:
                if error.window is not None:  # the endpoint knows best
                    meter.window = error.window
                if not (left and error.overflow) or reply.text:
                    raise
                if not await self._make_room(request.messages):
                    raise
                if (usage := reply.usage_so_far(meter.estimate)) is not None:
                    self._spend(usage)
                request = self._request(offer, extra)
        return request

    def _request(self, offer: ToolOffer | None, extra: str) -> ModelRequest:
        talk, model = self._conversation, self._deps.model
        messages: Sequence[Message] = sanitised(sent_messages(talk.messages, talk.compaction, talk.ends))
        if extra:  # if it stayed in the history, the model would repeat it
            messages = [*messages, UserMessage(extra)]
        system, schema = with_instructions(talk.system, model.instructions), None
        if (wanted := model.answer_format) is not None:
            schema = wanted.schema
            system = with_instructions(system, wanted.instruction) if system else wanted.instruction
        tools, best = (offer.specs, offer.best) if offer is not None else ((), ())
        return ModelRequest(system, messages, tools, best=best, answer_schema=schema)

    async def _make_room(self, refused: Sequence[Message] = ()) -> bool:
        try:
            notice = await self._room.make_room(refused=refused)
        except ModelError as error:
            told = message("Cannot summarize the older turns: {reason}", reason=error.message)
            self._emit(Notice(told, "warn"))
            return False
        if notice is not None and notice.message != self._said:  # one notice for several rounds
            self._said = notice.message
            self._emit(notice)
        return notice is not None

    def _say_thought(self, reply: Reply) -> None:
        """Show reasoning as the answer of a model that was asked twice and wrote nothing else.

        vLLM and others return the whole answer as reasoning if a model does not mark where its thinking ends.
        """
        thought = (reply.reasoning or self._unsaid_thought).strip()
        if reply.is_empty and thought and reply.finish not in _INCOMPLETE:
            reply.say_instead(thought)
            self._emit(TextPart(thought, step=self._step))

    def _spend(self, usage: Usage) -> None:
        self._usage += usage
        self.meter.spent(usage, self._deps.model.bill(usage))

    def _count(
        self, request: ModelRequest, reply: Reply, transient: bool, withheld: Sequence[ToolSpec]
    ) -> None:
        """Record a complete reply: its calls, its place in the conversation and in the context window.

        `transient`: the last message of the request is not part of the conversation; `withheld` are tools
        that only this request was sent without.
        """
        usage = reply.usage or Usage(estimated=True)
        lasting = len(request.messages) - transient + (not reply.is_empty)
        self._deps.model.context_meter.answered(request, usage, lasting, withheld)
        said = (one for one in self._conversation.messages if isinstance(one, AssistantMessage))
        reply.calls = unique_calls(reply.calls, {call.id for one in said for call in one.calls})
        self._keep(reply)
        self._emit(StepEnded(self._step, reply.seconds * 1e3, usage, reply.finish, len(reply.calls)))
        if reply.warning:
            self._emit(Notice(reply.warning, "warn"))

    def _keep(self, reply: Reply, partial: bool = False) -> None:
        self._reply = Reply()
        if reply.text:
            self._answers.append(reply.text)
        if not reply.is_empty:
            self._conversation.add(reply.message(self._deps.model.chat.label, partial))

    def _keep_partial(self) -> None:
        """Keep the shown part of an incomplete reply, without its incomplete calls."""
        self._reply.calls = ()
        self._reply.echo = None
        self._keep(self._reply, partial=True)

    def _answered(self, reply: Reply) -> None:
        if not reply.text and reply.finish != FILTERED:
            problem = message("the model returned nothing ({model})", model=self._deps.model.chat.label)
            step = message("Retry, or switch to another model.")
            if reply.finish == "length":
                problem = message("the model used all of its tokens before it wrote anything")
                step = message("Raise max_tokens of this profile.")
            self._emit(TurnError(problem, "model", step))
            self._end(EndReason.EMPTY)
        else:
            self._end(_INCOMPLETE.get(reply.finish, EndReason.ANSWERED))

    async def _wrap_up(self, reached: LimitReached) -> None:
        """At a limit: answer open calls, and ask once more, without tools, for the best answer if wanted."""
        not_run = together(NOT_RUN, message("limit ({name})", name=reached.limit))
        self._answer_dangling(not_run, why="not run")
        self._emit(reached)
        before = len(self._answers)
        failure = ""
        try:
            if self._deps.answers_at_limit:
                await self._think(WRAP_UP, final=True)
            self._answer_dangling(not_run, why="not run")
        except (ModelError, TimeoutError) as error:
            self._keep_partial()
            failure = str(error) or "no response in time"
        if len(self._answers) == before:
            summary = self._summary(reached, failure)
            self._conversation.add(AssistantMessage(text=summary, model="mcptui"))
            self._answers.append(summary)
        self._end(EndReason.LIMIT, reached.limit)

    def _summary(self, reached: LimitReached, failure: str) -> str:
        """Return mcptui's own text for when the model gives no last answer."""
        stop = "" if failure.endswith((".", "!", "?")) else "."
        why = f" The last request failed: {failure}{stop}" if failure else ""
        steps, calls = plural(self._step, "step"), plural(self.meter.tool_calls, "tool call")
        return (
            f"The turn reached its limit {reached.limit} ({reached.value:g}) after {steps} and {calls}, "
            f"without an answer.{why}"
        )

    def _answer_dangling(self, text: str, why: str) -> None:
        for call in self._conversation.dangling():
            self.calls.abandon(self._step, call, text, why)

    def _end(self, reason: EndReason, limit: LimitName | None = None) -> None:
        text, ms = "".join(self._answers[-1:]), (self._deps.clock.now_ns() - self.meter.started_ns) / 1e6
        self._emit(TurnEnded(reason, text, self._step, self.meter.tool_calls, self._usage, ms, limit))
