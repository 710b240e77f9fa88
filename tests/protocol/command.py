"""Runs the real command in a process of its own and reads what it says."""

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FORK_SERVER = Path(__file__).with_name("fork_server.py")


@dataclass(frozen=True)
class Done:
    """A finished command."""

    code: int
    out: str
    err: str

    @property
    def objects(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]

    def of_type(self, kind: str) -> list[dict[str, Any]]:
        return [found for found in self.objects if found["type"] == kind]


async def start(*args: str, piped: bool = True, **env: str) -> asyncio.subprocess.Process:
    """Start it; with nothing `piped` in, `run` does not wait whether something comes."""
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tui",
        *args,
        stdin=asyncio.subprocess.PIPE if piped else asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, **env},
        start_new_session=True,
    )


async def finish(process: asyncio.subprocess.Process, stdin: bytes = b"") -> Done:
    async with asyncio.timeout(40):
        out, err = await process.communicate(stdin if process.stdin else None)
    assert process.returncode is not None
    return Done(process.returncode, out.decode(), err.decode())


class ForkServer:
    """The process that forks itself for each command, see `fork_server.py`."""

    def __init__(self) -> None:
        self._control, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with other:
            self._process = subprocess.Popen(
                [sys.executable, FORK_SERVER, str(other.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                cwd=FORK_SERVER.parents[2],
                env=os.environ | {"PYTHONPATH": str(FORK_SERVER.parents[2])},
                pass_fds=[other.fileno()],
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    def close(self) -> None:
        self._control.close()
        self._process.wait(10)

    async def run(self, arguments: Sequence[str], stdin: bytes, environment: Mapping[str, str]) -> Done:
        """Run a command to its end."""
        request = {"arguments": arguments, "environment": {**environment}, "folder": os.getcwd()}
        answer, theirs = socket.socketpair()
        answer.setblocking(False)
        pipes = [os.pipe(), os.pipe(), os.pipe()]
        given = [theirs.fileno(), pipes[0][0], pipes[1][1], pipes[2][1]]
        try:
            socket.send_fds(self._control, [json.dumps(request).encode()], given)
        except OSError:
            answer.close()
            for descriptor in (pipes[0][1], pipes[1][0], pipes[2][0]):
                os.close(descriptor)
            raise
        finally:
            theirs.close()
            for descriptor in given[1:]:
                os.close(descriptor)
        reader, writer = await asyncio.open_connection(sock=answer)
        pid = int(await reader.readuntil(b" "))
        ended = False
        try:
            _, out, err = await asyncio.gather(_write(pipes[0][1], stdin), *(_read(r) for r, _ in pipes[1:]))
            code = int(await reader.read())
            ended = True
        finally:
            if not ended:
                os.killpg(pid, signal.SIGKILL)
            writer.close()
        return Done(code, out.decode(), err.decode())


async def _read(descriptor: int) -> bytes:
    reader = asyncio.StreamReader()
    with os.fdopen(descriptor, "rb") as pipe:
        loop = asyncio.get_running_loop()
        transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
        try:
            return await reader.read()
        finally:
            transport.close()


async def _write(descriptor: int, data: bytes) -> None:
    """Write in a thread, since nobody may read; that the other end is closed is no error."""
    with contextlib.suppress(BrokenPipeError):
        await asyncio.to_thread(_write_all, descriptor, data)


def _write_all(descriptor: int, data: bytes) -> None:
    with os.fdopen(descriptor, "wb") as pipe:
        pipe.write(data)


def _is_for_a_new_interpreter(environment: Mapping[str, str]) -> bool:
    return any(name.startswith(("PYTHON", "LC_", "LANG", "LD_")) for name in environment)


fork_server: ForkServer | None = None
"""Started by the fixture of this folder; without it each command is a new interpreter."""


async def mcptui(*args: str, stdin: bytes = b"", **env: str) -> Done:
    """Run a command to its end: in a fork of a process that has its modules loaded, where there is one."""
    if fork_server is None or _is_for_a_new_interpreter(env):
        return await finish(await start(*args, **env), stdin)
    async with asyncio.timeout(40):
        try:
            return await fork_server.run(args, stdin, {**os.environ, **env})
        except BrokenPipeError:  # the process that forks is gone
            return await finish(await start(*args, **env), stdin)
