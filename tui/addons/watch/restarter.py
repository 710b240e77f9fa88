"""What the taps that watch files have in common: one restart at a time for each change."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any

from tui.addons.watch.changes import SeenFiles, changes
from tui.commands.tap.message_tap import STOP_SECONDS, ServerSide
from tui.core.background import Tasks, cancel_all
from tui.core.errors import reason_of
from tui.core.units import duration
from tui.traffic.explain.crash import last_words

START_SECONDS = 30.0
"""How long a new process may take until it answers."""

ANSWER_SECONDS = 0.1
"""How long an old process may take to answer what was under way."""


class Restarts:
    """Calls `restart` with the files that have changed, once at a time. `patterns` are globs of the files.

    It returns whether another process serves.

    Attributes:
        starting: a process that does not serve yet.
        tasks: what ends with this.
        lock: held during a restart.
    """

    def __init__(self, patterns: Sequence[str], restart: Callable[[Sequence[str]], Awaitable[bool]]) -> None:
        self.starting: ServerSide | None = None
        self.tasks = Tasks()
        self.lock = asyncio.Lock()
        self._patterns, self._restart = patterns, restart
        self._is_used = True
        self._leaving: set[ServerSide] = set()

    async def begin(self) -> None:
        """Watch the files as they are now: called before a server reads them."""
        self._seen = await asyncio.to_thread(SeenFiles, self._patterns, os.getcwd())
        self._watching = self.tasks.start(self._watch(), "watch")

    async def end(self) -> None:
        """Restart no more, and end all processes that do not serve."""
        await cancel_all((self._watching,))
        if self.starting is not None:
            self.retire(self.starting, 0)
        for server in self._leaving:
            server.signal(signal.SIGTERM)
        await self.tasks.settled()

    def retire(self, server: ServerSide, patience: float = STOP_SECONDS) -> asyncio.Task[None]:
        """End a process; `patience` as for `ServerSide.stop`."""
        self._leaving.add(server)
        stopping = self.tasks.start(server.stop(patience), "stop")
        stopping.add_done_callback(lambda task: self._leaving.discard(server))
        return stopping

    async def _watch(self) -> None:
        none = " (no file matches)" if self._seen.is_empty else ""
        say(f"restarts the server when {', '.join(self._patterns)} changes{none}")
        async for files in changes(self._seen, lambda: self._is_used):
            async with self.lock:
                self._is_used = False
                try:
                    self._is_used = await self._restart(files)
                except Exception as error:  # a bug in one restart must not end the watch
                    say(f"not restarted: internal error: {reason_of(error)}")


def why_failed(files: Sequence[str]) -> str:
    """Return what a host is told of a request that was under way during a restart."""
    shown = ", ".join(os.path.basename(file) for file in files[:3])
    return f"The server was restarted because {shown} changed, and did not answer this request. Repeat it."


def say_restarted(event: Callable[..., None], seconds: float, **what: Any) -> None:
    """Record a restart, and say what it did."""
    event("restarted", seconds=round(seconds, 3), **what)
    changed = f" · changed: {', '.join(what['changed'])}" if what["changed"] else ""
    lost = f" · unfinished requests that failed: {what['failed']}" if what["failed"] else ""
    say(f"restarted in {duration(seconds * 1000)}{changed}{lost}")


def end_of(server: ServerSide) -> str:
    """Say after its name how a process ended, with the exception and its place if its log has one."""
    words, ended = last_words(server.log.lines())[:2], server.process.exit
    return ": ".join(filter(None, ("" if ended is None else ended.sentence(), " ".join(words))))


def say(text: str) -> None:
    """Write a line for the log of the host."""
    with suppress(OSError):
        os.write(2, f"mcptui tap: {text}\n".encode("utf-8", "backslashreplace"))
