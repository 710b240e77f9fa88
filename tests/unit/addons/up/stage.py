"""Runs commands as processes of their own, beside a running mcptui."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple


class Done(NamedTuple):
    code: int
    out: str
    err: str


async def mcptui(*words: str, cwd: Path | None = None, stdin: str = "", **env: str) -> Done:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tui", *words),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=cwd,
        env={**os.environ, **env},
    )
    out, err = await process.communicate(stdin.encode())
    return Done(process.returncode or 0, out.decode(), err.decode())
