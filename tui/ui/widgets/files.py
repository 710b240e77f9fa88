"""Saving what is read to a file of its own, in a thread."""

import asyncio
import contextlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from textual.app import App

from tui.core import units
from tui.core.atomic_write import is_replaceable
from tui.core.text import clean_line


def typed_path(text: str) -> Path:
    """Return the path that a person typed, "~" expanded."""
    return Path(os.path.expanduser(text.strip()))


def path_problem(text: str, *, new: bool = True) -> str:
    """Return why no file can be written to a path that a person typed, or "".

    Args:
        text: the path; nothing is wrong with an empty one.
        new: an existing file is a problem too.
    """
    path = typed_path(text)
    if not text.strip():
        return ""
    try:
        if path.is_dir():
            return "Is a directory"
        if new and os.path.lexists(path):
            return "File exists"
        folder = Path(os.path.realpath(path)).parent  # of what a link points to
        if not folder.is_dir():
            return "Not a directory" if folder.exists() else "No such directory"
        if is_replaceable(path) and not os.access(folder, os.W_OK):
            return "Permission denied"
    except (OSError, ValueError) as error:
        return getattr(error, "strerror", None) or str(error)
    return ""


async def save_new(app: App[Any], path: Path, data: bytes) -> None:
    """Write a file that is not there yet, and say so; say why not, if it was there or cannot be written."""
    await saved_new(app, path, data)


async def saved_new(app: App[Any], path: Path, data: bytes) -> bool:
    """Do the same, and return whether it was written."""
    try:
        await asyncio.to_thread(_write_new, path, data)
    except OSError as error:
        app.notify(f"{path} was not saved: {error.strerror}.", severity="error")
        return False
    app.notify(f"saved {units.size(len(data))} to {path}", timeout=4)
    return True


def _write_new(path: Path, data: bytes) -> None:
    with path.open("xb") as file:
        try:
            file.write(data)
            file.flush()
        except BaseException:
            with contextlib.suppress(OSError):
                path.unlink()
            raise


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
