"""Rounds of all server operations: start, talk, flood, cancel, stop. Resources must not leak or grow.

The process gets its own home folder until it ends.
"""

import asyncio
import gc
import os
import tempfile
import threading
import time
from pathlib import Path

import psutil

from tests.configurations import config_file, server
from tui.core.events import TurnEnded
from tui.core.permission.approval_policy import Mode
from tui.core.ports import ApprovalRequest, Decision
from tui.core.servers import ServerState
from tui.core.units import size
from tui.runtime.options import Options
from tui.runtime.runtime import Runtime

ROOT = Path(__file__).resolve().parents[2]
FAULTS = ROOT / "tests" / "corpus" / "faults"
SERVERS = {
    "echo": FAULTS / "crlf.py",
    "clinging": FAULTS / "grandchild_holds_pipes.py",
    "deaf": FAULTS / "stderr_on_discover.py",
    "dying": FAULTS / "discover_dies.py",
    "long": FAULTS / "long_unbroken_line.py",
    "flood": ROOT / "tests" / "benchmarks" / "flooding_server.py",
}
ENTRY_BYTES = 120
"""The most memory that a traffic entry may take. It takes about 45 bytes."""
SETTLED_ROUNDS = 3
"""The number of rounds after which caches and pools are full."""


GROWTH_BYTES = 8 << 20
"""How much the memory may grow after the first tenth of the run, because of the heap itself."""

POOL = "asyncio_"
"""Prefix of the threads of the loop's pool. It starts another one, up to a limit, when all are busy."""


Counts = dict[str, int]
"""Resources that a process could leak, by name; `memory` is in bytes."""


def shown(counts: Counts) -> str:
    return "  ".join(
        f"{name} {value}" for name, value in (counts | {"memory": size(counts["memory"])}).items()
    )


def grown(before: Counts, now: Counts, memory: int) -> list[str]:
    """Return the counts that have grown, for the memory only if by more than `memory`."""
    room = dict.fromkeys(now, 0) | {"memory": memory}
    return [f"{name} {before[name]} → {now[name]}" for name in now if now[name] > before[name] + room[name]]


async def fill_pool() -> None:
    """Start all threads of the event loop's pool, which it would otherwise start one by one."""
    await asyncio.gather(*(asyncio.to_thread(threading.Event().wait, 0.05) for _ in range(64)))


def counted() -> Counts:
    """Return the counts of this process; call it in the event loop."""
    me = psutil.Process()
    children = me.children(recursive=True)
    return {
        "processes": len(children),
        "zombies": sum(child.status() == psutil.STATUS_ZOMBIE for child in children),
        "descriptors": me.num_fds(),
        "threads": sum(not thread.name.startswith(POOL) for thread in threading.enumerate()),
        "tasks": len(asyncio.all_tasks()),
        "memory": me.memory_info().rss,
    }


class Nobody:
    """An approver that must never be asked, since every call is allowed."""

    async def ask(self, request: ApprovalRequest) -> Decision:
        raise AssertionError(f"asked for {request}")


async def quiet(runtime: Runtime, most: float = 15.0) -> Counts:
    """Stop all servers, wait until background work has ended, and return the counts."""
    names = [status.name for status in runtime.host.statuses()]
    await asyncio.gather(*(runtime.host.stop(name) for name in names))
    assert all(status.state is ServerState.STOPPED for status in runtime.host.statuses())
    over = time.monotonic() + most
    best = counted()
    while time.monotonic() < over:
        gc.collect()
        await asyncio.sleep(0.1)
        now = counted()
        if all(now[name] >= best[name] for name in ("tasks", "threads", "processes")):
            return now
        best = now
    return best


async def one_round(runtime: Runtime, number: int) -> None:
    """Start every server, talk, call every tool, including one of a flooding server, and cancel a turn."""
    conversations = runtime.conversations
    await runtime.host.start_all()
    if number % 5 == 0:
        await conversations.new()
    events = [event async for event in conversations.ask('call echo {"text": "hello"}', Nobody()).events()]
    assert isinstance(events[-1], TurnEnded), events[-1]
    tools = runtime.host.toolbox.tools()
    assert {tool.server for tool in tools} == set(SERVERS)
    for tool in tools:
        await runtime.host.toolbox.call(tool, {}, seconds=20, progress=lambda *_: None)
    cancelled = conversations.ask("list tools", Nobody())
    async for _ in cancelled.events():
        cancelled.cancel()


async def soak(seconds: float, rounds: int = 0) -> int:
    """Play for some time, or for `rounds` rounds if it is not 0; return the exit code.

    It plays at least until caches and pools are full. The counts are printed at the beginning, every tenth
    and the end.
    """
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        places = ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")
        os.environ.update(dict.fromkeys(places, name))
        (home / "mcptui").mkdir(mode=0o700)
        env = {"FAULT_MIB": "1", "FAULT_LINES": "1000"}
        config_file(home / "mcptui", *(server(name, script, env=env) for name, script in SERVERS.items()))
        runtime = Runtime(Options(demo=True, mode=Mode.ALL, paced=False, start=False), os.environ)
        await runtime.ready()
        await fill_pool()
        gc.freeze()  # what is imported by now, so that looking for garbage after each round is cheap
        began = time.monotonic()
        told = number = 0
        settled: Counts | None = None
        entries = 0
        done = 0.0
        while settled is None or done < 1:
            number += 1
            await one_round(runtime, number)
            now = await quiet(runtime)
            if number == SETTLED_ROUNDS:
                settled, entries = now, len(runtime.recording.entries)
            done = number / rounds if rounds else (time.monotonic() - began) / seconds
            if number <= SETTLED_ROUNDS or done * 10 > told:
                told = int(done * 10) + 1
                print(
                    f"round {number:5}  entries {len(runtime.recording.entries):9}  {shown(now)}", flush=True
                )
        room = GROWTH_BYTES + (len(runtime.recording.entries) - entries) * ENTRY_BYTES
        more = grown(settled, now, room)
        await runtime.shutdown()
        end = counted()
    left = f"{end['processes']} processes, {end['tasks'] - 1} tasks"
    print(f"{number} rounds, grown: {', '.join(more) or 'nothing'}; left after the end: {left}")
    return 1 if more or end["processes"] or end["tasks"] > 1 else 0
