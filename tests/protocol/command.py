"""Runs commands: as a process of their own, or in a thread of this one, and reads their output.

A thread saves the start of an interpreter, most of the time of a command. It hides what belongs to a process:
signals, the order of imports, the end of the interpreter, and whatever a command leaves in memory for the
next one. Tests of those use `start` or `python`. `OWN_PROCESSES=1 pytest tests/protocol` hides nothing.
"""

import asyncio
import io
import json
import os
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO
from unittest import mock

from tests.terminal.forking_python import Python
from tests.trusted import trusting
from tui import cli
from tui.core import library_imports
from tui.runtime import signals


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
    """Start a command as a process. If nothing is `piped` in, `run` does not wait for input."""
    return await _started("-m", "tui", *trusting(args), piped=piped, env=env)


async def _started(*args: str, piped: bool, env: Mapping[str, str]) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        Python.command,
        *args,
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


OWN_PROCESS = ("tap", "mock")
"""Commands that answer on the standard streams of a process, or handle its signals."""


async def mcptui(*args: str, stdin: bytes = b"", **env: str) -> Done:
    """Run a command to its end: one at a time in this process, or as a process if it needs its own."""
    return await doubtful(*trusting(args), stdin=stdin, **env)


async def doubtful(*args: str, stdin: bytes = b"", **env: str) -> Done:
    """As `mcptui`, but with a configuration that is not the user's own."""
    needs_own = any(word in args for word in OWN_PROCESS) or any(name.startswith("PYTHON") for name in env)
    if needs_own or os.environ.get("OWN_PROCESSES"):
        return await python("-m", "tui", *args, stdin=stdin, **env)
    async with asyncio.timeout(40):
        return await asyncio.get_running_loop().run_in_executor(None, in_this_process, args, stdin, env)


_ALONE = threading.Lock()
"""Standard streams and environment are of the whole process, so one command runs at a time."""


def in_this_process(
    args: Sequence[str], stdin: bytes = b"", env: Mapping[str, str] = {}, stdout: TextIO | None = None
) -> Done:
    """Run the command with files as standard streams, since it may ask for their descriptors."""
    streams = [io.TextIOWrapper(tempfile.TemporaryFile(), encoding="utf-8") for _ in range(3)]
    given, out, err = streams
    given.buffer.write(stdin)
    given.seek(0)
    with (
        _ALONE,
        mock.patch.multiple(sys, stdin=given, stdout=stdout or out, stderr=err),
        mock.patch.object(signals, "ENDING", ()),
        mock.patch.object(library_imports, "compile_methods_late", lambda: None),
        mock.patch.dict(os.environ, env),
    ):
        try:
            code = cli.main(args)
        except SystemExit as error:
            code = int(error.code or 0)
    texts = []
    for stream in streams:
        stream.flush()
        stream.buffer.seek(0)
        texts.append(stream.buffer.read().decode())
        stream.close()
    return Done(code, texts[1], texts[2])


def recordings() -> list[Path]:
    """Return the recordings, oldest first."""
    return sorted(Path(os.environ["XDG_STATE_HOME"]).glob("mcptui/recordings/*.mcptrace"))


async def python(*args: str, stdin: bytes = b"", **env: str) -> Done:
    """Run a program in Python to its end, as a process."""
    return await finish(await _started(*args, piped=True, env=env), stdin)
