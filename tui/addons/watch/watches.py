"""Watches the files of servers, and restarts a server when its files change."""

import asyncio
import logging
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from tui.addons.watch.changes import SeenFiles, changes
from tui.addons.watch.globs import folder_of
from tui.addons.watch.handover import HandoverResult, Handovers
from tui.addons.watch.ports import answers, place_of
from tui.addons.watch.report import RestartReport
from tui.core.addons import service
from tui.core.background import RetryDelay, Tasks, cancel_all
from tui.core.errors import reason_of
from tui.core.language.translate import message
from tui.core.servers import ServerSpec, ServerState, ServerStatus

if TYPE_CHECKING:
    from tui.runtime.runtime import Runtime

LOOK_SECONDS = 0.5
"""Seconds between two looks at what servers there are, and what is to be watched."""

LONGEST_WAIT = 10.0
"""Maximum seconds between two attempts to connect to a server that listens, and does not respond."""

_log = logging.getLogger(__name__)


class ServerWatch:
    """Watches the files of one server.

    Attributes:
        report: what became of the last restart, or None.
        restarts: counts the restarts that brought a new process.
        is_restarting: whether a restart runs, which `began` then, in monotonic seconds.
        problem: why nothing is watched, or "".
        is_empty: whether there was no file to watch.
    """

    def __init__(self, runtime: "Runtime", spec: ServerSpec, handovers: Handovers) -> None:
        self.name, self.patterns, self.folder = spec.name, spec.watch, folder_of(spec)
        self.report: RestartReport | None = None
        self.restarts = 0
        self.is_restarting = False
        self.began = 0.0
        self.problem = ""
        self.is_empty = False
        self._runtime = runtime
        self._handovers = handovers
        self._tasks = Tasks()
        self._work: asyncio.Task[None] | None = None
        self._watching = self._tasks.start(self._watch(), f"watch the files of {spec.name}")

    @property
    def shown(self) -> Sequence[str]:
        """The patterns, relative to the folder of the server."""
        return [one.removeprefix(f"{self.folder}{os.sep}") for one in self.patterns]

    @property
    def stop_first(self) -> str:
        """The setting that always stops the old process first, or "" if none runs or it has no effect."""
        status = self._runtime.host.find(self.name)
        if status is None or status.state is not ServerState.RUNNING or not status.spec.command:
            return ""
        return "--stop-first" if self._runtime.options.opens == self.name else 'restart = "stop-first"'

    @property
    def is_new(self) -> bool:
        """Whether the process of the last restart runs."""
        return not self.is_restarting and self.report is not None and self.report.result.is_new

    async def _watch(self) -> None:
        try:
            seen = await asyncio.to_thread(SeenFiles, self.patterns, self.folder)
            self.is_empty = seen.is_empty
            async for _ in changes(seen, lambda: self.is_new):
                if self._work is not None:
                    await cancel_all((self._work,))
                self._work = self._tasks.start(self._restart(), f"restart {self.name}")
        except ImportError:
            self.problem = message("Cannot watch files: the package watchfiles is not installed.")
        except (OSError, RuntimeError) as error:  # such as too many watched folders on this computer
            self.problem = message("Cannot watch the files: {why}.", why=reason_of(error))

    def look(self, status: ServerStatus) -> None:
        """Report what became of the process by itself: that it did not start, ended or printed something."""
        if self.is_restarting:
            return
        is_told_to_run = self.report is None or self.report.result.is_running
        if not is_told_to_run and status.state is ServerState.RUNNING:
            self.report = None  # it was started in another way
        elif is_told_to_run and status.failed:
            problem, place = self._handovers.problem_of(self._runtime.host.servers[self.name])
            failed = HandoverResult(False, False, 0.0, problem=problem, place=place)
            self.report = RestartReport(failed, was_running=False)
        if self.report is not None and self.is_new and self.report.printed != status.printed_words:
            self.report = replace(self.report, printed=status.printed_words)

    async def _restart(self) -> None:
        host = self._runtime.host
        status = host.find(self.name)
        if status is None or not _is_wanted(status):
            return
        was_running = status.state is not ServerState.STOPPED
        self.is_restarting, self.began = True, time.monotonic()
        try:
            result = await self._handovers.hand_over(self.name)
            now = host.find(self.name)
            printed = now.printed_words if now is not None and result.is_new else ""
            setting = self.stop_first if result.may_need_stop else ""
            self.report = RestartReport(result, was_running=was_running, printed=printed, stop_first=setting)
            self.restarts += result.is_new
        finally:
            self.is_restarting = False
        check = service("kept check")
        if result.is_new and check is not None:
            self.report = replace(self.report, kept=await check(self._runtime, self.name))
        self._runtime.tell_user(self.name, self.report.text)

    async def close(self) -> None:
        await self._tasks.cancel()


def _is_wanted(status: ServerStatus) -> bool:
    """Return whether a change restarts a server: not if the user has stopped it, or never started it."""
    return status.state is not ServerState.STOPPED or status.failed


def _is_silent(status: ServerStatus) -> bool:
    """Return whether a remote server of the user does not respond."""
    is_tried = status.reach is not None and status.reach.silent and not status.reach.status
    return status.spec.is_own and bool(status.spec.url) and status.failed and is_tried


class Watches:
    """The servers whose files are watched, and remote ones of the user that are connected once they listen.

    Attributes:
        paused: those that are not watched, although they have patterns.
        awaited: the remote ones that do not listen yet.
    """

    def __init__(self, runtime: "Runtime") -> None:
        self._runtime = runtime
        self._handovers = Handovers(runtime.host)
        self._watches: dict[str, ServerWatch] = {}
        self.paused: set[str] = set()
        self.awaited: set[str] = set()
        self._tasks = Tasks()

    def begin(self) -> None:
        """Watch what the configuration says, also once it has changed."""
        if not self._tasks.running:
            self._tasks.start(self._follow(), "follow the watched servers")

    def find(self, server: str) -> ServerWatch | None:
        return self._watches.get(server)

    async def _follow(self) -> None:
        revision: tuple[object, ...] = ()
        while True:
            host = self._runtime.host
            if (now := (host, host.revision, frozenset(self.paused))) != revision:
                revision = now
                self._follow_servers({one.name: one for one in host.statuses()})
            await asyncio.sleep(LOOK_SECONDS)

    def _follow_servers(self, servers: Mapping[str, ServerStatus]) -> None:
        for name, watch in list(self._watches.items()):
            spec = servers[name].spec if name in servers else None
            if (
                spec is None
                or name in self.paused
                or (spec.watch, folder_of(spec))
                != (
                    watch.patterns,
                    watch.folder,
                )
            ):
                self._tasks.start(self._watches.pop(name).close(), f"stop watching {name}")
        for name, status in servers.items():
            if _is_silent(status) and name not in self.awaited:
                self.awaited.add(name)
                self._tasks.start(self._connect(name), f"wait for {name}")
            if status.spec.watch and name not in self.paused:
                if name not in self._watches:
                    self._watches[name] = ServerWatch(self._runtime, status.spec, self._handovers)
                self._watches[name].look(status)

    async def _connect(self, name: str) -> None:
        """Start a remote server once it listens, again as long as it does not answer."""
        delay = RetryDelay(LOOK_SECONDS, LONGEST_WAIT)
        try:
            while (status := self._runtime.host.find(name)) is not None and _is_silent(status):
                if await answers(*place_of(status.spec.url or "")):
                    await self._runtime.host.start(name)
                    await asyncio.sleep(delay.after_failure())
                else:
                    await asyncio.sleep(LOOK_SECONDS)
        finally:
            self.awaited.discard(name)

    async def close(self) -> None:
        """Stop watching, and end restarts; the old processes stay."""
        await self._tasks.cancel()
        with suppress(Exception):
            await asyncio.gather(*(one.close() for one in self._watches.values()))
        await self._handovers.close()
