"""The process that generates arguments, which starts beside the server."""

import asyncio
import json
from asyncio.subprocess import Process
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from tui.core.background import end_worker, start_worker

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
