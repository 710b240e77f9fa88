"""Foreign files that are unpacked: names that stay inside their folder, and all of the files or none."""

import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tui.core.files import FOLDER_MODE, make_folder
from tui.core.text import fold, quoted_name

MAX_PATH = 1024
MAX_PART = 255

_RESERVED = re.compile(r"(?:con|prn|aux|nul|(?:com|lpt)[0-9¹²³]|con(?:in|out)\$)(?:\..*)?", re.IGNORECASE)
"""Names of devices on Windows, with any ending."""

_NOT_PORTABLE = re.compile(r'[<>:"|?*]')


def name_fault(name: str, *, portable: bool = False) -> str:
    """Return why a file must not be unpacked under this path, or "".

    `portable` also refuses names that some systems cannot have or treat as others, and folders whose mere
    presence makes a program run something (`.git`).
    """
    if not name or "\0" in name:
        return "has an invalid name"
    if "\\" in name or not name.isprintable():
        return "has a name with a backslash or a control character"
    if name.startswith("/") or ":" in name.partition("/")[0]:
        return "is an absolute path"
    parts = name.removesuffix("/").split("/")
    if any(part in ("", ".", "..") for part in parts):
        return "points outside its folder"
    if len(name) > MAX_PATH or any(len(part.encode("utf-8", "replace")) > MAX_PART for part in parts):
        return "has a name that is too long"
    if portable and any(map(_is_special, parts)):
        return "has a name that some systems reserve"
    return ""


def _is_special(part: str) -> bool:
    is_reserved = _RESERVED.fullmatch(part) or _NOT_PORTABLE.search(part) or part.endswith((".", " "))
    return bool(is_reserved) or fold(part) == ".git"


def collision(files: Iterable[tuple[str, bool]]) -> str:
    """Return that two paths would overwrite each other, or "". `files` says of each whether it is a folder.

    Some file systems ignore case or Unicode form, so different names may be the same file.
    """
    kinds: dict[str, tuple[str, bool]] = {}
    written: set[str] = set()
    for name, is_folder in files:
        parts = name.removesuffix("/").split("/")
        for depth in range(1, len(parts) + 1):
            is_file = depth == len(parts) and not is_folder
            path = "/".join(parts[:depth])
            key = fold(path)
            other, was_file = kinds.setdefault(key, (path, is_file))
            if other != path or was_file != is_file or (is_file and key in written):
                return f"{quoted_name(path, 120)} and {quoted_name(other, 120)} would overwrite each other."
            if is_file:
                written.add(key)
    return ""


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Yield an empty folder that replaces `folder` in the end; if that fails, `folder` is unchanged.

    A link in its place is not followed. Raises OSError.
    """
    make_folder(folder.parent)
    fresh = Path(tempfile.mkdtemp(prefix=".unpacking-", dir=folder.parent))
    fresh.chmod(FOLDER_MODE)
    try:
        yield fresh
        if folder.exists() or folder.is_symlink():
            old = Path(tempfile.mkdtemp(prefix=".unpacking-", dir=folder.parent))
            folder.rename(old / "old")
            try:
                fresh.rename(folder)
            except OSError:
                (old / "old").rename(folder)
                raise
            finally:
                shutil.rmtree(old, ignore_errors=True)
        else:
            fresh.rename(folder)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise
