"""The process that plays scenarios of the conformance suite, see `player.mjs`."""

import asyncio
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from tests.conftest import until
from tests.protocol.command import Done

PROGRAM = Path(__file__).with_name("player.mjs")


class Player:
    """Plays one scenario after another."""

    def __init__(self, node: Path, suite: Path, shared_processes: set[int]) -> None:
        self._command = (node, PROGRAM, suite.resolve())
        self._shared = shared_processes
        self._start()

    def _start(self) -> None:
        self._folder = tempfile.mkdtemp(prefix="conformance-")
        self._socket = os.path.join(self._folder, "socket")
        self._process = subprocess.Popen(
            [*self._command, self._socket], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
        )
        self._shared.add(self._process.pid)

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(10)
        shutil.rmtree(self._folder)

    async def play(self, *arguments: str, **env: str) -> Done:
        """Run the suite with these arguments and variables to its end.

        If that fails, another process plays the next scenario.
        """
        try:
            return await self._play({"arguments": arguments, "environment": {**os.environ, **env}})
        except BaseException:
            self._process.kill()
            self.close()
            self._start()
            raise

    async def _play(self, request: object) -> Done:
        await until(lambda: os.path.exists(self._socket), 30.0, "the player listens")
        reader, writer = await asyncio.open_unix_connection(self._socket)
        try:
            writer.write(json.dumps(request).encode() + b"\n")
            return Done(**json.loads(await reader.read()))
        finally:
            writer.close()
            await writer.wait_closed()
