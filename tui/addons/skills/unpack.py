"""Unpacking a skill: all of its files, or none, into a folder with its name."""

import os
from collections.abc import Sequence
from pathlib import Path

from tui.addons.skills.entry import SkillEntry
from tui.addons.skills.verify import SkillContent
from tui.core.errors import UsageError, reason_of
from tui.core.files import make_folder
from tui.core.text import clean_line, quoted_name
from tui.storage.files.archives import collision, name_fault, new_folder


def unpack_fault(entry: SkillEntry) -> str:
    """Return why the files of a skill cannot be unpacked, as a sentence, or "". Nothing is read for it."""
    if entry.declined:
        return entry.declined
    if entry.is_dynamic:
        return "It is dynamic: without a manifest, its files are not known."
    for path in entry.by_path:
        if fault := name_fault(path, portable=True):
            return f"The file {quoted_name(path, 120)} {fault}."
    return collision((path, False) for path in entry.by_path)


def target(entry: SkillEntry, folder: str) -> Path:
    """Return the folder that a skill is unpacked to. Raises UsageError if something else is there."""
    path = Path(os.path.expanduser(folder)) / entry.name
    if path.is_symlink():
        raise UsageError("it is a symbolic link, and is not followed.", where=clean_line(str(path), 4096))
    if path.exists() and not path.is_dir():
        raise UsageError("it is a file.", where=clean_line(str(path), 4096))
    return path


def unpack(contents: Sequence[SkillContent], path: Path) -> None:
    """Write the files to a folder, which replaces an older one. Raises UsageError."""
    try:
        with new_folder(path) as fresh:
            for content in contents:
                file = fresh.joinpath(*content.path.split("/"))
                make_folder(file.parent)
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
                with os.fdopen(os.open(file, flags, 0o600), "wb") as written:
                    written.write(content.data)
    except OSError as error:
        where = clean_line(str(path), 4096)
        raise UsageError(f"cannot unpack the skill: {reason_of(error)}.", where=where) from error
