"""Finds the suites that a command names: files, and every `*.mcp.toml` below folders."""

import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from tui.addons.tests.suite.case import ENDING
from tui.core.errors import UsageError, reason_of
from tui.core.text import clean_line
from tui.core.units import exact

SKIPPED = frozenset({"node_modules", "__pycache__", "venv", "site-packages"})
"""Folders that are not searched, as are all whose names begin with a dot."""

MAX_FOLDERS = 20_000
MAX_SUITES = 2_000
"""A search that finds more looks in the wrong folder."""


def found(names: Sequence[str]) -> list[Path]:
    """Return the named files, and the suites below the named folders, each once, without names below ".".

    A named file may have any name. Links to folders are not followed. Folders are in the order of `names`,
    what is below one is sorted. Raises `UsageError`.
    """
    paths: dict[str, Path] = {}
    for name in names or (".",):
        path = Path(name)
        try:
            listed = _below(path) if path.is_dir() else [path]
            missing = not path.exists()
        except (OSError, ValueError) as error:
            raise UsageError(f"{clean_line(name, 400)} cannot be read: {reason_of(error)}.") from error
        if missing and path.is_symlink():
            raise UsageError(f"{clean_line(name, 400)} is a symbolic link that leads to no file.")
        if missing:
            raise UsageError(
                f"{clean_line(name, 400)} does not exist.",
                next_step=f"Name a suite (*{ENDING}) or a folder that has some.",
            )
        for one in listed:
            paths.setdefault(os.path.realpath(one), one)
    return list(paths.values())


@lru_cache(maxsize=256)
def shown_path(path: Path, folder: str = os.curdir, up: int = 0) -> str:
    """Return a path as it can be typed: relative to a folder, with at most `up` times "..", else absolute."""
    try:
        near = os.path.relpath(path, folder)
    except ValueError:  # another drive
        near = ""
    is_near = near and near.split(os.sep).count("..") <= up
    return clean_line(near if is_near else os.path.abspath(path), 400)


def _below(folder: Path) -> list[Path]:
    suites: list[Path] = []
    os.scandir(folder).close()  # `walk` leaves out what cannot be read
    for number, (place, folders, files) in enumerate(os.walk(folder)):
        folders[:] = sorted(name for name in folders if name not in SKIPPED and not name.startswith("."))
        suites += [
            Path(os.path.normpath(os.path.join(place, name)))
            for name in files
            if name.endswith(ENDING) and name != ENDING
        ]
        if number >= MAX_FOLDERS or len(suites) > MAX_SUITES:
            most = f"{exact(MAX_FOLDERS)} folders" if number >= MAX_FOLDERS else f"{exact(MAX_SUITES)} suites"
            raise UsageError(
                f"{clean_line(str(folder), 400)} has more than {most}.", next_step="Name a folder below it."
            )
    return sorted(suites)
