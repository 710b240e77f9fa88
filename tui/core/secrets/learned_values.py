"""Finds the values that servers hand out while mcptui runs: cookies, session ids, tokens. Pure.

There may be thousands, as long as the server likes. Remembering one takes microseconds, and a search takes
time linear in the text, regardless of their number: each value has one word of 8 bytes, and one for each
alignment of its base64. Only a value whose word is in a text is searched for itself, with and without JSON
and URL escapes.
"""

import re
import sys
from binascii import b2a_base64
from bisect import bisect_left
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple
from urllib.parse import unquote

from tui.core.secrets.encodings import octets_of

MAX_LEARNED = 20_000
"""Maximum values that one server hands out, such as cookies; a thousand of them take less than 2 MB."""

HEAD = 64
"""Characters of a value that are kept. Of a longer one, what follows its head in a text is replaced too."""

WINDOW = 16 * 1024
"""Bytes that are searched at once."""

_WORD = 8
_FEW = 64
"""Up to so many words are searched for one by one, which is faster than to split the text into words."""

_OVERLAP = 12 * 2 * HEAD
"""Bytes shared by two windows: escapes make a head in base64 that long."""

_ALIKE = bytes.maketrans(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ-_", b"abcdefghijklmnopqrstuvwxyz+/")
_JSON_ESCAPE = re.compile(rb"\\++(?:u([0-9A-Fa-f]{4}))?")
_URL_ESCAPE = re.compile(rb"%([0-9A-Fa-f]{2})")
_URL_SAFE = bytes.maketrans(b"+/", b"-_")
_REST = re.compile(rb"(?:[^\s\"'<>,;&\\]|\\++[^\s\"'<>,;&\\])*")
_REST_OF_BASE64 = re.compile(rb"(?:[A-Za-z0-9+/_=-]|\\++/|%(?:2[BbFf]|3[Dd]))*")

Span = tuple[int, int, str]


class _Form(NamedTuple):
    """A value as it may be in a text: itself or in base64; `is_cut`: more of it follows."""

    octets: bytes
    name: str
    is_base64: bool
    is_cut: bool


class LearnedValues:
    """Values to be replaced by a mark with their name. Threads may search while one adds."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._forms: dict[int, tuple[_Form, ...]] = {}
        self._words: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, value: str) -> bool:
        return value[: HEAD + 1] in self._names

    def add(self, name: str, value: str) -> None:
        """Search for a value from now on; it keeps its first name."""
        if value in self:
            return
        head = octets_of(value[:HEAD])
        if len(_alike(head)) < _WORD:
            return
        is_cut = len(value) > HEAD
        for before in range(3):
            whole = b2a_base64(b"\0" * before + head, newline=False)
            part = whole[-(-before * 8 // 6) : (before + len(head)) * 8 // 6]
            self._find_by_a_word(_Form(part, name, is_base64=True, is_cut=True))
        self._find_by_a_word(_Form(head, name, is_base64=False, is_cut=is_cut))
        self._names[value[: HEAD + 1]] = name

    def _find_by_a_word(self, form: _Form) -> None:
        """Choose a word of the form that no other form has, or else one that few others have."""
        text = _alike(form.octets)
        last = len(text) - _WORD
        best, fewest = 0, sys.maxsize
        forms = self._forms
        for at in chain((last, 0, last // 2), range(1, last)):
            word = int.from_bytes(text[at : at + _WORD], sys.byteorder)
            if word not in forms:
                best = word
                break
            if (count := len(forms[word])) < fewest:
                best, fewest = word, count
        forms[best] = (*forms.get(best, ()), form)
        if len(forms) <= _FEW:  # replaced, not changed, because a thread may search
            octets = best.to_bytes(_WORD, sys.byteorder)
            self._words = {**self._words, octets.decode("latin-1"): best}

    def spans_in(self, raw: bytes) -> Iterator[Span]:
        """Yield start, end and name of each value in a body."""
        if not self._forms:
            return
        ends = {_REST: 0, _REST_OF_BASE64: 0}
        for start in range(0, len(raw), WINDOW):
            for first, last, form in self._in_window(raw[start : start + WINDOW + _OVERLAP]):
                begin, end = start + first, start + last
                if form.is_cut:
                    rest = _REST_OF_BASE64 if form.is_base64 else _REST
                    if end > ends[rest] and (found := rest.match(raw, end)):  # else within the last rest
                        ends[rest] = found.end()
                    end = max(end, ends[rest])
                yield begin, end, form.name

    def _in_window(self, raw: bytes) -> list[tuple[int, int, _Form]]:
        """Return where the known part of each value is, in order."""
        views: list[_View] = []
        found: dict[_Form, None] = {}
        for view in _views(raw):
            views.append(view)
            found |= dict.fromkeys(self._candidates(_alike(view.octets)))
        places = {
            (*place, form)
            for form in found
            for octets in _spellings(form)
            for view in views
            for place in view.places(octets)
        }
        return sorted(places)

    def _candidates(self, text: bytes) -> Iterator[_Form]:
        """Yield the forms that may be in a text: their word is."""
        forms = self._forms
        if len(forms) <= _FEW:
            plain = text.decode("latin-1")
            for octets, word in self._words.items():
                if octets in plain:
                    yield from forms[word]
            return
        for at in range(_WORD):
            whole = (len(text) - at) // _WORD * _WORD
            if whole <= 0:
                return
            with memoryview(text) as seen, seen[at : at + whole].cast("Q") as words:
                if not forms.keys().isdisjoint(words):
                    for word in set(words):
                        yield from forms.get(word, ())


class _View:
    """A body without some of its escapes, and where its parts were."""

    def __init__(self, octets: bytes, ends: list[int], origins: list[int]) -> None:
        self.octets = octets
        self._ends = ends
        self._origins = origins

    def places(self, octets: bytes) -> Iterator[tuple[int, int]]:
        """Yield where in the body a text starts and ends."""
        at = self.octets.find(octets)
        while at >= 0:
            end = at + len(octets)
            yield self.origin(at), self.origin(end)
            at = self.octets.find(octets, end)

    def origin(self, place: int) -> int:
        """Return the place in the body; that before an escape for the place where its character is."""
        number = bisect_left(self._ends, place)
        if number < len(self._ends) and self._ends[number] == place:
            return self._origins[number]
        return place if not number else self._origins[number - 1] + place - self._ends[number - 1]


def _views(raw: bytes) -> Iterator[_View]:
    """Yield a body as it is, without JSON escapes, and without URL escapes."""
    view = _View(raw, [], [])
    yield view
    if b"\\" in raw:
        view = _unescaped(view, _JSON_ESCAPE)
        yield view
    if b"%" in view.octets:
        yield _unescaped(view, _URL_ESCAPE)


def _unescaped(view: _View, escape: re.Pattern[bytes]) -> _View:
    """Return a view with each escape replaced by the character whose code it has, or removed."""
    raw = view.octets
    parts: list[bytes] = []
    ends: list[int] = []
    origins: list[int] = []
    done = length = 0
    for found in escape.finditer(raw):
        char = _char(int(found[1], 16), escape) if found[1] else b""
        parts += (raw[done : found.start()], char)
        length += found.start() - done
        ends += (length, length + len(char))
        origins += (view.origin(found.start()), view.origin(found.end()))
        length += len(char)
        done = found.end()
    return _View(b"".join((*parts, raw[done:])), ends, origins)


def _char(code: int, escape: re.Pattern[bytes]) -> bytes:
    return bytes((code,)) if escape is _URL_ESCAPE else chr(code).encode("utf-8", "surrogatepass")


def _spellings(form: _Form) -> Iterator[bytes]:
    yield form.octets
    if form.is_base64 and (safe := form.octets.translate(_URL_SAFE)) != form.octets:
        yield safe


def _alike(octets: bytes) -> bytes:
    """Return a text without case, backslashes and the difference between the two alphabets of base64."""
    return octets.translate(_ALIKE, b"\\")


def repeated_forms(value: str) -> Iterator[str]:
    """Yield a value that a server hands out as it may be repeated: with and without percent escapes."""
    yield value
    if "%" in value and (plain := unquote(value)) != value:
        yield plain
