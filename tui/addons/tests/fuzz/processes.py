"""The processes of a run: a server, a spare one (a crash costs no start), and what generates arguments."""

import asyncio
import json
from asyncio.subprocess import Process
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from tui.addons.tests.run.instance import ServerInstance
from tui.addons.tests.run.one_server import OneServer
from tui.core.background import Tasks, end_worker, start_worker


class Processes:
    """One process that is called, and another that starts meanwhile. A remote server has no spare."""

    def __init__(self, server: OneServer) -> None:
        self._server = server
        self.workbench = server.runtime.workbench
        self._beside = Tasks()
        self._spare: asyncio.Task[ServerInstance] | None = None
        self.starts = 0
        self.current: ServerInstance | None = None

    async def running(self) -> ServerInstance:
        """Return the process that is called, started if there is none."""
        if self.current is None:
            self.current = await (self._spare or self._started())
            self._spare = None
            if self._server.spec.url is None and not self.current.problem:
                self._spare = self._beside.start(self._started(), "spare server")
        return self.current

    def drop(self) -> None:
        """End the process; the next call gets another one."""
        current, self.current = self.current, None
        if current is not None:
            self._beside.start(current.close(), "end of a fuzzed server")

    async def close(self) -> None:
        """End what runs beside the call. The runtime ends the processes."""
        await self._beside.cancel()

    async def _started(self) -> ServerInstance:
        instance = self._server.process()
        instance.records = False  # thousands of calls: each tool is recorded once
        self.starts += 1
        await instance.running()
        return instance


WORKER = "tui.addons.tests.fuzz.generated"
SECONDS = 20.0
"""Maximum seconds for the arguments of one tool."""


class Generator:
    """Generates arguments, one schema after the other."""

    def __init__(self) -> None:
        self._starting: asyncio.Task[Process] | None = None

    def start(self) -> None:
        """Start the process, unless it runs."""
        if self._starting is None:
            self._starting = asyncio.create_task(start_worker(["-m", WORKER]))

    async def arguments(self, schema: Mapping[str, Any], runs: int, seed: int) -> list[dict[str, Any]]:
        """Return arguments for a plain schema, none if that takes too long."""
        self.start()
        assert self._starting is not None
        worker = await self._starting
        assert worker.stdin is not None
        assert worker.stdout is not None
        found: list[dict[str, Any]] = []
        with suppress(TimeoutError, OSError, ValueError, asyncio.IncompleteReadError):
            async with asyncio.timeout(SECONDS):
                worker.stdin.write(json.dumps([schema, runs, seed]).encode() + b"\n")
                await worker.stdin.drain()
                size = int(await worker.stdout.readline())
                found = json.loads(await worker.stdout.readexactly(size))
        if not found:
            await self.close()
        return found

    async def close(self) -> None:
        """End the process."""
        starting, self._starting = self._starting, None
        if starting is not None:
            await end_worker(await starting)
