"""The calls of one reply: checked, approved, run, and answered with observations for the model."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tui.core.context.built_in_tools import (
    FIND_TOOLS,
    READ_RESULT,
    BuiltInToolbox,
    ResourceSource,
    ResultStore,
    built_in,
)
from tui.core.context.context_meter import ContextMeter
from tui.core.context.skill_texts import LOAD_SKILL, READ_SKILL_FILE, loaded_words, skills_in
from tui.core.context.tool_results import (
    Observation,
    ResultBudget,
    is_long,
    observation,
)
from tui.core.context.tool_selection import FOUND, ToolOffer, ToolSelection
from tui.core.conversation.conversation import CallRequest, Conversation, Intent, ToolMessage
from tui.core.events import (
    Emit,
    Notice,
    ToolCallEnded,
    ToolCallProposed,
    ToolCallStarted,
    ToolProgress,
    Waiting,
)
from tui.core.language.restored import stored
from tui.core.language.translate import message
from tui.core.permission.approval_policy import CallApproval, TurnPermission
from tui.core.permission.content_sources import loaded_skills, source_of
from tui.core.ports import BY_LIMIT, ChatModel, Clock, Toolbox, Usage
from tui.core.schemas.tool_names import server_of
from tui.core.servers import START_PATIENCE_NS, ServerState, waiting_for
from tui.core.text import clean_line
from tui.core.tools import CallFailure, ProgressSink, Tool, ToolResult
from tui.core.traffic import CAUSE, Cause
from tui.core.turn.limits import Limits, TurnMeter, fingerprint
from tui.core.turn.model_step import AnswerFormat
from tui.core.turn.prepared_calls import CANCELLED_FOR_MODEL, PreparedCall, prepare

if TYPE_CHECKING:  # only needed once a server has skills
    from tui.core.context.skill_tools import SkillSource, SkillTools

PROGRESS_NS = 50_000_000
"""Interval between progress events of one call; a server may send thousands a second."""


MANY_TOOLS = 500
"""Above this number, tools are selected in a thread."""

_SOON_RUNNING = (ServerState.STARTING, ServerState.STOPPING)
"""States of a server that will run soon; a server that restarts is stopping first."""

LOOK_SECONDS = 0.05

_NO_ROOM = message(
    "There is no room for a text of a skill in this reply. Load or read it in a reply of its own."
)


@dataclass(frozen=True, slots=True)
class TurnModel:
    """The model of a turn, and what each of its requests needs besides the conversation.

    `bill` is called with the usage of each request; it returns its cost, or None if unknown. `instructions`
    is the part of the system text from servers, or "". `answer_format` is for an answer as JSON.
    """

    chat: ChatModel
    context_meter: ContextMeter = field(default_factory=ContextMeter)
    tool_selection: ToolSelection = field(default_factory=ToolSelection)
    bill: Callable[[Usage], float | None] = lambda usage: None
    instructions: str = ""
    answer_format: AnswerFormat | None = None


@dataclass(frozen=True, slots=True)
class TurnTools:
    """The tools of a turn, and the resources that the model may read.

    `absent` returns the servers that are not running, `turned_off` the tools of the others that the user has
    turned off. `skills` returns those that the model may load, None as long as no server has any.
    """

    toolbox: Toolbox
    resources: ResourceSource | None = None
    absent: Callable[[], Mapping[str, ServerState]] = dict
    turned_off: Callable[[], Sequence[Tool]] = tuple
    skills: "Callable[[], SkillSource | None]" = lambda: None


@dataclass(frozen=True, slots=True)
class TurnDeps:
    """The dependencies of a turn. Those with state live as long as the conversation.

    `answers_at_limit`: at a limit, the model is asked once more, without tools, for the best answer.
    """

    model: TurnModel
    tools: TurnTools
    permission: TurnPermission
    limits: Limits
    clock: Clock
    result_store: ResultStore = field(default_factory=ResultStore)
    answers_at_limit: bool = True


Failed = bool | None
"""Whether a call failed; None if it does not count as an error of the model (a denial)."""


class ToolCallRunner:
    """Runs calls. Emits an event for each stage and appends one observation per call to the conversation."""

    def __init__(self, deps: TurnDeps, conversation: Conversation, meter: TurnMeter, emit: Emit) -> None:
        self._deps = deps
        self._conversation = conversation
        self._meter = meter
        self._emit = emit
        self._proposed: dict[str, PreparedCall] = {}
        self._started: dict[str, int] = {}
        self._running: dict[str, asyncio.Task[ToolResult]] = {}
        self._policy, tools = deps.permission.policy, deps.tools
        self._approval = CallApproval(deps.permission, meter.clocks, emit, conversation)
        self._budget = self._budget_for(1)
        self._toolbox = BuiltInToolbox(
            tools.toolbox,
            deps.result_store,
            self._budget.limit,
            tools.resources,
            self._find_tools,
            self._skill_tools,
        )
        self._skills: SkillTools | None = None
        self._chosen = False
        self.offer = ToolOffer(())

    def _skill_tools(self) -> "SkillTools | None":
        """Return the tools for skills, made once a server has some."""
        if self._skills is None and (source := self._deps.tools.skills()) is not None:
            from tui.core.context.skill_tools import SkillTools

            meter, conversation = self._deps.model.context_meter, self._conversation
            self._skills = SkillTools(
                source,
                lambda: loaded_skills(conversation),
                lambda text: self._budget.limit(text),
                lambda: meter.window,
            )
        return self._skills

    async def refresh_tools(self) -> ToolOffer:
        """Update the offer; servers may start and stop while a turn runs."""
        if not self._chosen and (skills := self._skill_tools()) is not None:
            await skills.source.list_now()
        tools = self._policy.rules.offered(self._toolbox.tools())
        talk, window = tuple(self._conversation.messages), self._deps.model.context_meter.window

        def chosen() -> ToolOffer:
            if self._chosen:
                return self.offer.renewed(tools)
            return self._deps.model.tool_selection.offer(tools, window=window, talk=talk)

        # Ranking 10,000 tools takes half a second (measured), during which keys would not work.
        self.offer = await asyncio.to_thread(chosen) if len(tools) > MANY_TOOLS else chosen()
        self._chosen = True
        return self.offer

    def _find_tools(self, arguments: Mapping[str, Any]) -> str:
        self.offer, text = self.offer.search(arguments["query"], arguments.get("limit") or FOUND)
        return text

    def propose(self, step: int, call: CallRequest) -> PreparedCall:
        rules, off, denied = self._policy.rules, list[Tool](), list[Tool]()
        if self.offer.table.resolve(call.name) is None:
            off += self._deps.tools.turned_off()
            denied += [tool for tool in self._toolbox.tools() if rules.denying(tool) is not None]
        item = prepare(call, self.offer.table, self._deps.tools.absent(), off, denied)
        self._proposed[call.id] = item
        if (tool := item.tool) is not None and item.why != "denied" and not self.offer.is_loaded(tool):
            offer = self.offer.loading([tool])
            if offer.is_loaded(tool):  # not if its definition is never sent
                self.offer = offer
                name = f"{clean_line(tool.server, 40)} › {clean_line(tool.name, 60)}"
                self._emit(Notice(message("Loaded {name}: the model called it by name.", name=name)))
        self._emit(
            ToolCallProposed(step, call.id, item.server, item.name, item.arguments, recovered=call.recovered)
        )
        return item

    async def act(self, step: int, calls: Sequence[CallRequest]) -> None:
        """Run `calls` in order; adjacent read-only calls that need no approval run in parallel."""
        outcomes: list[Failed] = []
        batch: list[tuple[PreparedCall, Tool]] = []
        self._budget = self._budget_for(len(calls))
        await self._wait_for_servers(calls)

        async def flush() -> None:
            outcomes.extend(await self._run_together(step, batch))
            batch.clear()

        for position, item in enumerate([self.propose(step, call) for call in calls]):
            item = await self._checked(position, item, len(batch))
            if item.problem or item.tool is None:
                outcomes.append(self._refuse(step, item))
            elif self._approval.runs_in_parallel(item.call, item.tool, item.arguments):
                batch.append((item, item.tool))  # judged again when it runs
            else:
                await flush()
                outcomes.append(await self._run(step, item, item.tool))
        await flush()
        counted = [failed for failed in outcomes if failed is not None]
        self._meter.step_ended(calls=len(counted), failed=sum(counted))

    def abandon(self, step: int, call: CallRequest, text: str, why: str) -> None:
        item = self._proposed.get(call.id) or self.propose(step, call)
        if call.id in self._started:
            text += " after it was sent. It may or may not have taken effect"
        elif why == "cancelled":
            text, why = f"not run: {text}", "not run"
        self._conclude(step, item, Observation(text), why)

    @property
    def running(self) -> Sequence[str]:
        return tuple(self._running)

    def cancel(self, call_id: str) -> None:
        """Cancel one call at its server; the turn continues. Unknown ids are ignored."""
        if (work := self._running.get(call_id)) is not None:
            work.cancel()

    async def _wait_for_servers(self, calls: Sequence[CallRequest]) -> None:
        """Wait briefly for starting servers that own a called tool."""
        deps, table = self._deps, self.offer.table
        names = [call.name for call in calls if table.resolve(call.name) is None]
        until_ns = deps.clock.now_ns() + START_PATIENCE_NS
        announced = ""
        while names and deps.clock.now_ns() < until_ns:
            starting = [name for name, state in deps.tools.absent().items() if state in _SOON_RUNNING]
            awaited = sorted({server for name in names if (server := server_of(name, starting))})
            if not awaited:
                break
            words = waiting_for(awaited)
            if words != announced:
                announced = words
                self._emit(Waiting(words))
            await deps.clock.sleep(LOOK_SECONDS)
        if announced:
            self._emit(Waiting(""))
            await self.refresh_tools()

    async def _checked(self, position: int, item: PreparedCall, waiting: int) -> PreparedCall:
        limits, why = self._deps.limits, "not run"
        if item.problem or item.tool is None:
            return item
        if position >= limits.max_calls_per_reply:
            text = message("limit ({most} calls in one reply)", most=limits.max_calls_per_reply)
        elif self._meter.tool_calls + waiting >= limits.max_tool_calls:
            text = message("limit ({most} tool calls in one turn)", most=limits.max_tool_calls)
        elif wrong := await self._toolbox.check(item.tool, item.arguments):
            text = message("the arguments do not match the tool's schema: {problem}", problem=stored(wrong))
            why = "invalid arguments"
        else:
            return item
        return replace(item, problem=f"not run: {text}", why=why)

    def _refuse(self, step: int, item: PreparedCall) -> Failed:
        if item.tool is not None and item.why == "denied":
            self._approval.judged(step, item.call, item.tool, item.arguments)
        self._conclude(step, item, Observation(item.problem), item.why)
        if item.tool is not None and item.why == "not run":
            self._approval.permission.record(item.tool, item.arguments, allowed=False, by=BY_LIMIT)
        return None if item.why in ("not run", "denied") else True

    async def _run_together(self, step: int, batch: Sequence[tuple[PreparedCall, Tool]]) -> list[Failed]:
        gate = asyncio.Semaphore(self._deps.limits.parallel_calls)

        async def one(item: PreparedCall, tool: Tool) -> Failed:
            async with gate:
                return await self._run(step, item, tool)

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(item, tool)) for item, tool in batch]
        return [task.result() for task in tasks]

    async def _run(self, step: int, item: PreparedCall, tool: Tool) -> Failed:
        if refusal := await self._approval.refusal(step, item.call, tool, item.arguments):
            self._conclude(step, item, Observation(refusal), "denied")
            return None
        call_id, clock = item.call.id, self._deps.clock
        if (turn := CAUSE.get()) is not None:  # this runs in a task of its own, or before the next step
            CAUSE.set(Cause(turn.turn, step, call_id))
        await self._save_intent(item, tool)
        self._started[call_id] = clock.now_ns()
        self._emit(ToolCallStarted(step, call_id))
        call = self._toolbox.call(
            tool,
            item.arguments,
            seconds=self._deps.limits.call_timeout,
            progress=self._progress(step, call_id),
            clocks=self._meter.clocks,
        )
        work = self._running[call_id] = asyncio.create_task(call, name=f"call {call_id}")
        try:
            async with self._meter.limited():
                result = await work
        except TimeoutError:
            result = ToolResult.failed(
                message("stopped: time limit of the turn (turn_seconds)"), CallFailure.TIMEOUT
            )
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            self._conclude(step, item, Observation(CANCELLED_FOR_MODEL), "cancelled")
            return None
        finally:
            del self._running[call_id]
        observed = await self._observe(item, tool, result)
        if not result.is_error and not self._keeps_label(item, tool, observed):
            result = ToolResult.failed(_NO_ROOM)
            observed = await self._observe(item, tool, result)
        self._conclude(step, item, observed, str(result.failure), result)
        if built_in(tool) == LOAD_SKILL:
            for skill in skills_in(self._conversation.messages[-1:]):
                self._emit(Notice(loaded_words(skill)))
        return result.is_error

    @staticmethod
    def _keeps_label(item: PreparedCall, tool: Tool, observed: Observation) -> bool:
        """Whether what is left of a skill's text still says whose it is, so that it counts as loaded."""
        if built_in(tool) not in (LOAD_SKILL, READ_SKILL_FILE):
            return True
        server = source_of(tool, item.arguments)
        return bool(skills_in([ToolMessage(item.call.id, item.call.name, observed.text, server=server)]))

    async def _observe(self, item: PreparedCall, tool: Tool, result: ToolResult) -> Observation:
        # What the model can request again is not stored.
        own = (READ_RESULT, FIND_TOOLS, LOAD_SKILL, READ_SKILL_FILE)
        is_kept, limit = built_in(tool) not in own, self._budget.limit
        if is_long(result):
            keep = self._store_from_thread(asyncio.get_running_loop()) if is_kept else None
            told = await asyncio.to_thread(observation, result, limit, keep)
        else:
            told = observation(result, limit, self._store if is_kept else None)
        times = self._meter.call_ended(fingerprint(f"{tool.server}/{tool.name}", item.arguments, told.mark))
        if times < self._deps.limits.identical_calls_note:
            return told
        note = f"[note: the same call returned the same result {times} times. Try something else, or answer.]"
        return replace(told, text=f"{told.text}\n{note}")

    def _store_from_thread(self, loop: asyncio.AbstractEventLoop) -> Callable[[str], str]:
        async def stored(whole: str) -> str:
            return self._store(whole)

        return lambda whole: asyncio.run_coroutine_threadsafe(stored(whole), loop).result()

    def _store(self, whole: str) -> str:
        result_store = self._deps.result_store
        if name := result_store.name_of(whole):
            return name
        name = result_store.keep(whole)
        if (journal := self._conversation.journal) is not None:
            journal.result(name, whole)
        return name

    def _budget_for(self, calls: int) -> ResultBudget:
        return ResultBudget(self._deps.limits.result_bytes, self._deps.model.context_meter.window, calls)

    async def _save_intent(self, item: PreparedCall, tool: Tool) -> None:
        if (journal := self._conversation.journal) is None:
            return
        turn = CAUSE.get()
        decision = self._approval.answers.get(item.call.id, "allowed")
        journal.intent(
            Intent(item.call.id, tool.server, tool.name, item.arguments, decision, turn.turn if turn else 0)
        )
        await journal.settled()

    def _progress(self, step: int, call_id: str) -> ProgressSink:
        last = -PROGRESS_NS

        def tell(progress: float | None, total: float | None, message: str) -> None:
            nonlocal last
            now = self._deps.clock.now_ns()
            if now - last >= PROGRESS_NS and call_id in self._started:
                last = now
                self._emit(ToolProgress(step, call_id, progress, total, message))

        return tell

    def _conclude(
        self, step: int, item: PreparedCall, observed: Observation, why: str, result: ToolResult | None = None
    ) -> None:
        """Record and emit how a call ended. All calls end here."""
        is_error = result is None or result.is_error
        started = self._started.pop(item.call.id, None)
        elapsed = 0.0 if started is None else (self._deps.clock.now_ns() - started) / 1e6
        self._budget.take(observed.text, observed.attachments)
        self._conversation.add(
            ToolMessage(
                item.call.id,
                item.call.name,
                observed.text,
                is_error,
                observed.attachments,
                observed.kept,
                seconds=elapsed / 1000,
                why=why,
                server=source_of(item.tool, item.arguments) if result is not None and item.tool else "",
            )
        )
        self._emit(
            ToolCallEnded(
                step, item.call.id, item.server, item.name, is_error, observed.text, elapsed, result, why
            )
        )
