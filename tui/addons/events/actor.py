"""Asks the model about events, by confirmed rules: in conversations of their own, one turn at a time.

Nobody watches such a turn: the events are untrusted content, only the configuration approves calls, and a
call that would ask is denied.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tui.addons.events.inbox import InboxItem, attachment_of_event
from tui.addons.events.rules import ActedTurn, ActingState, EventRule, rules_of
from tui.core.background import Tasks, cancel_all
from tui.core.context.context_meter import ContextMeter
from tui.core.context.tool_selection import ToolSelection
from tui.core.conversation.conversation import SYSTEM, Attachment, Conversation, SessionMeta
from tui.core.errors import McptuiError, UsageError, sentences
from tui.core.events import EndReason, TurnEnded, TurnError
from tui.core.language.translate import N_
from tui.core.permission.approval_policy import TurnPermission
from tui.core.ports import Answer, ApprovalRequest, ChatModel, Decision, TrustQuestion, Usage
from tui.core.text import clean_line
from tui.core.turn.loop import Turn
from tui.core.turn.tool_calls import TurnDeps, TurnModel
from tui.core.units import plural
from tui.runtime.profiles import import_model
from tui.runtime.saved_conversation import SavedConversation

if TYPE_CHECKING:
    from tui.model.endpoints.profile import ModelProfile
    from tui.runtime.runtime import Runtime

BURST_SECONDS = 2.0
"""How long more events are waited for, so that a burst is one turn."""

MAX_PENDING = 100
"""Events of a rule that wait for a turn. Older ones are only in the inbox."""

MAX_ATTACHED, MAX_ATTACHED_BYTES = 20, 64 * 1024
"""Events that are attached to a question, and their size. It says how many more there are."""

DENIED = "nobody is asked in a turn that an event started. A rule in the configuration can allow the call"
NO_PRICES = N_("not asked: the model has no prices, so cost_per_day cannot be kept")


class Unattended:
    """An `Approver` for turns that nobody watches: what would ask is denied."""

    async def ask(self, request: ApprovalRequest) -> Decision:
        """Deny at once."""
        return Decision(Answer.NO, DENIED, by_user=False)

    async def trust(self, question: TrustQuestion) -> bool | None:
        return None


def unattended(permission: TurnPermission) -> TurnPermission:
    """Return the permission without answers given by key: they were given by someone who watched."""
    policy = permission.policy
    written = replace(policy, always=set(), session=set(), cleared=set(), refresh=lambda: None)
    return replace(permission, policy=written)


def attached(items: Sequence[InboxItem]) -> list[Attachment]:
    """Return the newest events as attachments, oldest first, as far as one question may hold them."""
    found: list[Attachment] = []
    left = MAX_ATTACHED_BYTES
    for item in reversed(items[-MAX_ATTACHED:]):
        one = attachment_of_event(item)
        left -= one.size
        if found and left < 0:
            break
        found.insert(0, one)
    return found


@dataclass(slots=True)
class EventModel:
    """The model of one turn; `is_own` if it was made for it. `profile` is None for the demo."""

    chat: ChatModel
    profile: "ModelProfile | None"
    window: int | None
    is_own: bool


class Actor:
    """Collects events that match rules, and runs their turns.

    `changed` is called when anything has changed.

    Attributes:
        state: what outlives a run.
        is_stopped: whether the user has stopped all turns of this run.
        running: the rule whose turn runs, or None.
    """

    def __init__(self, runtime: "Runtime", changed: Callable[[], None]) -> None:
        self.state = ActingState()
        self.is_stopped = False
        self.running: EventRule | None = None
        self._runtime, self._changed = runtime, changed
        self._waiting: dict[str, tuple[float, list[InboxItem]]] = {}
        self._tasks = Tasks()
        self._turn: asyncio.Task[None] | None = None

    @property
    def is_on(self) -> bool:
        """Whether the configuration says that events are asked about."""
        loaded = self._runtime.configuration.loaded
        return loaded is not None and loaded.settings.events.act

    @property
    def waits(self) -> int:
        """The events that wait for a turn."""
        return sum(len(items) for _, items in self._waiting.values())

    @property
    def rules(self) -> Sequence[EventRule]:
        loaded = self._runtime.configuration.loaded
        return rules_of(loaded.settings.events.rules) if loaded is not None else ()

    @property
    def _acting(self) -> dict[str, EventRule]:
        """The rules by which events are asked about now, by their digests."""
        if not self.is_on or self.is_stopped:
            return {}
        return {rule.digest: rule for rule in self.rules if rule.digest in self.state.confirmed}

    def standing(self, rule: EventRule) -> str:
        """Return what becomes of the events of a rule, in a few words."""
        if not self.is_on:
            return N_("off: set act = true in [events]")
        if rule.digest not in self.state.confirmed:
            return N_("not confirmed")
        if self.is_stopped:
            return N_("stopped")
        if self.running == rule:
            return N_("asking")
        return self.state.why_not_now(rule, time.time()) or N_("on")

    def arrived(self, item: InboxItem) -> None:
        """Take an event that has just arrived."""
        for digest, rule in self._acting.items():
            if rule.matches(item.server, item.event):
                _, waiting = self._waiting.setdefault(digest, (time.monotonic(), []))
                waiting.append(item)
                del waiting[:-MAX_PENDING]

    def look(self) -> None:
        """Start the turn that is due, if none runs; end the one whose rule does not hold any more."""
        rules = self._acting
        for digest in self._waiting.keys() - rules.keys():
            del self._waiting[digest]
        if self._turn is not None and not self._turn.done():
            if self.running is not None and self.running.digest not in rules:
                self._turn.cancel()
            return
        self.running = None
        for digest, (since, items) in self._waiting.items():
            rule = rules[digest]
            is_due = time.monotonic() - since >= BURST_SECONDS
            if is_due and not self.state.why_not_now(rule, time.time()):
                del self._waiting[digest]
                self.running = rule
                self._turn = self._tasks.start(self._act(rule, items), "ask about events")
                return

    async def stop(self) -> None:
        """Stop the running turn, and start no other one in this run until `resume`."""
        self.is_stopped = True
        if self._turn is not None:
            await cancel_all((self._turn,))
        self.look()
        self._changed()

    def resume(self) -> None:
        """Ask about events again: those that arrive from now on."""
        self.is_stopped = False
        self._changed()

    async def close(self) -> None:
        await self._tasks.cancel()

    # ---- one turn ----------------------------------------------------------------------------------------

    async def _act(self, rule: EventRule, items: Sequence[InboxItem]) -> None:
        at = time.time()
        turn = _EventTurn(self._runtime, rule, items, self.state.cost_left(rule, at))
        # Recorded before anything is asked: the limits also hold if mcptui is killed during the turn. Until
        # its cost is known, it counts as all that was left.
        begun = ActedTurn(rule.digest, at, turn.title, len(items), N_("interrupted"), turn.cost_left)
        self.state.add(begun)
        self._changed()
        try:
            await turn.run()
        except McptuiError as error:
            turn.outcome = clean_line(sentences(str(error), ""), 200)
        finally:
            self.running = None
            self.state.replace(begun, replace(begun, outcome=turn.outcome or "stopped", cost=turn.cost))
            self._changed()


class _EventTurn:
    """One turn about some events, in a conversation that is saved like any other."""

    def __init__(
        self,
        runtime: "Runtime",
        rule: EventRule,
        items: Sequence[InboxItem],
        cost_left: float | None,
    ) -> None:
        self.title = f"{clean_line(rule.on, 80)}: {plural(len(items), 'event')}"
        self.outcome = ""
        self.cost: float | None = None
        self._runtime, self._rule, self._items = runtime, rule, items
        self.cost_left = cost_left
        self._talk = SavedConversation(Conversation(SYSTEM))

    async def run(self) -> None:
        """Ask. Raises McptuiError if there is no model."""
        model = await self._model()
        profile = model.profile
        try:
            if self.cost_left is not None and profile is not None and profile.cost_of(Usage()) is None:
                self.outcome = NO_PRICES
                return
            await self._ask(model)
        finally:
            if model.is_own:
                with suppress(Exception):  # a model that cannot be closed was not usable either
                    await model.chat.aclose()

    async def _model(self) -> EventModel:
        active, name = self._runtime.conversations.active_model, self._rule.profile
        if not name:
            return EventModel(active.model, active.profile, active.context_meter.window, False)
        profile = await active.named(name)
        if profile is not None and profile.lacks_key:
            raise UsageError(profile.lacks_key)
        await asyncio.to_thread(import_model, profile)
        chat = active.made(profile)
        await chat.connect()
        return EventModel(chat, profile, profile.context_window if profile is not None else None, True)

    async def _ask(self, model: EventModel) -> None:
        runtime, talk = self._runtime, self._talk
        context, number = runtime.turn_context, runtime.conversations.next_turn()
        if model.profile is not None and model.profile.system:
            talk.talk.system = model.profile.system
        shown = attached(self._items)
        more = len(self._items) - len(shown)
        text = self._rule.prompt + (f"\n\n{plural(more, 'earlier event')} not attached." if more else "")
        with suppress(McptuiError):  # a run that saves nothing
            journal = await runtime.conversations.stored().begin()
            about = SessionMeta(model=model.chat.label, profile=self._rule.profile)
            talk.begin(journal, self.title, about)
            talk.recorded_in(runtime.traffic.path.name)
        talk.turn_numbers[0] = number
        talk.talk.say(text, tuple(shown), time.time())

        def bill(usage: Usage) -> float | None:
            cost = model.profile.cost_of(usage) if model.profile is not None else None
            self.cost = self.cost if cost is None else (self.cost or 0.0) + cost
            talk.spent(model.chat.label, usage, cost)
            return cost

        limits = context.limits
        if self.cost_left is not None:
            limits = replace(limits, turn_cost=min(self.cost_left, limits.turn_cost or self.cost_left))
        asked = TurnModel(
            model.chat,
            ContextMeter(window=model.window),
            ToolSelection(model.chat.capabilities.max_tools),
            bill,
            runtime.request.instructions(),
        )
        tools = replace(context.tools(), skills=lambda: None)  # loading one asks
        permission = unattended(context.permission(Unattended()))
        deps = TurnDeps(asked, tools, permission, limits, context.clock, talk.result_store)
        try:
            async for event in Turn(talk.talk, deps, number).events():
                context.notice(event)
                if isinstance(event, TurnError):
                    self.outcome = clean_line(runtime.redactor.redact_cut(event.message), 200)
                elif isinstance(event, TurnEnded):
                    known = event.reason is EndReason.MODEL_ERROR and self.outcome
                    self.outcome = self.outcome if known else event.reason.value.replace("_", " ")
        finally:
            await talk.leave()
