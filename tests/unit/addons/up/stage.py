"""Runs commands as processes of their own, beside a running mcptui."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from tests.terminal.forking_python import Python


class Done(NamedTuple):
    code: int
    out: str
    err: str


async def mcptui(*words: str, cwd: Path | None = None, stdin: str = "", **env: str) -> Done:
    process = await asyncio.create_subprocess_exec(
        *(Python.command, "-m", "tui", *words),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=cwd,
        env={**os.environ, **env},
    )
    out, err = await process.communicate(stdin.encode())
    return Done(process.returncode or 0, out.decode(), err.decode())


ASKS = """
import asyncio, json, sys
from tui.addons.up.running import running

async def ask():
    (door,) = running()
    said = await door.request(sys.argv[1], json.loads(sys.argv[2]), label="a test", command="mcptui test")
    print(json.dumps([door.about, said]))

asyncio.run(ask())
"""


async def asked(method: str, **params: object) -> object:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", ASKS, method, json.dumps(params)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    return json.loads(out)
