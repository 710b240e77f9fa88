"""Finds configured values in traffic: plain, encoded, split over texts or cut off. Pure.

A value may be plain, in base64, escaped for JSON or a URL, or a mix of these. Removing escapes is cheap and
may match too much; finding exact positions is slower. So a body is first searched in *views* without
escapes, and completely only after a match.

Of values that are split over successive texts, or that the end of a text cuts off, only plain ones and
those in base64 are found, not escaped ones.
"""

import json
import re
from binascii import b2a_base64
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from urllib.parse import unquote_to_bytes

_ENCODERS = json.JSONEncoder(ensure_ascii=True), json.JSONEncoder(ensure_ascii=False)
_JSON_SHORT = {"\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t"}
_ASCII_ESCAPE = re.compile(rb"u00([2-7][0-9a-f]|0[89acd])")
_BACKSLASH, _PERCENT, _PLUS = b"\\%+"

_GATE = 4
"""Number of characters by which the beginnings of texts are looked up."""

LONG = 8
"""Length from which the beginning of a value is hardly ever ordinary text."""

_COMMON = b'etaoinsrlhdcumpgfywbv"_.,:- /{}[]0123456789TSAICEPRMNDLOFBHGUWkxjzqKVYJXQZ'
"""Bytes of JSON and prose from frequent to rare, roughly; all others are rarer."""

_RARITY = tuple(_COMMON.find(byte) % (len(_COMMON) + 1) for byte in range(256))
"""Rarity of each byte; one that is not in `_COMMON` is the rarest."""


class Needles:
    """Tells quickly whether one of several needles is in a text.

    Each needle is searched only if its rarest byte is present; and as `str`, where `in` takes half the time
    that it takes for `bytes` (measured, CPython 3.11).
    """

    def __init__(self) -> None:
        self._gates: tuple[tuple[int, tuple[str, ...]], ...] = ()

    def add(self, needles: Iterable[bytes]) -> None:
        """Search for these too. Threads may search meanwhile."""
        gates = {gate: dict.fromkeys(texts) for gate, texts in self._gates}
        for needle in set(needles) - {b""}:
            gate = max(needle, key=_RARITY.__getitem__)
            gates.setdefault(gate, {})[needle.decode("latin-1")] = None
        self._gates = tuple((gate, tuple(texts)) for gate, texts in gates.items())

    def __bool__(self) -> bool:
        return bool(self._gates)

    def any_in(self, raw: bytes) -> bool:
        text = None
        for gate, needles in self._gates:
            if gate in raw:
                if text is None:
                    text = raw.decode("latin-1")
                for needle in needles:
                    if needle in text:
                        return True
        return False


class Beginnings:
    """Tells whether a text ends with the beginning of one of several texts, in time linear in its end.

    A beginning includes the complete text that it overlaps: `…=Q` may end one text and begin another.
    """

    def __init__(self, forms: Iterable[str]) -> None:
        self._forms: dict[str, list[str]] = {}
        self._whole = tuple(set(forms))
        for form in self._whole:
            self._forms.setdefault(form[:_GATE], []).append(form)
        self._short = {gate[:size] for gate in self._forms for size in range(1, _GATE)}
        self._longest = max((len(form) for forms in self._forms.values() for form in forms), default=0)
        self._tails: frozenset[str] | None = None

    def ended(self, text: str) -> int:
        """Return the length of a long beginning at the end of a text, with the text that it overlaps, or 0.

        The last characters nearly always rule one out, which is fast.
        """
        if self._tails is None:
            self._tails = frozenset(
                form[at : at + LONG] for form in self._whole for at in range(len(form) - LONG)
            )
        if text[-LONG:] not in self._tails or self.ends_whole(text) or self.begun(text) < LONG:
            return 0
        return self.at_end(text)

    def places(self, text: str) -> list[tuple[int, int]]:
        """Return start and end of each occurrence of the values in a text."""
        found = []
        for form in self._whole:
            at = text.find(form)
            while at >= 0:
                found.append((at, at + len(form)))
                at = text.find(form, at + 1)
        return found

    def ends_whole(self, text: str) -> bool:
        """Return whether `text` ends with one of the texts."""
        return text.endswith(self._whole)

    def at_end(self, text: str) -> int:
        """Return the length of the longest such beginning, with the text that it overlaps, or 0."""
        begun = self.begun(text)
        return len(text) - self._uncut(text, len(text) - begun) if begun else 0

    def _uncut(self, text: str, cut: int) -> int:
        """Return `cut`, or an earlier position that is inside none of the texts."""
        place = -1
        while place != cut:
            place = cut
            for form in (form for forms in self._forms.values() for form in forms):
                found = text.find(form, max(0, cut - len(form) + 1), cut + len(form) - 1)
                cut = min(cut, found) if found >= 0 else cut
        return cut

    def begun(self, text: str) -> int:
        """Return the length of the longest such beginning, without overlapping texts."""
        for at in range(max(0, len(text) - self._longest + 1), len(text)):
            gate = text[at : at + _GATE]
            if gate in self._short and at + len(gate) == len(text):
                return len(gate)
            if gate in self._forms:
                rest = text[at:]
                if any(len(form) > len(rest) and form.startswith(rest) for form in self._forms[gate]):
                    return len(rest)
        return 0


class EncodedSecret:
    r"""One text to be found in any encoding.

    Attributes:
        value: the configured value that the text is, or is a form or a line of.
        flat: as in a JSON text, without backslashes, in lower case.
        escapable: whether a JSON text may contain it escaped, other than as `\u00XX`.
        bare: plain without backslashes, as a view without percent escapes shows it.
    """

    __slots__ = ("_pattern", "_text", "bare", "escapable", "flat", "name", "plain", "value")

    def __init__(self, name: str, text: str, value: str) -> None:
        self.name, self.value = name, value
        self.plain = octets_of(text)
        escaped = [encoder.encode(text)[1:-1] for encoder in _ENCODERS]
        flat = [one.encode("utf-8", "backslashreplace").replace(b"\\", b"").lower() for one in escaped]
        self.flat = tuple({*flat, *map(_without_codes, flat)})
        self.escapable = "/" in text or any(one != text for one in escaped)
        self.bare = self.plain.replace(b"\\", b"")
        self._text = text
        self._pattern: re.Pattern[bytes] | None = None

    def may_be_in(self, views: Iterable[bytes]) -> bool:
        """Whether one of the views of a body may have it; False is certain."""
        return any(needle in view for view in views for needle in (self.plain, *self.flat, self.bare))

    @property
    def pattern(self) -> re.Pattern[bytes]:
        if self._pattern is None:
            parts = [_escapes(match[0]) for match in re.finditer(r"\\+|[^\\]", self._text)]
            self._pattern = re.compile(b"".join(parts))
        return self._pattern


def octets_of(text: str) -> bytes:
    """Return a text as UTF-8; surrogate-escaped bytes of the operating system are restored."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def text_of(octets: bytes, like: str) -> str:
    """Return the text of octets that `octets_of` made from `like`."""
    try:
        like.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return octets.decode("utf-8", "surrogatepass")
    return octets.decode("utf-8", "surrogateescape")


def forms_of(value: str) -> Iterator[str]:
    """Yield the value, and its recognizable part in base64, alone or at any offset of a longer text."""
    yield value
    octets = octets_of(value)
    whole = b2a_base64(octets, newline=False).decode()
    inside = [
        b2a_base64(b"\0" * before + octets, newline=False).decode()[
            -(-before * 8 // 6) : (before + len(octets)) * 8 // 6
        ]
        for before in range(3)
    ]
    for form in (whole, whole.rstrip("="), *inside):
        yield form
        yield form.replace("+", "-").replace("/", "_")


def json_views(raw: bytes) -> Iterator[bytes]:
    r"""Yield a body without its backslashes, in lower case; and without `\u00XX` if it has any."""
    if _BACKSLASH in raw:
        flat = raw.replace(b"\\", b"").lower()
        yield flat
        if has_coded_ascii(raw):
            yield _without_codes(flat)


def url_views(raw: bytes) -> Iterator[bytes]:
    """Yield a body without percent escapes, and with spaces for `+`, if it has any."""
    if _PERCENT in raw:
        yield unquote_to_bytes(raw).replace(b"\\", b"")
    if _PLUS in raw:
        yield unquote_to_bytes(raw.replace(b"+", b" ")).replace(b"\\", b"")


def has_coded_ascii(raw: bytes) -> bool:
    r"""Return whether a body has characters as `\u00XX`."""
    return _BACKSLASH in raw and b"\\u00" in raw


def _without_codes(flat: bytes) -> bytes:
    return _ASCII_ESCAPE.sub(_decoded, flat).lower()


def _decoded(found: re.Match[bytes]) -> bytes:
    code = chr(int(found[1], 16))
    return b"" if code == "\\" else _JSON_SHORT.get(code, code).encode()


def _escapes(text: str) -> bytes:
    """Return a pattern for one character, or a run of backslashes, in any encoding."""
    if text[0] == "\\":
        return rb"(?:\\{%d,}|(?:\\+u005[cC]|%%5[cC]){%d})" % (len(text), len(text))
    octets = octets_of(text)
    units = text.encode("utf-16-be", "surrogatepass")
    code = b"".join(rb"\\+u" + _hex(units[at : at + 2]) for at in range(0, len(units), 2))
    percent = b"".join(b"%" + _hex(octets[at : at + 1]) for at in range(len(octets)))
    ways = [re.escape(octets) if text.isalnum() else rb"\\*" + re.escape(octets), code, percent]
    if text in _JSON_SHORT:
        ways.append(rb"\\+" + _JSON_SHORT[text].encode())
    if text == " ":
        ways.append(rb"\+")
    return b"(?:" + b"|".join(ways) + b")"


def _hex(octets: bytes) -> bytes:
    return b"".join(
        b"[%c%c]" % (ord(digit), ord(digit.upper())) if digit.isalpha() else digit.encode()
        for digit in octets.hex()
    )


MARK = "[redacted]"
"""Replaces a value that no single text contains completely."""

Span = tuple[int, int]


def without_split(
    texts: Sequence[str], known: Beginnings, holds: Callable[[str], bool], clear: Callable[[str], str]
) -> list[str]:
    """Return texts without values that begin in one and end in a later one, or that a text cuts off.

    `holds` returns whether a text contains a complete value, `clear` removes those from the rest.
    """
    ends = list(accumulate(map(len, texts)))
    spans = _over_seams(texts, ends, known, holds)
    seams = {
        seam for start, stop in spans for seam in ends[bisect_right(ends, start) : bisect_left(ends, stop)]
    }
    for text, end in zip(texts, ends, strict=True):
        if end not in seams and (count := known.ended(text)):
            spans.append((end - count, end))
    spans.sort()
    joined = "".join(texts)
    found, start, first = [], 0, 0
    for text, end in zip(texts, ends, strict=True):
        while first < len(spans) and spans[first][1] <= start:
            first += 1
        last = first
        while last < len(spans) and spans[last][0] < end:
            last += 1
        found.append(_without(joined, start, end, spans[first:last], clear) if last > first else clear(text))
        start = end
    return found


def _over_seams(
    texts: Sequence[str], ends: Sequence[int], known: Beginnings, holds: Callable[[str], bool]
) -> list[Span]:
    """Return the positions, in the joined texts, of values that no single text contains completely."""
    if len(texts) < 2:
        return []
    joined = "".join(texts)
    begun = known.begun(joined)
    last = (len(joined) - begun, len(joined)) if begun >= LONG else None
    whole = known.places(joined) if holds(joined) else []
    places = merged([*whole, *([last] if last else [])])
    return [(start, stop) for start, stop in places if bisect_right(ends, start) < bisect_left(ends, stop)]


def merged(spans: Sequence[Span]) -> list[Span]:
    """Return spans in order, overlapping ones as one."""
    found: list[Span] = []
    for start, stop in sorted(spans):
        if found and start < found[-1][1]:
            found[-1] = found[-1][0], max(stop, found[-1][1])
        else:
            found.append((start, stop))
    return found


def _without(joined: str, start: int, end: int, spans: Sequence[Span], clear: Callable[[str], str]) -> str:
    parts, at = [], start
    for first, stop in spans:
        parts.append(clear(joined[at : max(at, first)]))
        if first >= start:
            parts.append(MARK)
        at = min(end, max(at, stop))
    parts.append(clear(joined[at:end]))
    return "".join(parts)
