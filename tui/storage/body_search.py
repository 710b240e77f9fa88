"""Finding terms in many bodies: small ones in runs, large ones in windows. Nothing here knows of SQL.

Measured with a million bodies of 300 bytes: reading them is most of the time (0.45 s). Bodies are joined into
runs, and a run is searched as one; only runs that have a term are looked at body by body. A second and third
term then cost next to nothing. Regular expressions are matched body by body, because of their anchors, and
in a process of their own, because nothing else can break them off.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from threading import Event

from tui.core.traffic import BodyTerm
from tui.storage.regex_process import RegexProcess

RUN_BYTES = 256 * 1024
"""Bodies are searched together up to this many bytes: a fraction of a millisecond with the interpreter."""

LARGE = 1024 * 1024
"""A body longer than this is read in windows of this length."""

OVERLAP = 64 * 1024
"""How much of a window the next one repeats: a match longer than this may be missed in a large body."""

ReadPart = Callable[[int, int, int], bytes]


class BodyFinder:
    """Searches the bodies of one reader, by one thread at a time; any thread may break it off.

    Args:
        read: gives a part of a large body, by seq, start and length.
        regexes: what searches for regular expressions, given the event that breaks off.
    """

    def __init__(self, read: ReadPart, regexes: Callable[[Event], RegexProcess] = RegexProcess) -> None:
        self._read = read
        self._stop = Event()
        self._regexes = regexes(self._stop)
        self.problem = ""

    def search(
        self, terms: Sequence[BodyTerm], bodies: Callable[[], Iterable[tuple[int, bytes | int]]]
    ) -> list[frozenset[int]]:
        """Return for each term the seqs of the bodies that have it.

        Ends early, with what it has, when `interrupt` is called, also before it begins.

        Args:
            terms: what to look for.
            bodies: gives them as `BodySearch.run` takes them.

        Raises:
            re.error: a term is no regular expression.
        """
        search = BodySearch(terms, self._read, self._stop, self._regexes)
        try:
            search.run(bodies())
        finally:
            self._stop.clear()
            self.problem = self._regexes.problem if any(term.regex for term in terms) else ""
        return search.found()

    def interrupt(self) -> None:
        """Break off the search that runs, or the next one."""
        self._stop.set()
        self._regexes.interrupt()

    def rearm(self) -> None:
        """Forget an `interrupt` that broke off nothing."""
        self._stop.clear()

    def close(self) -> None:
        """End what was started for the searches."""
        self._stop.set()
        self._regexes.close()


class BodySearch:
    """Looks for terms in bodies that come in order.

    Args:
        terms: what to look for.
        read: gives a part of a large body, by seq, start and length.
        stop: set from another thread to break off.
        regexes: what searches for regular expressions.

    Raises:
        re.error: a term is no regular expression.
    """

    def __init__(self, terms: Sequence[BodyTerm], read: ReadPart, stop: Event, regexes: RegexProcess) -> None:
        self._read = read
        self._stop = stop
        self._regexes = regexes
        self._found: list[set[int]] = [set() for _ in terms]
        self._plain: list[tuple[set[int], bytes]] = []
        self._folded: list[tuple[set[int], bytes]] = []
        self._regex: list[tuple[set[int], BodyTerm]] = []
        for term, found in zip(terms, self._found, strict=True):
            if term.regex:
                re.compile(term.needle)
                self._regex.append((found, term))
            elif term.fold:
                self._folded.append((found, term.needle.lower()))
            else:
                self._plain.append((found, term.needle))

    def found(self) -> list[frozenset[int]]:
        """Return for each term the seqs found so far."""
        return [frozenset(found) for found in self._found]

    def run(self, bodies: Iterable[tuple[int, bytes | int]]) -> None:
        """Search bodies, given by seq and bytes, or by seq and length where they are `LARGE`."""
        seqs: list[int] = []
        run: list[bytes] = []
        weight = 0
        for seq, body in bodies:
            if self._stop.is_set():
                return
            if isinstance(body, int):
                self._search_large(seq, body)
            else:
                seqs.append(seq)
                run.append(body)
                weight += len(body)
                if weight > RUN_BYTES:
                    self._search_run(seqs, run)
                    seqs, run, weight = [], [], 0
        self._search_run(seqs, run)

    def _search_run(self, seqs: list[int], run: list[bytes]) -> None:
        if self._plain:
            self._look(self._plain, seqs, run, b"\n".join(run))
        if self._folded:
            joined = b"\n".join(run).lower()
            if any(needle in joined for _, needle in self._folded):
                self._look(self._folded, seqs, [body.lower() for body in run], joined)
        if self._regex:
            terms = [term for _, term in self._regex]
            for (found, _), having in zip(self._regex, self._regexes.search(terms, seqs, run), strict=True):
                found.update(having)

    def _look(
        self,
        wanted: Sequence[tuple[set[int], bytes]],
        seqs: Sequence[int],
        run: Sequence[bytes],
        joined: bytes,
    ) -> None:
        for found, needle in wanted:
            if needle in joined:
                found.update([seq for seq, body in zip(seqs, run, strict=True) if needle in body])
            if self._stop.is_set():
                return

    def _search_large(self, seq: int, size: int) -> None:
        for start in range(0, size, LARGE):
            if self._stop.is_set():
                return
            self._search_run([seq], [self._read(seq, start, LARGE + OVERLAP)])
