"""Cost of a turn after hundreds of turns, and the time to reopen the conversation.

Run it: python tests/benchmarks/long_conversation.py [TURNS] [WINDOW]
Each turn makes four calls in two steps, with results of 400 to 4,000 characters, through the real loop and
the real journal. The model and the tools answer immediately. With WINDOW (tokens), the conversation is
compacted when that window is full. Prints the CPU time and wall time of the turns around the 10th and around
the last, their ratio, the memory, and the time to open and search the conversation. Compare the ratios: the
times depend on the machine.
"""

import asyncio
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any

import psutil

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.scripted_model import Reply, ScriptedModel, calls, says  # noqa: E402
from tui.core.context.context_meter import ContextMeter  # noqa: E402
from tui.core.conversation.conversation import CallRequest, Conversation, ToolMessage  # noqa: E402
from tui.core.events import EndReason, TurnEnded  # noqa: E402
from tui.core.ports import (  # noqa: E402
    ApprovalRequest,
    Decision,
    ModelPart,
    ModelRequest,
    MonotonicClock,
    ReplyPart,
    TextPart,
    Usage,
)
from tui.core.secrets.redact import Redactor  # noqa: E402
from tui.core.time_limits import NO_CLOCKS, Pausable  # noqa: E402
from tui.core.tools import ProgressSink, TextContent, Tool, ToolResult  # noqa: E402
from tui.core.turn.approval_policy import Mode, Policy  # noqa: E402
from tui.core.turn.limits import Limits  # noqa: E402
from tui.core.turn.loop import Turn  # noqa: E402
from tui.core.turn.tool_calls import TurnDeps, TurnModel, TurnPermission, TurnTools  # noqa: E402
from tui.storage.sessions.store import SessionStore  # noqa: E402

CALLS = 4
AROUND = 5
"""Turns on each side of the measured one. The figure is the median of all of them."""

SECRETS = {f"TOKEN_{number}": f"a-configured-secret-{number}-x9" for number in range(6)}


class Answering(ScriptedModel):
    """Plays the script but keeps no requests: only the conversation itself may grow."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelPart]:
        """Play the next reply; a request for a summary gets a fixed reply that is not from the script."""
        if not request.tools:
            yield TextPart("What was said before. " * 50)
            yield ReplyPart()
            return
        async for part in super().stream(request):
            yield part
        self.requests.clear()


class Tools:
    """Tools that answer immediately."""

    def __init__(self) -> None:
        self._tools = [
            Tool("srv", f"tool{each}", read_only=True, trusted=True, digest="x") for each in range(8)
        ]
        self._called = 0

    def tools(self) -> Sequence[Tool]:
        """Return the tools."""
        return self._tools

    async def check(self, tool: Tool, arguments: Mapping[str, Any]) -> str:
        """Accept all arguments."""
        return ""

    async def call(
        self,
        tool: Tool,
        arguments: Mapping[str, Any],
        *,
        seconds: float,
        progress: ProgressSink,
        clocks: Pausable = NO_CLOCKS,
    ) -> ToolResult:
        """Return some text."""
        self._called += 1
        lines = (f"line {self._called} of a result that a tool gave\n" * 100)[
            : 400 + self._called * 37 % 3600
        ]
        return ToolResult((TextContent(lines),))


class Nobody:
    """An approver that must never be asked."""

    async def ask(self, request: ApprovalRequest) -> Decision:
        """Fail."""
        raise AssertionError(request)


def script() -> AsyncIterator[Reply]:
    """Yield the replies of an endless series of turns."""
    for turn in count():
        for step in range(2):
            yield calls(
                *(
                    CallRequest(f"c{turn}-{step}-{each}", f"srv__tool{each}", f'{{"n": {turn}}}')
                    for each in range(CALLS // 2)
                ),
                text="Let me look. " * 8,
            )
        yield says("The answer of the turn, in a few sentences. " * 12, pieces=20)


async def one_turn(number: int, conversation: Conversation, deps: TurnDeps) -> tuple[float, float]:
    """Run a turn; return its CPU seconds and wall seconds."""
    cpu, wall = time.process_time(), time.perf_counter()
    conversation.say(f"Question {number}: and how is it with the other one, seen from here? " * 3)
    last = None
    async for event in Turn(conversation, deps, number).events():
        last = event
    assert isinstance(last, TurnEnded) and last.reason is EndReason.ANSWERED, last
    return time.process_time() - cpu, time.perf_counter() - wall


async def talk(
    turns: int, window: int, store: SessionStore
) -> tuple[str, list[tuple[float, float]], list[int]]:
    """Talk; return the session id, the times of each turn, and the memory after each turn in bytes."""
    journal = await store.begin()
    conversation = Conversation("Be brief.", journal=journal)
    context_meter = ContextMeter()
    context_meter.window = window or None
    model = Answering(script())
    deps = TurnDeps(
        TurnModel(
            model,
            context_meter,
            bill=lambda usage: journal.usage("scripted", Usage(usage.prompt, usage.completion), None),
        ),
        TurnTools(Tools()),
        TurnPermission(Nobody(), Policy(mode=Mode.ASK)),
        Limits(),
        MonotonicClock(),
    )
    took, memory = [], []
    me = psutil.Process()
    for number in range(1, turns + 1):
        took.append(await one_turn(number, conversation, deps))
        memory.append(me.memory_info().rss)
    await journal.settled()
    if journal.problem:
        raise SystemExit(journal.problem)
    made = sum(isinstance(message, ToolMessage) for message in conversation.messages)
    assert made == turns * CALLS, made
    compaction = conversation.compaction
    print(
        f"{turns} turns, {len(conversation.messages):,} messages, {made:,} calls; a summary stands in for"
        f" {compaction.upto:,} messages, results before the {compaction.shrunk:,}th are told in short"
    )
    await journal.close()
    return journal.id, took, memory


def around(values: list[tuple[float, float]], turn: int, which: int) -> float:
    """Return the median of the turns around `turn`, in milliseconds."""
    first = max(0, turn - 1 - AROUND)
    return median(value[which] for value in values[first : turn + AROUND]) * 1000


async def opening(store: SessionStore, session: str) -> None:
    """Print how long it takes to open, read and search a session."""
    for what in ("reopen", "read again"):
        began = time.perf_counter()
        found, journal = await store.reopen(session)
        took = time.perf_counter() - began
        await journal.close()
        print(f"{what:12} {took * 1000:8.1f} ms   {len(found.conversation.messages):,} messages")
    for text in ("line 1999 of", "zz"):
        began = time.perf_counter()
        places = [place async for place in store.search(text)]
        took = (time.perf_counter() - began) * 1000
        print(f"search {text!r:14} {took:8.1f} ms   {len(places)} places")


async def measure(turns: int, window: int, folder: Path) -> None:
    """Run the conversation and print the figures."""
    store = SessionStore(folder / "sessions", lambda: Redactor(SECRETS))
    session, took, memory = await talk(turns, window, store)
    for which, what in ((0, "processor"), (1, "wall clock")):
        early, late = around(took, 10, which), around(took, turns - AROUND, which)
        print(f"turn 10 {early:7.2f} ms   turn {turns} {late:7.2f} ms   ratio {late / early:5.2f}   {what}")
    print(
        f"memory after turn 10 {memory[9] / 2**20:.1f} MiB, after turn {turns} {memory[-1] / 2**20:.1f} MiB"
    )
    print(f"on disk {sum(path.stat().st_size for path in store.files.folder.iterdir()) / 2**20:.1f} MiB")
    await opening(SessionStore(folder / "sessions", lambda: Redactor(SECRETS)), session)


def main() -> None:
    """Measure."""
    turns = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    window = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(measure(turns, window, Path(folder)))


if __name__ == "__main__":
    main()
