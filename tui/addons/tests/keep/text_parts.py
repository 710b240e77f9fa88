"""The parts of a text that vary: found by comparing it with others, or by what times and ids look like. Pure.

A text is split into tokens (times, UUIDs, numbers, words, other characters), and tokens that differ become
parts. Bounded for texts of any size.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby

from tui.core.comparison.placeholders import LONG_TEXT
from tui.core.comparison.values import parts_that_differ

MOST_TOKENS = 2_000
"""Texts with more tokens are compared line by line."""

MOST_PARTS = 100
"""Texts with more parts that differ are one part."""

_UUID = r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"
_DATE = (
    r"\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?:\s?(?:Z|[+-]\d{2}:?\d{2}))?)?(?!\d)"
)
_CLOCK = r"\b\d{1,2}:\d{2}:\d{2}(?:[.,]\d{1,9})?\b"
_NUMBER = r"(?<![\w.])-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?!\w)"
_WORD = r"\w[\w-]*\w|\w"
_TOKEN = re.compile(
    rf"(?P<id>{_UUID})|(?P<time>{_DATE}|{_CLOCK})|(?P<number>{_NUMBER})"
    rf"|(?P<unit>(?<![\w.])-?\d+(?:\.\d+)?(?=[^\W\d_]{{1,3}}\b))|(?P<word>{_WORD})|(?P<space>\s+)|(?P<other>.)",
    re.DOTALL,
)
_MEASURED = re.compile(r"\s?(?:ns|us|µs|ms)\b")
"""Units of durations that no one writes by hand."""

_TIME = re.compile(rf"{_DATE}|{_CLOCK}")
_IS_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_IS_TIME = re.compile(rf"(?:{_DATE}|{_CLOCK})")
_IS_ID = re.compile(r"[\w.:+/=~-]+")
_SPLIT_LINES = re.compile(r"[^\n]*\n|[^\n]+")


@dataclass(frozen=True, slots=True)
class TextPart:
    """A part of a text, from `start` to `end`, with the name of its placeholder, and what others have there.

    `others` is empty for a part that was not seen to vary, but looks as if it did. `steady`: others have the
    same there.
    """

    start: int
    end: int
    kind: str
    others: tuple[str, ...] = ()
    steady: bool = False


def parts_that_vary(text: str, others: Sequence[str], fixed: Callable[[str], bool]) -> list[TextPart]:
    """Return the parts of a text that vary, in order.

    `fixed` says whether a part that looks like a time or an id is given, such as by an argument.
    """
    if len(text) > LONG_TEXT or any(len(other) > LONG_TEXT for other in others):
        differing = tuple(other for other in others if other != text)
        return [TextPart(0, len(text), "text", differing)] if differing else []
    tokens = list(_tokens(text))
    varying: set[int] = set()
    for other in {*others} - {text}:
        varying |= _differing(tokens, list(_tokens(other)))
    found = list(_compared(text, tokens, varying, others))
    taken = [(part.start, part.end) for part in found]
    for start, end, kind in _looks_varying(tokens):
        if not any(start < there[1] and there[0] < end for there in taken) and not fixed(text[start:end]):
            found.append(TextPart(start, end, kind, steady=bool(others)))
    return sorted(found, key=lambda part: part.start)


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    kind: str
    start: int


def _tokens(text: str) -> Iterator[_Token]:
    found = [_Token(one.group(), str(one.lastgroup), one.start()) for one in _TOKEN.finditer(text)]
    if len(found) > MOST_TOKENS:
        found = [_Token(one.group(), "line", one.start()) for one in _SPLIT_LINES.finditer(text)]
    yield from found


def _differing(tokens: Sequence[_Token], others: Sequence[_Token]) -> set[int]:
    """Return the indices of tokens that differ; one that only the other text has is added to a neighbor."""
    (first, last), (other_first, other_last) = parts_that_differ(
        mine := [one.text for one in tokens], theirs := [one.text for one in others]
    )
    found: set[int] = set()
    matcher = SequenceMatcher(None, mine[first:last], theirs[other_first:other_last], autojunk=False)
    for kind, start, end, _, _ in matcher.get_opcodes():
        if kind == "insert":
            found.add(max(0, first + start - 1))
        elif kind != "equal":
            found |= set(range(first + start, first + end))
    return found


def _compared(
    text: str, tokens: Sequence[_Token], varying: Collection[int], others: Sequence[str]
) -> Iterator[TextPart]:
    """Yield the parts made of the varying tokens, each with what the other texts have there."""
    if not varying:
        return
    spans = list(_spans(tokens, varying))
    differing = [other for other in others if other != text]
    seen = _seen(text, spans, differing)
    if seen is None or len(spans) > MOST_PARTS or _is_other_text(text, spans):
        yield TextPart(0, len(text), _kind_of([text, *differing]), tuple(differing))
        return
    merged = list(_merged(text, spans, seen))
    if (again := _seen(text, [(start, end) for start, end, _ in merged], differing)) is None:
        yield TextPart(0, len(text), "text", tuple(differing))
        return
    for (start, end, kind), there in zip(merged, again, strict=True):
        yield TextPart(start, end, kind, tuple(there))


def _spans(tokens: Sequence[_Token], varying: Collection[int]) -> Iterator[tuple[int, int]]:
    """Yield start and end of each run of varying tokens; what only spaces separate is one run."""
    marked = [at in varying for at in range(len(tokens))]
    for at in range(1, len(tokens) - 1):
        if tokens[at].kind == "space" and marked[at - 1] and marked[at + 1]:
            if {tokens[at - 1].kind, tokens[at + 1].kind} <= {"word", "other"}:
                marked[at] = True
    for is_varying, run in groupby(range(len(tokens)), key=lambda at: marked[at]):
        if is_varying:
            places = list(run)
            last = tokens[places[-1]]
            yield tokens[places[0]].start, last.start + len(last.text)


def _merged(
    text: str, spans: Sequence[tuple[int, int]], seen: Sequence[Sequence[str]]
) -> Iterator[tuple[int, int, str]]:
    """Yield the spans with their kinds; two texts with no word between them are one."""
    found: list[tuple[int, int, str]] = []
    for (start, end), there in zip(spans, seen, strict=True):
        kind = _kind_of([text[start:end], *there])
        if found and kind == found[-1][2] == "text" and not re.search(r"\w", text[found[-1][1] : start]):
            found[-1] = (found[-1][0], end, "text")
        else:
            found.append((start, end, kind))
    yield from found


def _seen(text: str, spans: Sequence[tuple[int, int]], others: Sequence[str]) -> list[list[str]] | None:
    """Return what each other text has in place of each span; None if one does not fit the rest of the text.

    Each part ends where the text after it first follows, as a placeholder does.
    """
    made, place = "", 0
    for number, (start, end) in enumerate(spans):
        made += re.escape(text[place:start]) if not number else ""
        after = text[end : spans[number + 1][0]] if number + 1 < len(spans) else text[end:]
        is_last = number + 1 == len(spans)
        made += f"(.*?){re.escape(after)}" if is_last else f"(?>(.*?){re.escape(after)})"
        place = end
    pattern = re.compile(made, re.DOTALL)
    found = [pattern.fullmatch(other) for other in others]
    if any(one is None for one in found):
        return None
    return [[str(one[number + 1]) for one in found if one is not None] for number in range(len(spans))]


def _is_other_text(text: str, spans: Sequence[tuple[int, int]]) -> bool:
    """Return whether so little is the same that the text as a whole differs."""
    same, place = "", 0
    for start, end in spans:
        same, place = same + text[place:start], end
    same += text[place:]
    words = len(re.findall(r"[^\W\d_]{2,}", same))
    all_words = len(re.findall(r"[^\W\d_]{2,}", text))
    return all_words > 4 and words * 3 < all_words


def _kind_of(texts: Sequence[str]) -> str:
    """Return the placeholder that fits all of these texts."""
    for kind, pattern in (("number", _IS_NUMBER), ("time", _IS_TIME)):
        if all(pattern.fullmatch(text) for text in texts):
            return kind
    if all(_IS_ID.fullmatch(text) and re.search(r"\d", text) for text in texts):
        return "id"
    return "text"


def _looks_varying(tokens: Sequence[_Token]) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and placeholder of times, UUIDs and measured durations."""
    for at, token in enumerate(tokens):
        end = token.start + len(token.text)
        if token.kind in ("time", "id"):
            yield token.start, end, token.kind
        elif token.kind in ("number", "unit"):
            after = "".join(one.text for one in tokens[at + 1 : at + 4])
            if _MEASURED.match(after):
                yield token.start, end, "number"


def is_time(text: str) -> bool:
    """Return whether a text is a date or a time, and no more."""
    return _TIME.fullmatch(text) is not None
