"""Finds terms in many bodies: small ones in batches, large ones in windows. Knows nothing of SQL.

A term is searched for in the text of a body as `core.search_text` defines it. Bodies are joined into batches,
and each batch is searched as one. Only batches that contain a term are searched body by body, so a second and
third term add almost no time. Bytes are decoded only if that can change the result: not if they are ASCII
without a backslash, and not if letters of a term are missing. Regular expressions are matched body by body
because of their anchors, by RE2: its time is linear in the length of a body, and other threads can run
meanwhile. Bodies without the letters that every match contains are skipped (1 M bodies: a quarter of the
time). The caller may pass many joined bodies to `may_match` first, and leave them out if it returns False.
"""

import codecs
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, chain
from threading import Event

from tui.core.regex import (
    asks_for_boundaries,
    asks_for_ends,
    marked_text,
    re2_pattern,
    re2_text,
    required_letters,
)
from tui.core.search_text import begins_message, end_of_escapes, holds_json, readings, unescaped
from tui.core.text import composed, fold, is_boundary
from tui.core.traffic import BodyTerm
from tui.storage.recordings.body_prefilter import json_forms, signs

RUN_BYTES = 256 * 1024
"""Bytes of bodies to search at once. This blocks other threads for a fraction of a millisecond."""

FEW = 16
"""Bodies to join for a regular expression without anchors."""

LARGE = 1024 * 1024
"""Bodies longer than this are read in parts of this length."""

OVERLAP = 64 * 1024
"""Overlap of two windows, in characters. A longer match in a large body may be missed."""

_ESCAPED_LETTER = re.compile(rb"\\u00(?:20|3\d|[4-7])")
"""Matches an escape, in lower case, of a letter of `signs` or of a backslash."""

ESCAPE_BYTES = 6
"""Length of an escape of one code unit, in bytes."""

REGEX_MEMORY = 8 * 1024 * 1024
"""Maximum bytes of one compiled regular expression."""

ReadPart = Callable[[int, int, int], bytes]
Body = tuple[int, bytes | int]
"""The seq of a body, with its bytes or the length of a `LARGE` body."""


class BodyFinder:
    """Searches bodies in one thread at a time; `read` returns a part of a large body. See `interrupt`."""

    def __init__(self, read: ReadPart) -> None:
        self._read = read
        self._stop = Event()

    def search(
        self, terms: Sequence[BodyTerm], bodies: Callable[["TermSearch"], Iterable[Body]]
    ) -> list[frozenset[int]]:
        """Return for each term the seqs of the bodies that contain it; see `TermSearch.run` for `bodies`.

        `bodies` may ask the search whether it `may_match` and `is_stopped`. `interrupt`, even before the
        start, ends it early with the results so far. Raises `re.error` if a term is not a valid regular
        expression.
        """
        search = TermSearch(terms, self._read, self._stop)
        try:
            search.run(bodies(search))
        finally:
            self._stop.clear()
        return search.found()

    def interrupt(self) -> None:
        """Stop the running search, or the next one."""
        self._stop.set()

    def rearm(self) -> None:
        """Reset an `interrupt` that found no running search."""
        self._stop.clear()


@lru_cache(maxsize=4)
def _matcher(term: BodyTerm) -> Callable[[bytes], object]:
    """Return a search in text encoded by `re2_text`; raises `re.error` if it is invalid or too large."""
    pattern = composed(term.needle)
    search = _compiled(re2_pattern(pattern, ignore_case=term.fold))
    if not asks_for_boundaries(pattern):
        return search
    search_marked = _compiled(re2_pattern(pattern, ignore_case=term.fold, marked=True))
    return lambda text: search(text) if text.isascii() else search_marked(marked_text(text))


@lru_cache(maxsize=4)
def _sieve(signs: frozenset[bytes]) -> Callable[[bytes], object]:
    """Return a search for any of these bytes, in any case."""
    return _compiled(b"(?i)" + b"|".join(map(re.escape, sorted(signs))))


def _compiled(pattern: str | bytes) -> Callable[[bytes], object]:
    """Return a search for a pattern: str for characters in UTF-8, bytes for single bytes."""
    import re2  # type: ignore[import-untyped]

    options = re2.Options()
    if isinstance(pattern, bytes):
        options.encoding = re2.Options.Encoding.LATIN1
    options.max_mem = REGEX_MEMORY
    options.never_capture = True
    options.log_errors = False  # RE2 would log to stderr
    try:
        search: Callable[[bytes], object] = re2.compile(pattern, options).search
    except re2.error as error:
        raise re.error(error.args[0].decode("utf-8", "replace")) from None
    finally:
        re2.purge()  # otherwise it caches 128 patterns
    return search


@dataclass(slots=True, eq=False)
class _Text:
    """A text to search for.

    Attributes:
        found: the seqs of the bodies that contain it.
        needle: the text, folded if `fold`.
        fold: whether to compare it with folded texts.
        raw: its form in ASCII without a backslash, None if there is none.
        signs: every body that contains the text contains one of these in lower case, unless a letter is
            escaped.
    """

    found: set[int]
    needle: str
    fold: bool
    raw: bytes | None
    signs: Sequence[bytes]

    @classmethod
    def of(cls, term: BodyTerm, found: set[int]) -> "_Text":
        needle = fold(term.needle) if term.fold else composed(term.needle)
        raw = needle.encode() if needle.isascii() and "\\" not in needle else None
        return cls(found, needle, term.fold, raw, signs(needle))

    def may_be_in(self, lowered: bytes) -> bool:
        return any(sign in lowered for sign in self.signs)


@dataclass(slots=True, eq=False)
class _Regex:
    """A regular expression to search for.

    Attributes:
        found: the seqs of the bodies that match it.
        search: matches a text that `_encoded` returned.
        letters: bytes in every ASCII body that matches, in lower case; b"" if unknown.
        signs: as in `_Text`, for `letters`.
        is_local: whether it matches joined bodies if it matches one of them.
    """

    found: set[int]
    search: Callable[[bytes], object]
    letters: bytes
    signs: Sequence[bytes]
    is_local: bool

    @classmethod
    def of(cls, term: BodyTerm, found: set[int]) -> "_Regex":
        pattern = composed(term.needle)
        search, letters = _matcher(term), required_letters(pattern)
        more = json_forms(_DOTLESS) if "i" in letters else []
        in_all = [*signs(letters), *more] if letters else [b""]
        return cls(found, search, letters.encode(), in_all, not asks_for_ends(pattern))

    def may_match(self, lowered: bytes, is_sure: bool) -> bool:
        """Return whether one or more joined bodies may match. `is_sure`: no letters in them are escaped."""
        return not is_sure or any(sign in lowered for sign in self.signs)


_DOTLESS = "\u0131"
"""Equal to i for a regular expression that ignores case, but not when folded."""


class _Batch:
    """Bodies to search together."""

    def __init__(self, seqs: list[int], run: list[bytes], joined: bytes) -> None:
        self.seqs, self.run, self.joined = seqs, run, joined
        self.is_plain, self.lowered = _is_plain(joined), joined.lower()
        self._ends: list[int] = []

    def having(self, raw: bytes, fold: bool = True) -> Iterator[int]:
        """Yield the indexes of the bodies that contain these bytes, in lower case if `fold`.

        All bodies must be plain.
        """
        text = self.lowered if fold else self.joined
        at = text.find(raw)
        if at >= 0 and not self._ends:
            self._ends = list(accumulate(len(body) + 1 for body in self.run))
        while at >= 0:
            place = bisect_right(self._ends, at)
            if place >= len(self._ends):
                return
            if is_inside := at + len(raw) < self._ends[place]:
                yield place
            at = text.find(raw, self._ends[place] if is_inside else at + 1)


class TermSearch:
    """Searches bodies in the given order, until `stop` is set.

    Raises `re.error` if a term is not a valid regular expression.
    """

    def __init__(self, terms: Sequence[BodyTerm], read: ReadPart, stop: Event) -> None:
        self._read = read
        self._stop = stop
        self._found: list[set[int]] = [set() for _ in terms]
        self._texts: list[_Text] = []
        self._regexes: list[_Regex] = []
        for term, found in zip(terms, self._found, strict=True):
            if term.regex:
                self._regexes.append(_Regex.of(term, found))
            else:
                self._texts.append(_Text.of(term, found))
        every = [*(text.signs for text in self._texts), *(regex.signs for regex in self._regexes)]
        self._signs = frozenset(chain(*every))
        self._letters = frozenset(sign for sign in self._signs if _is_plain(sign))

    def found(self) -> list[frozenset[int]]:
        """Return for each term the seqs found so far."""
        return [frozenset(found) for found in self._found]

    @property
    def is_stopped(self) -> bool:
        return self._stop.is_set()

    def may_match(self, joined: bytes) -> bool:
        """Return whether one of several bodies, joined by line ends, may contain a term.

        The sieve takes a third of the time of `lower` and `in`, and other threads run meanwhile.
        """
        is_plain = _is_plain(joined)
        if is_plain or (joined.isascii() and b"\\u" not in joined):
            possible = self._letters
        elif _escapes_letters(joined):
            return True
        else:
            possible = self._signs
        if not possible or not _sieve(possible)(joined):
            return False
        if not is_plain:
            return True
        lowered = joined.lower()
        for text in self._texts:
            if text.raw is not None and text.raw in (lowered if text.fold else joined):
                return True
        for regex in self._regexes:
            if not self.is_stopped and (not regex.is_local or regex.search(joined)):
                return True
        return False

    def run(self, bodies: Iterable[Body]) -> None:
        """Search bodies, given as seq and bytes, or as seq and length if they are `LARGE`."""
        seqs: list[int] = []
        run: list[bytes] = []
        weight = 0
        for seq, body in bodies:
            if isinstance(body, int):
                self._search_large(seq, body)
            else:
                seqs.append(seq)
                run.append(body)
                weight += len(body)
                if weight > RUN_BYTES:
                    self._search_run(seqs, run)
                    seqs, run, weight = [], [], 0
            if not run and self._stop.is_set():
                return
        self._search_run(seqs, run)

    def _search_run(self, seqs: list[int], run: list[bytes]) -> None:
        if self._stop.is_set():
            return
        batch = _Batch(seqs, run, b"\n".join(run))
        if self._texts and batch.is_plain:
            for text in self._texts:
                if text.raw is not None:
                    text.found.update(seqs[place] for place in batch.having(text.raw, text.fold))
        elif self._texts:
            self._search_texts(seqs, run, batch.joined)
        if self._regexes:
            self._search_regexes(batch)

    def _search_regexes(self, batch: _Batch) -> None:
        is_sure = not _escapes_letters(batch.lowered)
        for regex in self._regexes:
            if not regex.may_match(batch.lowered, is_sure):
                continue
            if not batch.is_plain:
                places = self._readable(regex, batch.run, is_sure)
            else:
                places = self._matching(regex, batch)
            regex.found.update(batch.seqs[place] for place in places)

    def _matching(self, regex: _Regex, batch: _Batch) -> Iterator[int]:
        """Yield the indexes of plain bodies that match."""
        run, step = batch.run, FEW if regex.is_local else 1
        possible = list(batch.having(regex.letters))
        if len(possible) * step < len(run) * 4:
            yield from (place for place in possible if regex.search(run[place]))
            return
        for start in range(0, len(run), step):
            if self._stop.is_set():
                return
            few = run[start : start + step]
            if regex.search(b"\n".join(few)):
                yield from (place for place, body in enumerate(few, start) if regex.search(body))

    def _readable(self, regex: _Regex, run: list[bytes], is_sure: bool) -> Iterator[int]:
        """Yield the indexes of bodies whose decoded texts match, not all of them plain."""
        for place, body in enumerate(run):
            if self._stop.is_set():
                return
            lowered = body.lower()
            if not regex.may_match(lowered, is_sure or not _escapes_letters(lowered)):
                continue
            texts = [body] if _is_plain(body) else map(_encoded, readings(body))
            if any(map(regex.search, texts)):
                yield place

    def _search_texts(self, seqs: list[int], run: list[bytes], joined: bytes) -> None:
        lowered = joined.lower()
        is_sure = not _escapes_letters(lowered)
        wanted = [text for text in self._texts if not is_sure or text.may_be_in(lowered)]
        if not wanted:
            return
        for seq, body in zip(seqs, run, strict=True):
            if self._stop.is_set():
                return
            lowered = body.lower()
            if _is_plain(body):
                for text in wanted:
                    if text.raw is not None and text.raw in (lowered if text.fold else body):
                        text.found.add(seq)
            elif not is_sure and _escapes_letters(lowered):
                _look(wanted, seq, *readings(body))
            elif possible := [text for text in wanted if text.may_be_in(lowered)]:
                _look(possible, seq, *readings(body))

    def _search_large(self, seq: int, size: int) -> None:
        wanted = self._possible(seq, size)
        if not wanted and not self._regexes:
            return
        for text in self._windows(seq, size):
            _look(wanted, seq, text)
            if self._regexes:
                encoded = _encoded(text)
                for regex in self._regexes:
                    if regex.search(encoded):
                        regex.found.add(seq)

    def _possible(self, seq: int, size: int) -> list[_Text]:
        """Return the terms that may be in a large body, judged by its bytes."""
        overlap = max((len(sign) for text in self._texts for sign in text.signs), default=0) + ESCAPE_BYTES
        possible: list[_Text] = []
        end = b""
        for start in range(0, size, LARGE):
            if self._stop.is_set():
                return []
            lowered = end + self._read(seq, start, LARGE).lower()
            if _escapes_letters(lowered):
                return self._texts
            possible += [text for text in self._texts if text not in possible and text.may_be_in(lowered)]
            if len(possible) == len(self._texts):
                break
            end = lowered[-overlap:]
        return possible

    def _windows(self, seq: int, size: int) -> Iterator[str]:
        """Yield the text of a large body in overlapping windows.

        The boundaries of strings that contain JSON are unknown, so text that may be in one is yielded twice:
        with its escapes and without. The same applies to text that only starts like JSON.
        """
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        text, held, raw, has_escapes, in_doubt = "", "", "", False, False
        for start in range(0, size, LARGE):
            if self._stop.is_set():
                return
            part = self._read(seq, start, LARGE)
            is_last = start + LARGE >= size
            new = decoder.decode(part, is_last)
            written = held + new
            if not start:
                has_escapes = holds_json(written)
                in_doubt = has_escapes and not begins_message(written)
            if in_doubt:
                raw += new
                end = len(raw) if is_last else _boundary(raw, len(raw) - 1)
                yield raw[:end]
                raw = raw[_boundary(raw, max(0, end - OVERLAP)) :]
            if has_escapes:
                end = len(written) if is_last else end_of_escapes(written)
                written, held = written[:end], written[end:]
                written = unescaped(written)
            text += written
            end = len(text) if is_last else _boundary(text, len(text) - 1)
            yield text[:end]
            if has_escapes and "\\" in text:
                yield unescaped(text[:end])
            text = text[_boundary(text, max(0, end - OVERLAP)) :]


def _look(terms: Sequence[_Text], seq: int, *texts: str) -> None:
    for text in texts:
        folded = fold(text) if any(one.fold for one in terms) else ""
        exact = composed(text) if not all(one.fold for one in terms) else ""
        for one in terms:
            if one.needle in (folded if one.fold else exact):
                one.found.add(seq)


def _is_plain(body: bytes) -> bool:
    """Return whether a body's bytes are its text and can be folded as ASCII."""
    return body.isascii() and b"\\" not in body


def _escapes_letters(lowered: bytes) -> bool:
    return b"\\u00" in lowered and _ESCAPED_LETTER.search(lowered) is not None


def _encoded(text: str) -> bytes:
    return re2_text(composed(text))


def _boundary(text: str, at: int) -> int:
    """Return the last position up to `at` where the text can be split without changing the first part."""
    while 0 < at < len(text) and not is_boundary(text[at]):
        at -= 1
    return at
