"""Finds terms in many bodies, in large ones in windows. Knows nothing of SQL.

A term is searched for in the text of a body as `core.search_text` defines it. Bytes are decoded only if that
can change the result: not if they are ASCII without a backslash, and not if letters of a term are missing.
Regular expressions are matched by RE2: its time is linear in the length of a body, and other threads can run
meanwhile. Bodies that are short are looked at together first.
"""

import codecs
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import islice
from threading import Event
from unicodedata import normalize

from tui.core.matching import composed, is_boundary
from tui.core.search.readings import (
    begins_message,
    end_of_escapes,
    holds_json,
    readings,
    unescaped,
)
from tui.core.search.regex import asks_for_boundaries, marked_text, re2_text, required_letters, search_of
from tui.core.text import fold
from tui.core.traffic import BodyTerm

LARGE = 1024 * 1024
"""Bodies longer than this are read in parts of this length."""

OVERLAP = 64 * 1024
"""Overlap of two windows, in characters. A longer match in a large body may be missed."""

TOGETHER, TOGETHER_BYTES = 32, 256 * 1024
"""Bodies that are looked at together, and at most how many bytes."""

_ESCAPED_LETTER = re.compile(rb"\\u00(?:20|3\d|[4-7])")
"""Matches an escape, in lower case, of a letter of `signs` or of a backslash."""

ReadPart = Callable[[int, int, int], bytes]
Body = tuple[int, bytes | int]
"""The seq of a body, with its bytes or the length of a `LARGE` body."""


@lru_cache(maxsize=4)
def _matcher(term: BodyTerm) -> Callable[[bytes], object]:
    """Return a search in text encoded by `re2_text`; raises `re.error` if it is invalid or too large."""
    pattern = composed(term.needle)
    search = search_of(pattern, ignore_case=term.fold)
    if not asks_for_boundaries(pattern):
        return search
    search_marked = search_of(pattern, ignore_case=term.fold, marked=True)
    return lambda text: search(text) if text.isascii() else search_marked(marked_text(text))


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
        plain_signs: those that a body in ASCII without Unicode escapes can contain.
    """

    found: set[int]
    needle: str
    fold: bool
    raw: bytes | None
    signs: Sequence[bytes]
    plain_signs: Sequence[bytes]

    @classmethod
    def of(cls, term: BodyTerm, found: set[int]) -> "_Text":
        needle = fold(term.needle) if term.fold else composed(term.needle)
        raw = needle.encode() if needle.isascii() and "\\" not in needle else None
        in_all = signs(needle)
        return cls(found, needle, term.fold, raw, in_all, _plain(in_all))


@dataclass(slots=True, eq=False)
class _Regex:
    """A regular expression to search for.

    Attributes:
        found: the seqs of the bodies that match it.
        search: matches a text that `_encoded` returned.
        signs, plain_signs: as in `_Text`, for letters that every match contains.
    """

    found: set[int]
    search: Callable[[bytes], object]
    signs: Sequence[bytes]
    plain_signs: Sequence[bytes]

    @classmethod
    def of(cls, term: BodyTerm, found: set[int]) -> "_Regex":
        pattern = composed(term.needle)
        search, letters = _matcher(term), required_letters(pattern)
        more = json_forms(_DOTLESS) if "i" in letters else []
        in_all = [*signs(letters), *more] if letters else [b""]
        return cls(found, search, in_all, _plain(in_all))


_DOTLESS = "\u0131"
"""Equal to i for a regular expression that ignores case, but not when folded."""


class BodyFinder:
    """Searches bodies in one thread at a time; `read` returns a part of a large body. See `interrupt`."""

    def __init__(self, read: ReadPart) -> None:
        self._read = read
        self._stop = Event()
        self._texts: list[_Text] = []
        self._regexes: list[_Regex] = []

    def search(self, terms: Sequence[BodyTerm], bodies: Iterable[Body]) -> list[frozenset[int]]:
        """Return for each term the seqs of the bodies that contain it.

        `interrupt`, even before the start, ends it early with the results so far. Raises `re.error` if a term
        is not a valid regular expression.
        """
        found: list[set[int]] = [set() for _ in terms]
        stop = self._stop.is_set
        try:
            pairs = list(zip(terms, found, strict=True))
            self._texts = [_Text.of(*pair) for pair in pairs if not pair[0].regex]
            self._regexes = [_Regex.of(*pair) for pair in pairs if pair[0].regex]
            several = iter(bodies)
            while (batch := list(islice(several, TOGETHER))) and not stop():
                for seq, body in batch if self._may_match(batch) else ():
                    if stop():
                        break
                    if isinstance(body, int):
                        self._search_large(seq, body)
                    elif body.isascii() and b"\\" not in body:  # its bytes are its text, and fold as ASCII
                        self._search_plain(seq, body)
                    else:
                        self._search_readings(seq, body)
        finally:
            self._stop.clear()
        return list(map(frozenset, found))

    def interrupt(self) -> None:
        """Stop the running search, or the next one."""
        self._stop.set()

    def rearm(self) -> None:
        """Reset an `interrupt` that found no running search."""
        self._stop.clear()

    def _may_match(self, batch: Sequence[Body]) -> bool:
        """Return whether one of several bodies may contain a term: a third of the time of looking at each."""
        bodies = [body for _, body in batch if isinstance(body, bytes)]
        if len(bodies) < len(batch) or sum(map(len, bodies)) > TOGETHER_BYTES:
            return True
        lowered = b"\n".join(bodies).lower()
        if not lowered.isascii() or b"\\u" in lowered:
            return True
        terms: list[_Text | _Regex] = [*self._texts, *self._regexes]
        return any(_has_any(lowered, term.plain_signs) for term in terms)

    def _search_plain(self, seq: int, body: bytes) -> None:
        lowered = body.lower()
        for text in self._texts:
            if text.raw is not None and text.raw in (lowered if text.fold else body):
                text.found.add(seq)
        for regex in self._regexes:
            if _has_any(lowered, regex.plain_signs) and regex.search(body):
                regex.found.add(seq)

    def _search_readings(self, seq: int, body: bytes) -> None:
        """Search a body as it is read, unless letters are missing."""
        lowered = body.lower()
        texts, regexes = self._texts, self._regexes
        if body.isascii() and b"\\u" not in lowered:
            texts = [text for text in texts if _has_any(lowered, text.plain_signs)]
            regexes = [regex for regex in regexes if _has_any(lowered, regex.plain_signs)]
        elif b"\\u00" not in lowered or _ESCAPED_LETTER.search(lowered) is None:
            texts = [text for text in texts if _has_any(lowered, text.signs)]
            regexes = [regex for regex in regexes if _has_any(lowered, regex.signs)]
        if not texts and not regexes:
            return
        read = list(readings(body))
        _look(texts, seq, *read)
        encoded = list(map(_encoded, read)) if regexes else []
        for regex in regexes:
            if any(map(regex.search, encoded)):
                regex.found.add(seq)

    def _search_large(self, seq: int, size: int) -> None:
        for text in self._windows(seq, size):
            _look(self._texts, seq, text)
            if self._regexes:
                encoded = _encoded(text)
                for regex in self._regexes:
                    if regex.search(encoded):
                        regex.found.add(seq)

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


def _has_any(lowered: bytes, signs: Sequence[bytes]) -> bool:
    for sign in signs:  # `any` takes half as long again
        if sign in lowered:
            return True
    return False


def _plain(signs: Sequence[bytes]) -> Sequence[bytes]:
    return [sign for sign in signs if sign.isascii() and not sign.startswith(b"\\u")]


def _look(terms: Sequence[_Text], seq: int, *texts: str) -> None:
    for text in texts:
        folded = fold(text) if any(one.fold for one in terms) else ""
        exact = composed(text) if not all(one.fold for one in terms) else ""
        for one in terms:
            if one.needle in (folded if one.fold else exact):
                one.found.add(seq)


def _encoded(text: str) -> bytes:
    return re2_text(composed(text))


def _boundary(text: str, at: int) -> int:
    """Return the last position up to `at` where the text can be split without changing the first part."""
    while 0 < at < len(text) and not is_boundary(text[at]):
        at -= 1
    return at


_LETTERS = re.compile("[a-z0-9 _]+")


def signs(needle: str) -> Sequence[bytes]:
    """Return byte strings, at least one of which is in every lowercased body whose text contains the needle.

    This holds unless an ASCII letter, digit, blank, underscore or backslash is written as an escape.
    """
    letters = max(_LETTERS.findall(needle.lower() if needle.isascii() else fold(needle)), key=len, default="")
    if letters:
        others = {char for char in FOLDS_TO_LETTERS if not set(fold(char)).isdisjoint(letters)}
        return [letters.encode(), *json_forms(others)]
    # A mark may come from another character when marks are reordered, and U+FFFD from any byte.
    alone = [char for char in needle if char > "\x7f" and char != "\ufffd" and is_boundary(char)]
    # One of the sources of a character is in every text whose folded form contains it.
    parts = ([char, *normalize("NFD", char)[1:]] for char in set(alone))
    sources = ({*part, *(one for each in part for one in _folding_to().get(each, ()))} for part in parts)
    return min(map(json_forms, sources), key=len, default=[b""])


FOLDS_TO_LETTERS = "\u00df\u0130\u0149\u017f\u1e9a\u1e9e\u212a\ufb00\ufb01\ufb02\ufb03\ufb04\ufb05\ufb06"
"""Non-ASCII characters whose folded form contains one of `_LETTERS`."""


@cache
def _folding_to() -> Mapping[str, Sequence[str]]:
    """Return for each character the other characters whose folded form contains it."""
    found: dict[str, list[str]] = {}
    for char in map(chr, range(0x80, 0x30000)):  # later characters do not fold
        if (folded := fold(char)) != char:
            for each in folded:
                found.setdefault(each, []).append(char)
    return found


def json_forms(chars: Iterable[str]) -> list[bytes]:
    """Return the JSON forms of characters: literal, escaped, or the second half of an escaped pair."""
    forms: list[bytes] = []
    for char in chars:
        forms.append(char.encode("utf-8", "surrogatepass"))
        forms.append(b"\\u" + char.encode("utf-16-be", "surrogatepass")[-2:].hex().encode())
    return forms
