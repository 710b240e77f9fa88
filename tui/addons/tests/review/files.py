"""The files of a review: read as text, written if nobody else has changed them meanwhile. Blocks."""

import os
import stat
from collections.abc import Iterable
from pathlib import Path

from tui.addons.tests.review.decisions import Change
from tui.core.errors import UsageError, reason_of
from tui.core.files import atomic_write
from tui.core.text import clean_line
from tui.settings.files import Unreadable, read_bounded


def texts_of(paths: Iterable[Path]) -> dict[Path, str]:
    """Return the texts of files. Raises UsageError if one cannot be read."""
    return {path: _text_of(path) for path in paths}


def write(change: Change) -> None:
    """Write a change. Raises UsageError, and changes nothing, if the file is not as it was before it."""
    name = clean_line(change.path.name, 200)
    if _text_of(change.path) != change.before:
        raise UsageError(
            f"{name} was changed by another program, so nothing was written.",
            next_step="Run the cases again.",
        )
    try:
        mode = stat.S_IMODE(os.stat(change.path).st_mode)
        atomic_write(change.path, [change.after], mode=mode)
    except (OSError, UnicodeError) as error:
        raise UsageError(
            f"{name} cannot be written: {reason_of(error)}.",
            next_step="Nothing was changed. Check free space and permissions.",
        ) from error


def _text_of(path: Path) -> str:
    try:
        return read_bounded(path)
    except (OSError, Unreadable) as error:
        reason = str(error) if isinstance(error, Unreadable) else reason_of(error)
        raise UsageError(f"{clean_line(path.name, 200)} cannot be read: {reason}.") from error
