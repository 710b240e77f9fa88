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
from tui.core.language.translate import N_, _
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
        return _("Contains a null character")
    try:
        if path.is_dir():
            return _("Is a directory")
        if new and os.path.lexists(path):
            return _("File exists")
        folder = Path(os.path.realpath(path)).parent  # the folder of the link's target
        if not folder.is_dir():
            name = clean_line(str(folder), 300)
            if folder.exists():
                return _("Not a directory: {path}", path=name)
            return _("No such directory: {path}", path=name)
        if is_replaceable(path) and not os.access(folder, os.W_OK):
            return _("Permission denied")
    except (OSError, ValueError) as error:
        return reason_of(error)
    return ""


def ask_to_save(
    prompt: PromptLine,
    path: Path,
    data: bytes,
    *,
    label: str = N_("save as"),
    then: Callable[[Path], object] = str,
) -> None:
    """Ask for the path of a new file, and write it; `then` is called with the path of a written file."""
    app = prompt.app

    async def save(path: Path) -> None:
        try:
            await prompt.saving(asyncio.to_thread(_write_new, path, data))
        except OSError as error:
            app.notify(_("{path} not saved: {why}.", path=path, why=reason_of(error)), severity="error")
        else:
            app.notify(_("Saved {size} to {path}", size=units.size(len(data)), path=path), timeout=4)
            then(path)

    def named(name: str) -> None:
        if name.strip():
            app.run_worker(save(typed_path(name)), exit_on_error=True)

    numbered = (path.with_stem(f"{path.stem}-{number}") for number in range(2, 1000))
    free = next((one for one in (path, *numbered) if not os.path.lexists(one)), path)
    prompt.ask(_(label), named, value=str(free), check=path_problem)


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
        words = _(
            "Cannot start {program}: {why}. The file is at {path}.", program=command[0], why=why, path=path
        )
        app.notify(words, severity="error")
        return
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(OPENER_SECONDS):
            if await process.wait() and command[0] != "explorer.exe":  # which always exits with 1
                name = clean_line(path.name, 120)
                words = _("{program} found no program for {file}.", program=command[0], file=name)
                app.notify(words, severity="error")
