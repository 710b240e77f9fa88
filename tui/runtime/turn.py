"""A turn for screens and commands: started by iterating its events, observable, redacted."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tui.core.events import Event, Notice, Waiting
from tui.core.language.translate import n_message, sentences
from tui.core.permission.approval_policy import Policy, TurnPermission
from tui.core.ports import Approver, Clock, DecisionLog, Toolbox
from tui.core.secrets.redact import Redactor
from tui.core.servers import START_PATIENCE_NS, ServerState, ServerStatus, listed_servers, waiting_for
from tui.core.tools import Tool
from tui.core.turn.limits import Limits, TurnMeter
from tui.core.turn.loop import Turn
from tui.core.turn.tool_calls import LOOK_SECONDS, ToolCallRunner, TurnTools
from tui.host.host import Host
from tui.runtime.permission.approvals import TurnApprover
from tui.runtime.recording import RunRecording
from tui.runtime.redaction import EventRedactor

if TYPE_CHECKING:  # only needed once a server has skills
    from tui.core.context.skill_tools import SkillSource

FRESH_NS = 20_000_000_000
"""Time after its start during which a question waits for a server. Downloads take longer than that."""


@dataclass(slots=True)
class TurnContext:
    """The dependencies of a turn besides a conversation and a model. The runtime replaces its parts.

    `redactor` removes secrets that front ends must not receive. `notice` is called with each event first.
    `skills` returns those that the model may load.
    """

    host: Host
    policy: Policy
    limits: Limits
    clock: Clock
    redactor: Redactor
    decisions: DecisionLog
    notice: Callable[[Event], None]
    traffic: RunRecording
    skills: "Callable[[], SkillSource | None]" = lambda: None

    @property
    def toolbox(self) -> Toolbox:
        """The tools of the running servers."""
        return self.host.toolbox

    def tools(self) -> TurnTools:
        """Return what the model may use."""
        host = self.host

        def absent() -> dict[str, ServerState]:
            return {one.name: one.state for one in host.statuses() if one.state is not ServerState.RUNNING}

        return TurnTools(host.toolbox, host.model_resources, absent, host.toolbox.turned_off, self.skills)

    def permission(self, approver: Approver) -> TurnPermission:
        """Return who is asked: without secrets, and as long as the server of the call is there."""
        shown = TurnApprover(approver, self.host.closed, self.redactor)
        return TurnPermission(shown, self.policy, self.decisions, self.skills)

    def offered(self, server: str = "") -> Sequence[Tool]:
        """Return the tools of the running servers, or of one of them, that no rule denies."""
        tools = self.toolbox.tools()
        return self.policy.rules.offered([one for one in tools if one.server == server] if server else tools)


@dataclass(eq=False, repr=False)
class PendingTurn:
    """A turn that starts when its events are iterated. Screens may read it before.

    `_begin` opens the journal, adds the user's message, and returns the turn. `_meter` is shown before that.
    `_notice` is called with each event before anything else gets it.
    """

    _begin: Callable[[], Awaitable[Turn]]
    _meter: TurnMeter
    _notice: Callable[[Event], None]
    _redaction: EventRedactor
    _waits: Sequence["Prerequisite"]
    _waiting: asyncio.Future[list[None]] | None = field(init=False, default=None)
    _turn: Turn | None = field(init=False, default=None)
    _cancelled: bool = field(init=False, default=False)
    _early: list[str] = field(init=False, default_factory=list)

    @property
    def meter(self) -> TurnMeter:
        """The usage of the turn so far."""
        return self._turn.meter if self._turn is not None else self._meter

    def steer(self, text: str) -> None:
        """Send `text` before the next step."""
        if self._turn is not None:
            self._turn.steer(text)
        else:
            self._early.append(text)

    @property
    def calls(self) -> ToolCallRunner | None:
        """Its calls, None before it has started."""
        return self._turn.calls if self._turn is not None else None

    def cancel(self) -> None:
        self._cancelled = True
        if self._waiting is not None:
            self._waiting.cancel()
        if self._turn is not None:
            self._turn.cancel()

    async def events(self) -> AsyncIterator[Event]:
        """Yield what happens, ending with `TurnEnded`."""
        async for notice in self._wait():
            yield notice
        self._turn = turn = await self._begin()
        for text in self._early:
            turn.steer(text)
        if self._cancelled:
            turn.cancel()
        async for event in turn.events():
            self._notice(event)
            for shown in self._redaction.take(event):
                yield shown

    async def _wait(self) -> AsyncIterator[Event]:
        waits = [prerequisite for prerequisite in self._waits if prerequisite.awaited()]
        if not waits or self._cancelled:
            return
        self._waiting = asyncio.gather(*(one.wait() for one in waits))
        sentence = ""
        try:
            while not self._waiting.done():
                words = sentences(*(prerequisite.awaited() for prerequisite in waits))
                if words and words != sentence:
                    sentence = words
                    yield Waiting(words)
                await asyncio.wait({self._waiting}, timeout=LOOK_SECONDS)
        finally:
            self._waiting.cancel()
        yield Waiting("")
        for prerequisite in waits:
            if (sentence := prerequisite.missing()) and not self._cancelled:
                yield Notice(sentence)


@dataclass(frozen=True, slots=True)
class Prerequisite:
    """A condition that is worth waiting for before a question is sent.

    `awaited` returns a sentence about what the question waits for, or "". `wait` waits for it, bounded in
    time. `missing` returns a sentence about what is still missing after that, or "".
    """

    awaited: Callable[[], str]
    wait: Callable[[], Awaitable[None]]
    missing: Callable[[], str] = str


def servers_starting(host: Host, clock: Clock) -> Prerequisite:
    """Return the starting servers. A question waits briefly, so that the model has their tools."""

    def starting() -> list[ServerStatus]:
        return [one for one in host.statuses() if one.state is ServerState.STARTING]

    def awaited() -> str:
        names = [one.name for one in starting() if one.since_ns > clock.now_ns() - FRESH_NS]
        return waiting_for(names) if names else ""

    async def wait() -> None:
        until_ns = clock.now_ns() + START_PATIENCE_NS
        while awaited() and clock.now_ns() < until_ns:
            await clock.sleep(LOOK_SECONDS)

    def missing() -> str:
        names = [one.name for one in starting()]
        if not names:
            return ""
        return n_message(
            "Still starting: {servers}. Its tools become available when it runs.",
            "Still starting: {servers}. Their tools become available when they run.",
            len(names),
            servers=listed_servers(names),
        )

    return Prerequisite(awaited, wait, missing)
