"""What is told of kept recordings without reading them whole: when, how much, which servers, whose."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tui.commands.recordings import recordings
from tui.core.errors import StorageError, UsageError, sentences
from tui.core.text import clean_line

if TYPE_CHECKING:
    from tui.storage.recordings.folder import Kept

SLACK_NS = 5_000_000_000
"""How much later than its last entry was seen a file may have been written, at most, for all we rely on."""

MOST_SERVERS = 50
"""Servers of a recording that are told."""


@dataclass(frozen=True, slots=True)
class About:
    """What is known of a recording.

    Attributes:
        name: what it is called.
        path: its file.
        octets: bytes on disk.
        live: whether a living process writes it.
        entries: how many it has.
        began_ns, ended_ns: when its first and last entries were seen, nanoseconds since 1970; 0 for none.
        tap: the name of the server that was tapped, "" for a run of the app.
        servers: the names of its servers, if they were asked for.
        problem: why it cannot be read, or "".
        damage: why only a part of it can be read, as far as that is seen from here, or "".
    """

    name: str
    path: Path
    octets: int
    live: bool
    entries: int = 0
    began_ns: int = 0
    ended_ns: int = 0
    tap: str = ""
    servers: tuple[str, ...] = ()
    problem: str = ""
    damage: str = ""

    @property
    def of(self) -> str:
        """Whose traffic it is, for a person."""
        return f"tap of {clean_line(self.tap, 60)}" if self.tap else "a session"


def about(kept: "Kept", with_servers: bool = False) -> About:
    """Return what is known of a recording; `with_servers` reads through all of its columns."""
    from tui.storage.recordings.reader import RecordingReader

    try:
        with closing(RecordingReader(kept.path)) as reader:
            first, last = reader.span()
            began_ns, ended_ns = reader.ends_ns()
            sources = reader.sources(MOST_SERVERS) if with_servers else []
            return About(
                kept.name,
                kept.path,
                kept.size,
                kept.live,
                last - first + 1 if last else 0,
                began_ns,
                ended_ns,
                tap=reader.meta().get("tap", ""),
                servers=tuple(sorted(one for one in sources if one and not one.startswith("model:"))),
                damage=reader.damage,
            )
    except StorageError as error:
        problem = clean_line(sentences(error.message, error.next_step), 400)
        return About(kept.name, kept.path, kept.size, kept.live, problem=problem)


def newest(live_first: bool = False) -> About:
    """Return the recording with the newest entry.

    Args:
        live_first: whether one that is being written is preferred to any that is over.

    Raises:
        UsageError: nothing has been recorded yet.
    """
    found = list(_changed_last(live_first))
    if not found:
        raise UsageError("nothing has been recorded yet", next_step="Record with: mcptui tap -- COMMAND")
    return max(found, key=lambda one: (live_first and one.live, one.ended_ns, one.name))


def _changed_last(live_first: bool) -> Iterator[About]:
    """Yield recordings until no other can have a newer entry; there may be thousands of small ones."""
    kept = recordings().list()
    changed = {one.path: _changed_ns(one) for one in kept}
    newest_ns = 0
    for one in sorted(kept, key=lambda each: (live_first and each.live, changed[each.path]), reverse=True):
        if newest_ns and changed[one.path] + SLACK_NS < newest_ns:
            return
        known = about(one)
        newest_ns = max(newest_ns, known.ended_ns)
        yield known


def since(wall_ns: int, with_servers: bool = False) -> list[About]:
    """Return the recordings that have entries since a moment, oldest first, and those that cannot be read.

    Args:
        wall_ns: the moment, nanoseconds since 1970; 0 for all recordings that have entries.
        with_servers: whether their servers are of interest.
    """
    changed = (one for one in recordings().list() if _changed_ns(one) + SLACK_NS >= wall_ns)
    found = [about(one, with_servers) for one in changed]
    return sorted(
        (one for one in found if one.problem or one.ended_ns >= max(1, wall_ns)),
        key=lambda one: (one.began_ns, one.name),
    )


def _changed_ns(kept: "Kept") -> int:
    """Return when the files of a recording were written last, nanoseconds since 1970."""
    from tui.storage.recordings.database import files_of

    times = [0]
    for file in files_of(kept.path):
        try:
            times.append(file.stat().st_mtime_ns)
        except OSError:
            continue
    return max(times)
