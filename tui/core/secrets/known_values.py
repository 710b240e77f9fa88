"""Finds known values in bytes: those of the configuration, and those that servers hand out. Pure.

A value may be plain, in base64, escaped for JSON or a URL, or a mix of these; line breaks may be in the
base64. There may be thousands, as long as the server likes. Remembering one takes microseconds, and a search
takes time linear in the text, regardless of their number: each form of a learned value has one word of 8
bytes. Only a form whose word is in a text without escapes is searched for itself, with and without escapes,
for its exact place. Configured values, of which there are few, are looked for whole, which is faster.
"""

import json
import re
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Sequence
from itertools import chain
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from tui.core.secrets.encodings import forms_of, inside_base64, octets_of
from tui.core.secrets.secret_shapes import secret_lines

MAX_LEARNED = 20_000
"""Maximum values that one server hands out, such as cookies; a thousand of them take less than 2 MB."""

HEAD = 64
"""Characters of a learned value that are kept. Of a longer one, what follows its head in a text is replaced
too."""

WINDOW = 16 * 1024
"""Bytes that are searched at once."""

_WORD = 8
_FEW = 64
"""Up to so many words are searched for one by one, which is faster than to split the text into words."""

_COMMON = b'etaoinsrlhdcumpgfywbv"_.,:- /{}[]0123456789TSAICEPRMNDLOFBHGUWkxjzqKVYJXQZ'
"""Bytes of JSON and prose from frequent to rare, roughly; all others are rarer."""

_RARITY = tuple(_COMMON.find(byte) % (len(_COMMON) + 1) for byte in range(256))
"""Rarity of each byte; one that is not in `_COMMON` is the rarest."""

_LENGTHENING = 12
"""How many times as long escapes may make a value."""

_ALIKE = bytes.maketrans(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ-_", b"abcdefghijklmnopqrstuvwxyz+/")
_CODE = rb"\\++(?:u([dD][89abAB][0-9A-Fa-f]{2})\\++u([dD][c-fC-F][0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4}))"
_JSON_CODE, _JSON_ESCAPE = re.compile(_CODE), re.compile(_CODE + b"?")
_URL_ESCAPE = re.compile(rb"%([0-9A-Fa-f]{2})")
_FORM_ESCAPE = re.compile(rb"%([0-9A-Fa-f]{2})|\+")
_LINE = rb"[A-Za-z0-9+/\\_-]{31}[A-Za-z0-9+/_-]"
_BREAK = rb"(?:(?<=\n)|(?<=\r)\n|(?<=\\)\\*+(?:n|r\\++n|u000[aA]|u000[dD]\\++u000[aA]))"
_LINE_BREAK = re.compile(rb"[\\\r\n](?<=%s.)%s(?=[A-Za-z0-9+/\\_-])" % (_LINE, _BREAK), re.DOTALL)
"""A line break in base64, also escaped for JSON, after at least 32 characters."""

_LONG_LINES = [re.compile(rb"%s(?<=%s%s)" % (end, _LINE, end)) for end in (rb"\n", rb"\r", rb"\\")]
"""Lines that may end with a `_LINE_BREAK`; a search that starts with one character is five times as fast."""

_REST = re.compile(rb"(?:[^\s\"'<>,;&\\]|\\++[^\s\"'<>,;&\\])*")
_REST_OF_BASE64 = re.compile(
    rb"(?:[A-Za-z0-9+/_=-]|\\++/|%%(?:2[BbFf]|3[Dd])"
    rb"|[\\\r\n]%s(?=(?:\\++/)?[A-Za-z0-9+/_=-]++(?:\\++/[A-Za-z0-9+/_=-]*+)*(?:[\"\\\r\n]|\Z)))*" % _BREAK
)
_URL_SAFE = bytes.maketrans(b"+/", b"-_")
_ENCODER = json.JSONEncoder(ensure_ascii=False)

Span = tuple[int, int, str]


class _Form(NamedTuple):
    """A value as it may be in a text, or a line of it: itself or in base64.

    `value` is the configured value that it is a form of, "" for a learned one. `rest` matches what follows
    the known part and is replaced too, None if nothing is. `is_plain`: no backslash before it is part of it.
    """

    octets: bytes
    name: str
    value: str = ""
    rest: re.Pattern[bytes] | None = None
    is_plain: bool = False


class KnownValues:
    """Values to be replaced by a mark with their name. Threads may search while one adds.

    Lines of a configured value are found as well.
    """

    def __init__(self) -> None:
        self._learned: dict[str, str] = {}
        self._configured: set[bytes] = set()
        self._forms: dict[int, tuple[_Form, ...]] = {}
        self._words: dict[str, int] = {}
        self._gates: dict[int, tuple[tuple[str, _Form], ...]] = {}
        self._has_codes = False
        self._overlap = _LENGTHENING * 2 * HEAD

    def __len__(self) -> int:
        return len(self._learned)

    def __contains__(self, value: str) -> bool:
        return value[: HEAD + 1] in self._learned

    def add(self, name: str, value: str) -> None:
        """Search for a configured value from now on."""
        for text in (*forms_of(value), *secret_lines(value)):
            plain = octets_of(text)
            in_json = _unescaped(_View(octets_of(_ENCODER.encode(text)[1:-1])), _JSON_ESCAPE).octets
            for octets in {plain, plain.replace(b"\\", b""), in_json} - self._configured:
                self._configured.add(octets)
                self._find_by_its_rarest_byte(_Form(octets, name, value, is_plain=text[0].isalnum()))
                self._overlap = max(self._overlap, _LENGTHENING * len(octets))

    def learn(self, name: str, value: str) -> None:
        """Search for a value that a server handed out from now on; it keeps its first name."""
        head = octets_of(value[:HEAD])
        if value in self or len(_alike(head)) < _WORD:
            return
        for part in inside_base64(head):
            self._find_by_a_word(_Form(part, name, rest=_REST_OF_BASE64))
        self._find_by_a_word(_Form(head, name, rest=_REST if len(value) > HEAD else None))
        self._learned[value[: HEAD + 1]] = name

    def _find_by_its_rarest_byte(self, form: _Form) -> None:
        """Search for the form, as `str`, where `in` takes half the time that it takes for `bytes`."""
        needle = form.octets.replace(b"\\", b"")
        gate = max(needle, key=_RARITY.__getitem__, default=-1)
        self._has_codes = self._has_codes or not needle.isascii()
        # Replaced, not changed, because a thread may search.
        self._gates = {**self._gates, gate: (*self._gates.get(gate, ()), (needle.decode("latin-1"), form))}

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

    def spans_in(self, raw: bytes, kept: Collection[str] = ()) -> list[Span]:
        """Return start, end and name of each value in a body, except those `kept`.

        Configured values come first, the longest of them before others.
        """
        if not (self._forms or self._gates):
            return []
        found: list[tuple[bool, int, Span]] = []
        ends = {_REST: 0, _REST_OF_BASE64: 0}
        window = max(WINDOW, 2 * self._overlap)
        for start in range(0, len(raw), window):
            for first, last, form in self._in_window(raw[start : start + window + self._overlap]):
                begin, end = start + first, start + last
                if form.value and form.value in kept:
                    continue
                if (rest := form.rest) is not None:
                    if end > ends[rest] and (more := rest.match(raw, end)):  # else within the last rest
                        ends[rest] = more.end()
                    end = max(end, ends[rest])
                found.append((not form.value, begin - end, (begin, end, form.name)))
        return [span for _, _, span in sorted(found)]

    def _in_window(self, raw: bytes) -> list[tuple[int, int, _Form]]:
        """Return where the known part of each value is, in order."""
        view = _View(raw)
        found = self._in_view(view)
        has_breaks = b"\n" in raw or b"\\" in raw
        if has_breaks and any(line.search(raw) for line in _LONG_LINES) and _LINE_BREAK.search(raw):
            found |= self._in_view(_unescaped(view, _LINE_BREAK))
        places = [(start, end, form) for (end, form), start in found.items()]
        return sorted(places, key=lambda one: one[:2]) if places else places

    def _in_view(self, whole: "_View") -> dict[tuple[int, _Form], int]:
        """Return where in the body the known part of each value in a view starts, by its end."""
        forms: dict[_Form, None] = {}
        for text in _without_codes(whole.octets, every=self._has_codes or bool(self._forms)):
            forms |= dict.fromkeys(self._configured_in(text.replace(b"\\", b"")))
            forms |= dict.fromkeys(self._learned_in(_alike(text)) if self._forms else ())
        if not forms:
            return {}
        places: dict[tuple[int, _Form], int] = {}
        for view in _views(whole):
            for form in forms:
                safe = form.octets.translate(_URL_SAFE) if form.rest is _REST_OF_BASE64 else form.octets
                for octets in {form.octets, safe}:
                    for start, end in view.places(octets, behind=form.is_plain):
                        places.setdefault((end, form), start)
        return places

    def _configured_in(self, text: bytes) -> Iterator[_Form]:
        plain = ""
        for gate, needles in self._gates.items():
            if gate < 0 or gate in text:
                plain = plain or text.decode("latin-1")
                for needle, form in needles:
                    if needle in plain:
                        yield form

    def _learned_in(self, text: bytes) -> Iterator[_Form]:
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


class _View(NamedTuple):
    """A body without some of its escapes, and where its parts were in `under`, the view it is made of."""

    octets: bytes
    ends: Sequence[int] = ()
    origins: Sequence[int] = ()
    under: "_View | None" = None

    def places(self, octets: bytes, *, behind: bool) -> Iterator[tuple[int, int]]:
        """Yield where in the body a text starts and ends; `behind` as for `origin`."""
        at = self.octets.find(octets)
        while at >= 0:
            end = at + len(octets)
            yield self.origin(at, behind=behind), self.origin(end)
            at = self.octets.find(octets, end)

    def origin(self, place: int, *, behind: bool = False) -> int:
        """Return the place in the body; with `behind`, the place after an escape without a character."""
        number = bisect_right(self.ends, place)
        if not behind and number and self.ends[number - 1] == place:
            place = self.origins[bisect_left(self.ends, place)]
        elif number:
            place += self.origins[number - 1] - self.ends[number - 1]
        return place if self.under is None else self.under.origin(place, behind=behind)


def _without_codes(raw: bytes, *, every: bool) -> Iterator[bytes]:
    """Yield a body, and with the characters that its codes stand for; `every`: also those beyond ASCII."""
    yield raw
    if (b"\\u" if every else b"\\u00") in raw:
        raw = _JSON_CODE.sub(_char, raw)
        yield raw
    if b"%" in raw:
        yield unquote_to_bytes(raw)
    if b"+" in raw:
        yield unquote_to_bytes(raw.replace(b"+", b" "))


def _views(view: _View) -> Iterator[_View]:
    """Yield a view of a body as it is, without JSON escapes, and without URL escapes."""
    yield view
    if b"\\" in view.octets:
        view = _unescaped(view, _JSON_ESCAPE)
        yield view
    if b"%" in view.octets:
        yield _unescaped(view, _URL_ESCAPE)
    if b"+" in view.octets:
        yield _unescaped(view, _FORM_ESCAPE)


def _unescaped(view: _View, escape: re.Pattern[bytes]) -> _View:
    """Return a view with each escape replaced by the character whose code it has, or removed."""
    raw = view.octets
    parts: list[bytes] = []
    ends: list[int] = []
    origins: list[int] = []
    done = length = 0
    for found in escape.finditer(raw):
        char = _char(found)
        parts += (raw[done : found.start()], char)
        length += found.start() - done
        ends += (length, length + len(char))
        origins += found.span()
        length += len(char)
        done = found.end()
    return _View(b"".join((*parts, raw[done:])), ends, origins, view)


def _char(escape: re.Match[bytes]) -> bytes:
    """Return the character of an escape, "" for a backslash of JSON and a line break in base64."""
    if escape.re is _LINE_BREAK:
        return b""
    if escape.re in (_URL_ESCAPE, _FORM_ESCAPE):
        return bytes((int(escape[1], 16),)) if escape[1] else b" "
    high, low, code = escape.groups()
    if high:
        return chr(0x10000 + ((int(high, 16) & 0x3FF) << 10) + (int(low, 16) & 0x3FF)).encode()
    return octets_of(chr(int(code, 16))) if code else b""


def _alike(octets: bytes) -> bytes:
    """Return a text without case, backslashes and the difference between the two alphabets of base64."""
    return octets.translate(_ALIKE, b"\\")
