"""Runs the real command in a process of its own and reads what it says."""

import asyncio
import json
import os
import sys
from dataclasses import dataclass
from typing import Any


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


async def mcptui(*args: str, stdin: bytes = b"", **env: str) -> Done:
    return await finish(await start(*args, **env), stdin)
