"""Finds values that are split over successive texts, or that the end of a text cuts off. Pure.

Only plain values and those in base64 are found here, not escaped ones.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate

from tui.core.secrets.encodings import LONG, Beginnings

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
    spans = [*_over_seams(texts, ends, known, holds)]
    for text, end in zip(texts, ends, strict=True):
        if not any(start < end < stop for start, stop in spans) and (count := known.ended(text)):
            spans.append((end - count, end))
    joined = "".join(texts)
    found, start = [], 0
    for text, end in zip(texts, ends, strict=True):
        mine = [span for span in spans if span[0] < end and span[1] > start]
        found.append(_without(joined, start, end, sorted(mine), clear) if mine else clear(text))
        start = end
    return found


def _over_seams(
    texts: Sequence[str], ends: Sequence[int], known: Beginnings, holds: Callable[[str], bool]
) -> Iterator[Span]:
    """Yield the positions, in the joined texts, of values that no single text contains completely."""
    if len(texts) < 2:
        return
    joined = "".join(texts)
    seams = ends[:-1]
    begun = known.begun(joined)
    last = (len(joined) - begun, len(joined)) if begun >= LONG else None
    whole = known.places(joined) if holds(joined) else []
    for start, stop in merged([*whole, *([last] if last else [])]):
        if any(start < seam < stop for seam in seams):
            yield start, stop


def over_seam(first: str, second: str, known: Beginnings) -> Span | None:
    """Return the position of a value in two joined texts if it begins in one and ends in the other."""
    seam = len(first)
    spans = merged(known.places(first + second))
    return next((span for span in spans if span[0] < seam < span[1]), None)


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
