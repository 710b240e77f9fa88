"""Adds the traffic that `mcptui tap` records in other processes to this one's, live.

A tap writes its own recording, because it must not depend on another process. A running mcptui reads new
entries from that recording and adds them to its own, with the source "tap:NAME".
"""

import logging
import os
from pathlib import Path

from tui.core.background import DaemonThread
from tui.core.errors import McptuiError
from tui.core.traffic import Captured, Entry, Kind, TrafficSink
from tui.core.units import file_stamp
from tui.storage.files.live_lock import is_live, live_file
from tui.storage.files.sqlite_file import on_error
from tui.storage.recordings.folder import SUFFIX
from tui.storage.recordings.reader import RecordingReader

LOOK_SECONDS = 1.0
FOLLOW_SECONDS = 0.2
PAGE = 500
HISTORY = 20_000
"""Maximum earlier entries to add when a tap is found."""

_READ_ANEW = frozenset({Kind.STDERR, Kind.EVENT})
_log = logging.getLogger(__name__)


class TapWatch:
    """Finds the taps of other processes in a folder and follows them, in a thread."""

    def __init__(self, folder: Path, sink: TrafficSink) -> None:
        self._thread = DaemonThread("taps", self._run)
        self._closing = self._thread.closing
        self.start, self.close = self._thread.start, self._thread.close  # waits at most 2 s for the end
        self._folder = folder
        self._sink = sink
        self._began = file_stamp()
        self._known: set[Path] = set()
        self._followed: dict[Path, _Tap] = {}

    def _run(self) -> None:
        try:
            while not self._closing.is_set():
                self._check_taps()
                pause = FOLLOW_SECONDS if self._followed else LOOK_SECONDS
                for _ in range(int(LOOK_SECONDS / pause)):
                    for path in list(self._followed):
                        self._read(path)
                    if self._closing.wait(pause):
                        return
        finally:
            if self._closing.is_set():  # otherwise, an error restarts this, and the taps are followed further
                for tap in self._followed.values():
                    tap.close()

    def _check_taps(self) -> None:
        found, live = self._candidates()
        for path in set(self._followed) - live:
            self._read(path)
            if (tap := self._followed.pop(path, None)) is not None:
                tap.close()
        for path in sorted(found - self._known):
            self._known.add(path)  # an unexpected error must not occur again and again
            try:
                tap = _Tap(path)
            except McptuiError:
                self._known.discard(path)
                continue  # it has just started; the next check finds it
            if tap.name:
                self._followed[path] = tap
            else:
                tap.close()

    def _candidates(self) -> tuple[set[Path], set[Path]]:
        """Return the recordings to follow, and those of them that are still being written.

        Followed are those being written, and those started after this follower: some taps run only for a
        moment. There may be thousands of others, which are excluded by name.
        """
        try:
            names = set(os.listdir(self._folder))
        except OSError:
            return set(), set()
        paths = {self._folder / name for name in names if name.endswith(SUFFIX)}
        live = {path for path in paths if live_file(path).name in names and is_live(path)}
        return live | {path for path in paths if path.name >= self._began}, live

    def _read(self, path: Path) -> None:
        tap = self._followed[path]
        try:
            with on_error(lambda: self._followed.pop(path).close()):
                while (page := tap.more()) and not self._closing.is_set():
                    for captured in page:
                        self._sink(captured)
        except McptuiError as error:
            _log.warning("a tap is no longer followed: %s", error)


class _Tap:
    def __init__(self, path: Path) -> None:
        self._reader = RecordingReader(path)
        self.close = self._reader.close
        with on_error(self.close):
            self.name = self._reader.meta().get("tap", "")
            self._last = max(0, self._reader.span()[1] - HISTORY)

    def more(self) -> list[Captured]:
        """Return new entries, at most one page."""
        seen: list[Captured] = []
        for row in self._reader.columns(self._last, PAGE):
            self._last = row.seq
            entry = self._reader.entry(row.seq)
            if entry is not None and "batch" not in entry.detail:
                seen.append(self._captured(entry))
        return seen

    def _captured(self, entry: Entry) -> Captured:
        detail = {name: value for name, value in entry.detail.items() if name != "remark"}
        return Captured(
            f"tap:{self.name}",
            entry.direction,
            entry.mono_ns,
            entry.wall_ns,
            entry.body,
            entry.kind if entry.kind in _READ_ANEW else None,
            entry.size,
            detail=detail,
        )
