"""What the list showed of sessions when it was made last, so that a thousand files need not be opened again.

Only a cache: each entry counts for as long as the stamp of its file is the same, and what cannot be read is
as if it were not there.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from operator import attrgetter
from pathlib import Path
from typing import Any

from tui.core.conversation.sessions import SessionInfo
from tui.core.errors import StorageError
from tui.storage.exports.export import write_whole

NAME = "list.json"
FORM = 2
"""Counts up when what is known of a session changes; others are read anew."""

MOST_BYTES = 64 * 1024 * 1024

Stamp = tuple[int, int, int, int]
"""Time of change in ns and size of the file, and of its WAL."""

Known = dict[str, tuple[Stamp, SessionInfo]]

_values = attrgetter(*SessionInfo.__slots__)  # `astuple` copies each value: ten times slower
_EMPTY = _values(SessionInfo(""))


def load_known(folder: Path) -> Known:
    """Return what is known, by id; nothing if there is none or it is no such file."""
    try:
        with (folder / NAME).open("rb") as file:
            found = json.loads(file.read(MOST_BYTES))
        if found["form"] != FORM:
            return {}
        return {name: _entry(name, *values) for name, values in found["sessions"].items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {}


def save_known(folder: Path, known: Mapping[str, tuple[Stamp, SessionInfo]]) -> None:
    """Keep what is known; where that fails the files are read again."""
    sessions = {name: [stamp, _values(info)] for name, (stamp, info) in known.items()}
    with suppress(StorageError):
        write_whole(folder / NAME, [json.dumps({"form": FORM, "sessions": sessions}, separators=(",", ":"))])


def _entry(name: str, stamp: list[Any], values: list[Any]) -> tuple[Stamp, SessionInfo]:
    """Return an entry as it was kept.

    Raises:
        ValueError: it is none.
    """
    first, size, wal_first, wal_size = map(int, stamp)
    if len(values) != len(_EMPTY) or values[0] != name or not all(map(_fits, values, _EMPTY)):
        raise ValueError(name)
    return (first, size, wal_first, wal_size), SessionInfo(*values)


def _fits(value: object, example: object) -> bool:
    if example is None or isinstance(example, float):  # the cost, and moments
        return value is None if example is None and value is None else type(value) in (int, float)
    return type(value) is type(example)
