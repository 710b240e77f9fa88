"""Python programs that tests start."""

import subprocess
import sys
from pathlib import Path
from typing import Any

from tui.core.servers import ServerSpec

ROOT = Path(__file__).parents[1]
ANSWERING = f"""
import json, os, sys
sys.path.insert(0, {str(ROOT / "tests" / "protocol")!r})
from answering_loop import LATER, refusal, send, serve, text
"""
"""How a server that stands in a test begins."""


def command(*arguments: str | Path) -> tuple[str, ...]:
    """Return the command line of a Python program."""
    return (sys.executable, *(str(argument) for argument in arguments))


def server(name: str, script: Path, **more: Any) -> ServerSpec:
    """Return the spec of a server that is a Python program."""
    program, *arguments = command(script)
    return ServerSpec(name, program, tuple(arguments), **more)


def printed_by(code: str, **env: str) -> str:
    """Return the output of a new interpreter, since the one running the tests has imported everything."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT)} | env,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
