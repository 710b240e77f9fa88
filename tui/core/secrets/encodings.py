"""Base64 as servers write it, and known values in it, split over successive texts, or cut off. Pure.

Of values that are split over texts, or that the end of a text cuts off, only plain ones and those in base64
without line breaks are found, not escaped ones.
"""

import binascii
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate

_GATE = 4
"""Number of characters by which the beginnings of texts are looked up."""

LONG = 8
"""Length from which the beginning of a value is hardly ever ordinary text."""

_DATA_URI = re.compile(r"\s*data:[^,]{0,200};base64,", re.IGNORECASE)
_STANDARD = str.maketrans("-_", "+/")


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
        found = []
        for form in self._whole:
            at = text.find(form)
            while at >= 0:
                found.append((at, at + len(form)))
                at = text.find(form, at + 1)
        return found

    def ends_whole(self, text: str) -> bool:
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
    whole = binascii.b2a_base64(octets, newline=False).decode()
    for form in (whole, whole.rstrip("="), *(part.decode() for part in inside_base64(octets))):
        yield form
        yield form.replace("+", "-").replace("/", "_")


def inside_base64(octets: bytes) -> Iterator[bytes]:
    """Yield the part of base64 that only these octets decide, at each offset of a longer text."""
    for before in range(3):
        whole = binascii.b2a_base64(b"\0" * before + octets, newline=False)
        yield whole[-(-before * 8 // 6) : (before + len(octets)) * 8 // 6]


def plain_base64(data: str) -> str | None:
    """Return `data` as base64 that every decoder accepts, or None if it is not base64."""
    if _is_base64(data):
        return data
    data = standard_base64(data)
    return data if _is_base64(data) else None


def standard_base64(data: str) -> str:
    """Return base64 in its standard form; what is not base64, or is truncated, stays invalid.

    Servers write it with line breaks, without padding, with the URL alphabet, or as a data URI.
    """
    data = "".join(data[len(data_uri(data)) :].split()).translate(_STANDARD).rstrip("=")
    return data + "=" * (-len(data) % 4 % 3)  # one character alone is no byte


def data_uri(data: str) -> str:
    """Return the beginning of a data URI in base64, up to its data; "" if it is none."""
    found = _DATA_URI.match(data)
    return found.group() if found else ""


def _is_base64(data: str) -> bool:
    try:
        binascii.a2b_base64(data, strict_mode=True)
    except (binascii.Error, ValueError):
        return False
    return True


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
