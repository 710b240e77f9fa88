"""What is kept in memory only, read like a recording: each reader has a search of its own."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from tui.core.traffic import BodyTerm, Entry, Finding
from tui.storage.recordings.body_search import LARGE, BodyFinder


class Kept(Protocol):
    """Entries in memory, for any thread; the methods are those of `core.traffic.TrafficReader`."""

    def columns(self, after: int, limit: int) -> Sequence[Entry]:
        """Return entries without bodies and redactions."""
        ...

    def entry(self, seq: int, body_limit: int = 1 << 20) -> Entry | None:
        """Return an entry."""
        ...

    def body(self, seq: int, start: int = 0, length: int = -1) -> bytes:
        """Return a part of a body."""
        ...

    def bodies(self, first: int, last: int) -> Iterable[tuple[int, bytes]]:
        """Return the bodies of the entries with seq `first` to `last`, in order."""
        ...

    def findings(self, after: int = 0) -> Sequence[Finding]:
        """Return the findings."""
        ...


class MemoryReader:
    """A `core.traffic.TrafficReader` over what is kept; used by one thread, `interrupt` by any."""

    def __init__(self, kept: Kept) -> None:
        self.columns, self.entry, self.body = kept.columns, kept.entry, kept.body
        self.findings = kept.findings
        self._kept = kept
        self._finder = BodyFinder(kept.body)

    def search(self, terms: Sequence[BodyTerm], first: int, last: int) -> Sequence[frozenset[int]]:
        """Return for each term the seqs in `first`..`last` whose body has it.

        Raises:
            re.error: a term is not a valid regular expression.
        """
        return self._finder.search(
            terms,
            lambda: (
                (seq, len(body) if len(body) > LARGE else body)
                for seq, body in self._kept.bodies(first, last)
            ),
        )

    def interrupt(self) -> None:
        """Break off the `search` that runs in another thread, or the next one."""
        self._finder.interrupt()

    def rearm(self) -> None:
        """Forget an `interrupt` that broke off nothing."""
        self._finder.rearm()

    def close(self) -> None:
        """Do nothing: the memory stays."""
