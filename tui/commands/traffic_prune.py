"""`mcptui traffic --prune`: removes old recordings, after saying which and how much they take on disk."""

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui.commands.progress import progress
from tui.commands.recordings import About, about, recordings, row_of
from tui.commands.streams import width
from tui.commands.table import json_line, table
from tui.core.errors import StorageError, UsageError
from tui.core.files import short_path
from tui.core.text import clean_line
from tui.core.units import plural, size

if TYPE_CHECKING:
    import argparse

MARKED = "marked"


@dataclass(frozen=True, slots=True)
class Pruning:
    """What goes, oldest first, and what stays though it is old, with why."""

    gone: Sequence[About]
    kept: Sequence[tuple[About, str]]
    before: int
    """The bytes of all recordings, also of newer ones."""

    @property
    def size(self) -> int:
        return sum(one.kept.size for one in self.gone)


def prune(args: "argparse.Namespace") -> int:
    """Remove the recordings that `--older-than` selects, and return the exit code."""
    from tui.commands.permission.terminal_approver import confirm
    from tui.commands.traffic_selection import beginning

    before_ns = beginning(args.older_than, time.time_ns(), "--older-than")[1]
    with progress("reading the recordings", quiet=args.json):
        found = planned(before_ns, keep_marked=args.keeps == MARKED)
    if not args.json:
        sys.stdout.write(_lines(found))
        sys.stdout.flush()
    if found.gone and not args.dry_run:
        question = f"Remove {plural(len(found.gone), 'recording')} ({size(found.size)})?"
        if not confirm(question, yes=args.yes, otherwise="nothing removed"):
            raise UsageError("Nothing removed.")
    with progress("removing recordings", quiet=args.json):
        done = [] if args.dry_run else [one for one in found.gone if recordings().remove(one.kept)]
    freed = sum(one.kept.size for one in done)
    if args.json:
        for one, why in [*((one, "") for one in found.gone), *found.kept]:
            kept = one.kept
            facts = {"name": kept.name, "path": str(kept.path), "bytes": kept.size, "removed": one in done}
            print(json_line(facts | ({"kept": why} if why else {})))
        counts = {"removed": len(done), "bytes": freed, "before": found.before, "after": found.before - freed}
        print(json_line(counts))
    elif done:
        print(f"Removed {plural(len(done), 'recording')} ({size(freed)}).")
    if not args.dry_run and (left := len(found.gone) - len(done)):
        raise StorageError(f"{plural(left, 'recording')} could not be removed: in use, or permission denied.")
    return 0


def planned(before_ns: int, *, keep_marked: bool) -> Pruning:
    """Return what was last recorded before a time, but not what is being recorded, or is marked and kept."""
    everything = recordings().list()
    old = [
        one for one in map(about, reversed(everything)) if (one.ended_ns or one.kept.changed_ns) < before_ns
    ]
    whys = [(one, _why_kept(one, keep_marked)) for one in old]
    gone = [one for one, why in whys if not why]
    return Pruning(gone, [pair for pair in whys if pair[1]], sum(one.size for one in everything))


def _why_kept(one: About, keep_marked: bool) -> str:
    from tui.storage.recordings.database import notes_of

    if one.kept.live:
        return "live"
    try:
        return MARKED if keep_marked and notes_of(one.kept.path) else ""
    except StorageError:
        return "unreadable"


_KEPT = {"live": "live", MARKED: "with marks or notes", "unreadable": "unreadable"}
_HEAD = ("name", "started", "duration", "entries", "size", "recorded by")


def _lines(found: Pruning) -> str:
    lines, folder = [], clean_line(short_path(str(recordings().folder)), 400)
    if found.gone:
        rows = [row_of(one)[: len(_HEAD)] for one in found.gone]
        lines = [table(rows, {0, 1, 5}, width(), head=_HEAD), ""]
    whys = [why for _, why in found.kept]
    kept = ", ".join(f"{whys.count(why)} {words}" for why, words in _KEPT.items() if why in whys)
    after = f", {size(found.before - found.size)} without these" if found.gone else ""
    listed = f"{plural(len(found.gone), 'older recording')}, {size(found.size)}."
    lines.append(listed if found.gone else "Nothing to remove.")
    lines += [f"Kept though older: {kept}."] if kept else []
    return "\n".join([*lines, f"Disk use of {folder}: {size(found.before)}{after}.", ""])
