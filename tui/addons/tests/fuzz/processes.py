"""The process of a server whose tools are fuzzed, and a spare one: a crash costs no start."""

import asyncio

from tui.addons.tests.run.instance import ServerInstance
from tui.addons.tests.run.one_server import OneServer
from tui.core.background import Tasks


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
