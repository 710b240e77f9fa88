"""Opening a file with the program that the system has for it."""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from textual.app import App

from tui.core.text import clean_line

SECONDS = 5.0
"""Whoever opens files is done by then, or is the program itself and goes on without us."""


def opener(path: Path, platform: str = sys.platform) -> Sequence[str]:
    """Return the command that opens a file; no shell reads it."""
    file = str(path.absolute())  # nothing that begins with a dash
    match platform:
        case "darwin":
            return ("open", file)
        case "win32":
            return ("explorer.exe", file)
        case _:
            return ("xdg-open", file)


async def open_file(app: App[Any], path: Path, command: Sequence[str] = ()) -> None:
    """Open a file, and say why not if that fails. The program outlives this one.

    Args:
        app: tells what went wrong.
        path: the file.
        command: what opens it; empty for the system's way.
    """
    command = command or opener(path)
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        why = error.strerror or type(error).__name__
        app.notify(f"{command[0]} could not be started: {why}. The file is {path}.", severity="error")
        return
    try:
        async with asyncio.timeout(SECONDS):
            code = await process.wait()
    except TimeoutError:
        return
    if code and command[0] != "explorer.exe":  # which says 1 whatever comes of it
        app.notify(f"{command[0]} found no program for {clean_line(path.name, 120)}.", severity="error")
