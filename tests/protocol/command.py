"""Runs the real command in a separate process and reads its output."""

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests import programs
from tests.programs import ForkServer
from tests.trusted import trusting


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


async def start(
    *args: str, piped: bool = True, forked: bool = False, **env: str
) -> asyncio.subprocess.Process:
    """Start it. If nothing is `piped` in, `run` does not wait for input.

    A `forked` one is faster, but is not in the process group of other processes started here.
    """
    words = ("-m", "tui", *trusting(args))
    command = programs.command(*words) if forked else (sys.executable, *words)
    return await _started(command, piped=piped, env=env)


async def _started(
    command: Sequence[str], *, piped: bool, env: Mapping[str, str]
) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE if piped else asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, **env},
        start_new_session=True,
    )


async def finish(process: asyncio.subprocess.Process, stdin: bytes = b"", seconds: float = 40.0) -> Done:
    async with asyncio.timeout(seconds):
        out, err = await process.communicate(stdin if process.stdin else None)
    assert process.returncode is not None
    return Done(process.returncode, out.decode(), err.decode())


async def _forked(
    server: ForkServer, arguments: Sequence[str], stdin: bytes, environment: Mapping[str, str]
) -> Done:
    pipes = [os.pipe(), os.pipe(), os.pipe()]
    given = (pipes[0][0], pipes[1][1], pipes[2][1])
    try:
        answer = programs.start_fork(server.path, arguments, environment, given)
    except OSError:
        for descriptor in (pipes[0][1], pipes[1][0], pipes[2][0]):
            os.close(descriptor)
        raise
    finally:
        for descriptor in given:
            os.close(descriptor)
    loop = asyncio.get_running_loop()
    with answer:
        answer.setblocking(False)
        pid = int(await loop.sock_recv(answer, 100))
        ended = False
        try:
            _, out, err = await asyncio.gather(_write(pipes[0][1], stdin), *(_read(r) for r, _ in pipes[1:]))
            code = int(await loop.sock_recv(answer, 100))
            ended = True
        finally:
            if not ended:
                os.killpg(pid, signal.SIGKILL)
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
    """Write in a thread, since there may be no reader. A closed reader is not an error."""
    with contextlib.suppress(BrokenPipeError):
        await asyncio.to_thread(_write_all, descriptor, data)


def _write_all(descriptor: int, data: bytes) -> None:
    with os.fdopen(descriptor, "wb") as pipe:
        pipe.write(data)


async def mcptui(*args: str, stdin: bytes = b"", **env: str) -> Done:
    """Run a command to its end, in a fork of a process with its modules imported if there is one."""
    return await python("-m", "tui", *trusting(args), stdin=stdin, **env)


async def doubtful(*args: str, stdin: bytes = b"", **env: str) -> Done:
    """As `mcptui`, but with a configuration that is not the user's own."""
    return await python("-m", "tui", *args, stdin=stdin, **env)


async def python(*args: str, stdin: bytes = b"", **env: str) -> Done:
    """Run a program in Python to its end, as `mcptui` does."""
    server = programs.fork_server
    if server is None or programs.is_for_a_new_interpreter(env):
        return await finish(await _started((sys.executable, *args), piped=True, env=env), stdin)
    async with asyncio.timeout(40):
        try:
            return await _forked(server, args, stdin, {**os.environ, **env})
        except OSError:  # the forking process has exited
            return await finish(await _started((sys.executable, *args), piped=True, env=env), stdin)
