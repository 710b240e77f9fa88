"""The stop ladder: ask a server to leave by closing its input, then SIGTERM, then SIGKILL.

Order of the MCP specification ("Lifecycle: shutdown, stdio"), with the whole process group in place of the
leader. A server that behaves needs none of the waits. The end of a pipe is never waited for: a grandchild
may hold it open.
"""

import asyncio
import signal
from collections.abc import Coroutine
from typing import Any

from tui.host.process.orphans import end_stragglers
from tui.host.process.pipes import PipeWriter
from tui.host.process.process import ServerProcess, StopGrace


async def descend(process: ServerProcess, stdin: PipeWriter, grace: StopGrace, hurry: asyncio.Event) -> None:
    """End the leader of a server.

    Args:
        process: the server.
        stdin: its input; closed here.
        grace: how long each step may take.
        hurry: when set, no step waits any more.
    """

    async def gone(seconds: float) -> bool:
        await within(seconds, process.exited.wait(), hurry.wait())
        return process.exit is not None

    if process.exit is None:
        await within(grace.flush, stdin.flushed(), hurry.wait())
    stdin.close()
    if await gone(grace.eof):
        return
    process.signal_group(signal.SIGTERM)
    if await gone(grace.term):
        return
    process.signal_group(signal.SIGKILL)
    await within(grace.kill, process.exited.wait())


def sweep(process: ServerProcess, mark: str, patience: float) -> tuple[int, ...]:
    """End what a server left behind, also after a clean exit; return what was out of its group.

    Launchers such as npx and uv leave while what they launched stays. Blocks up to a few seconds.
    """
    found = end_stragglers(mark, patience)
    process.signal_group(signal.SIGKILL)
    return tuple(straggler.pid for straggler in found if straggler.group != process.pid)


async def within(seconds: float, *conditions: Coroutine[Any, Any, object]) -> None:
    """Wait for the first of `conditions`, at most `seconds`."""
    tasks = [asyncio.ensure_future(condition) for condition in conditions]
    try:
        await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
