"""Local files that can be attached: what a written path may go on to. Blocks: call it in a thread.

Bounded whatever the disk holds. Hidden names come only if the path asks for them with a dot.
"""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from tui.core import units
from tui.core.text import clean_line, fold
from tui.ui.chat.composer.references import Reference
from tui.ui.chat.composer.suggestion import MOST_SHOWN, Suggestion, fitting
from tui.ui.chat.composer.wanted import BEHIND

_WRITTEN = re.compile(r"""(?:^|(?<=[\s("']))@(?:"([^"\n]+)"|(\S+))""")

MOST_ENTRIES = 4_000
"""Names that are looked at for one list."""
MOST_DEEP = 5
"""Levels below the working directory that are searched for a bare name."""
SKIPPED = frozenset({"node_modules", "__pycache__", "venv", "target", "dist", "build"})
"""Directories that are searched only by their own path: what they hold was made, not written."""


def files(query: str, folder: Path) -> list[Suggestion]:
    """Return the files and directories that a path may go on to, the best first.

    Args:
        query: a path as it is being written, relative to `folder`, absolute, or beginning with `~/`.
        folder: the working directory.
    """
    head, slash, tail = query.rpartition("/")
    head += slash
    base = Path(os.path.expanduser(head)) if head else folder
    base = base if base.is_absolute() else folder / base
    return fitting(_entries(base, head, hidden=tail.startswith(".")), query)


def named(query: str, found: Iterable[Suggestion]) -> list[Suggestion]:
    """Return those whose own name, without its directory, has `query` in it."""
    query = fold(query)
    return [one for one in found if query in fold(one.name.rpartition("/")[2])][:MOST_SHOWN]


def tree(folder: Path) -> list[Suggestion]:
    """Return files anywhere below a directory, the nearest first; not what is hidden or was made."""
    seen = 0
    found: list[Suggestion] = []
    level = [""]
    for _ in range(MOST_DEEP):
        below: list[str] = []
        for written in level:
            for one in _entries(folder / written, written, hidden=False):
                seen += 1
                if seen > MOST_ENTRIES:
                    return found
                if one.reference is not None:
                    found.append(one)
                elif one.text[1:-1].rpartition("/")[2] not in SKIPPED:
                    below.append(one.text[1:])
        level = below
    return found


def _entries(base: Path, written: str, *, hidden: bool) -> Iterator[Suggestion]:
    """Yield what stands in one directory, directories first, by name."""
    found: list[tuple[bool, str, int]] = []
    try:
        with os.scandir(base) as entries:
            for entry in entries:
                if entry.name.startswith(".") is not hidden:
                    continue
                found.append(_described(entry))
                if len(found) >= MOST_ENTRIES:
                    break
    except (OSError, ValueError):
        return  # not there, not a directory, not readable: nothing to suggest
    for is_file, name, size in sorted(found, key=lambda one: (one[0], one[1].casefold())):
        yield _suggestion(written + name, is_file=is_file, size=size)


def _described(entry: os.DirEntry[str]) -> tuple[bool, str, int]:
    try:
        is_file = not entry.is_dir()
        return is_file, entry.name, entry.stat().st_size if is_file else 0
    except OSError:
        return True, entry.name, 0  # a link to nowhere; reading it will say so


def _suggestion(path: str, *, is_file: bool, size: int = 0) -> Suggestion:
    shown = clean_line(path, 300)
    if not is_file:
        return Suggestion(f"{shown}/", about="directory", text=f"@{path}/")
    return Suggestion(shown, about=units.size(size), reference=Reference.to_file(path))


def is_file(path: str, folder: Path) -> bool:
    """Return whether a path, as it was written, names a file that is there."""
    try:
        return bool(path) and (folder / os.path.expanduser(path)).is_file()
    except (OSError, ValueError, RuntimeError):
        return False


def not_attached(text: str, folder: Path) -> str:
    """Return what a message seems to attach and does not, as a sentence; "" if there is nothing.

    Only paths count, as they are seen with what is there: `@person` and `@app.route("/")` are words.
    """
    found = {name: why for name in _paths(text) if (why := _why_not(name, folder))}
    told = ", ".join(f"@{clean_line(name, 80)} ({why})" for name, why in list(found.items())[:3])
    return f"Not attached: {told}." if told else ""


def _paths(text: str) -> Iterator[str]:
    for match in _WRITTEN.finditer(text):
        yield match.group(1) or match.group(2).rstrip(BEHIND)


def _why_not(written: str, folder: Path) -> str:
    try:
        path = folder / os.path.expanduser(written)
        if path.is_dir():
            return "a directory"
        if path.is_file():
            return "its name was pasted; tab behind it attaches it"
        if os.path.lexists(path):
            return "no file that can be read"
        return "there is no such file" if "/" in written and path.parent.is_dir() else ""
    except (OSError, ValueError, RuntimeError):
        return ""
