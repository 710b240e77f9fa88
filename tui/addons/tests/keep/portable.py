"""How a test file names the program of a call, so that it also runs in another clone of the project.

Paths of the project become relative to the file. A folder to start in is written only if the command needs
it. Looks at which files there are.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from tui.settings.specs import resolved

ROOTS = (".git", "pyproject.toml", "package.json")
"""What the folder of a project has."""

MOST_UP = 2
"""Folders above that of a file outside of a project, from which paths are still written relative to it."""


def command_in(
    folder: Path, words: Sequence[str], base: str, *, is_chosen: bool
) -> tuple[tuple[str, ...], str]:
    """Return a command as a file in `folder` has it, and the folder to start in, "" for that of the file.

    The command ran in `base`. With `is_chosen`, somebody configured that it starts there.
    """
    full = resolved(words, Path(base))
    cwd = os.path.relpath(base, folder) if is_chosen or _needs(full, base, folder) else ""
    cwd = "" if cwd == "." else cwd
    start = os.path.normpath(folder / cwd)
    command = (
        _relative(word, full_word, base, start, folder, is_program=not at)
        for at, (word, full_word) in enumerate(zip(words, full, strict=True))
    )
    return tuple(command), cwd


def program_in(folder: Path, words: Sequence[str], cwd: str) -> Sequence[str]:
    """Return the command of a file in `folder` with absolute paths, to compare it with another one.

    If it has none, the folder in which it starts is part of it.
    """
    start = Path(os.path.normpath(folder / cwd))
    full = resolved(words, start)
    return full if _files(full[1:]) else [*full, str(start)]


def _needs(words: Sequence[str], base: str, folder: Path) -> bool:
    """Return whether a command depends on the folder in which it ran."""
    if found := _files(words[1:]):
        top = _project(folder) or folder
        return Path(base).is_relative_to(top) and any(Path(word).is_relative_to(base) for word in found)
    return _has_files(base)


def _files(words: Sequence[str]) -> list[str]:
    return [word for word in words if os.path.isabs(word) and os.path.lexists(word)]


def _has_files(folder: str) -> bool:
    try:
        with os.scandir(folder) as entries:
            return next(entries, None) is not None
    except OSError:
        return True


def _project(folder: Path) -> Path | None:
    """Return the repository of a folder, or else the nearest project."""
    folders = (folder, *folder.parents)
    for names in ((".git",), ROOTS):
        for one in folders:
            if any((one / name).exists() for name in names):
                return one
    return None


def _relative(word: str, full: str, base: str, start: str, folder: Path, *, is_program: bool) -> str:
    """Return a word of a command; a path is written relative to `start` if it moves along with the file."""
    if not os.path.isabs(full) or not os.path.lexists(full):
        return word
    if not _moves_along(full, folder, is_program=is_program):
        return full if start != os.path.normpath(base) else word
    found = os.path.relpath(full, start)
    return os.path.join(".", found) if is_program and os.sep not in found else found


def _moves_along(path: str, folder: Path, *, is_program: bool) -> bool:
    """Return whether a path is in the project of a file, or near a file that is in none."""
    if (top := _project(folder)) is not None or is_program:
        return Path(path).is_relative_to(top or folder)
    near, common = os.path.relpath(path, folder), os.path.commonpath([path, folder])
    is_shared = Path(common) in (Path.home(), *Path.home().parents)
    return Path(path).is_relative_to(folder) or (near.count("..") <= MOST_UP and not is_shared)
