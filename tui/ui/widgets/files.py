"""Saves new files in a thread, and opens files with the system's program."""

import asyncio
import contextlib
import errno
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from textual.app import App

from tui.core import units
from tui.core.errors import reason_of
from tui.core.files import is_replaceable, new_file
from tui.core.programs import find_program
from tui.core.text import clean_line
from tui.ui.widgets.inputs import PromptLine


def typed_path(text: str) -> Path:
    """Return a path that the user typed, with "~" expanded."""
    return Path(os.path.expanduser(text.strip()))


def file_stem(title: str, otherwise: str) -> str:
    """Return a file name without a suffix: letters and digits of a title; `otherwise` if there are none."""
    kept = "".join(char if char.isalnum() else "-" for char in title[:60].lower())
    return "-".join(filter(None, kept.split("-"))) or otherwise


def path_problem(text: str, *, new: bool = True) -> str:
    """Return why no (`new`) file can be written to a typed path, or ""; an empty path is accepted."""
    path = typed_path(text)
    if not text.strip():
        return ""
    if "\0" in text:
        return "Contains a null character"
    try:
        if path.is_dir():
            return "Is a directory"
        if new and os.path.lexists(path):
            return "File exists"
        folder = Path(os.path.realpath(path)).parent  # the folder of the link's target
        if not folder.is_dir():
            problem = "Not a directory" if folder.exists() else "No such directory"
            return f"{problem}: {clean_line(str(folder), 300)}"
        if is_replaceable(path) and not os.access(folder, os.W_OK):
            return "Permission denied"
    except (OSError, ValueError) as error:
        return reason_of(error)
    return ""


def ask_to_save(
    prompt: PromptLine,
    path: Path,
    data: bytes,
    *,
    label: str = "save as",
    then: Callable[[Path], object] = str,
) -> None:
    """Ask for the path of a new file, and write it; `then` is called with the path of a written file."""
    app = prompt.app

    async def save(path: Path) -> None:
        try:
            await asyncio.to_thread(_write_new, path, data)
        except OSError as error:
            app.notify(f"{path} not saved: {reason_of(error)}.", severity="error")
        else:
            app.notify(f"Saved {units.size(len(data))} to {path}", timeout=4)
            then(path)

    def named(name: str) -> None:
        if name.strip():
            app.run_worker(save(typed_path(name)), exit_on_error=True)

    numbered = (path.with_stem(f"{path.stem}-{number}") for number in range(2, 1000))
    free = next((one for one in (path, *numbered) if not os.path.lexists(one)), path)
    prompt.ask(label, named, value=str(free), check=path_problem)


def _write_new(path: Path, data: bytes) -> None:
    with new_file(path):
        path.write_bytes(data)


OPENER_SECONDS = 5.0
"""After this time, an opener that has not exited is the program itself."""


def opener(path: Path, platform: str = sys.platform) -> Sequence[str]:
    """Return the command that opens a file, without a shell."""
    program = {"darwin": "open", "win32": "explorer.exe"}.get(platform, "xdg-open")
    return (program, str(path.absolute()))  # which never starts with a dash


async def open_file(app: App[Any], path: Path) -> None:
    """Open a file with the system's opener, or show an error. The program outlives mcptui."""
    command = opener(path)
    try:
        if (program := find_program(command[0])) is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        process = await asyncio.create_subprocess_exec(
            program,
            *command[1:],
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        why = reason_of(error)
        app.notify(f"Cannot start {command[0]}: {why}. The file is at {path}.", severity="error")
        return
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(OPENER_SECONDS):
            if await process.wait() and command[0] != "explorer.exe":  # which always exits with 1
                words = f"{command[0]} found no program for {clean_line(path.name, 120)}."
                app.notify(words, severity="error")
