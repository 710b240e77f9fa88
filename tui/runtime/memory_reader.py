"""Reads entries that are only in memory, because storing them fails."""

from collections.abc import Sequence

from tui.core.traffic import BodyTerm
from tui.storage.recordings.body_search import LARGE, BodyFinder
from tui.traffic.record.recorder import RecentEntries


class MemoryReader:
    """A `core.traffic.TrafficReader` of entries in memory, for one thread; any thread may `interrupt`."""

    def __init__(self, kept: RecentEntries) -> None:
        self.columns, self.whole, self.entry, self.body = kept.columns, kept.whole, kept.entry, kept.body
        self.findings_of = kept.findings_of
        self._kept = kept
        self._finder = BodyFinder(kept.body)
        self.interrupt, self.rearm = self._finder.interrupt, self._finder.rearm

    def search(self, terms: Sequence[BodyTerm], first: int, last: int) -> Sequence[frozenset[int]]:
        bodies = self._kept.bodies(first, last)
        return self._finder.search(
            terms, ((seq, len(body) if len(body) > LARGE else body) for seq, body in bodies)
        )

    def close(self) -> None: ...
