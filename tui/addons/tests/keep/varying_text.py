"""The parts of a text that vary: those that others have differently, and times, UUIDs and durations. Pure."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, pairwise

from tui.core.comparison.placeholders import LONG_TEXT, Part, Placeholder, parts_of
from tui.core.comparison.text_parts import ID, NUMBER, TIME
from tui.core.comparison.varied import varied_text

MOST_PARTS = 100
"""Texts with more parts that differ are one part."""

_ZONE = r"(?:\s?(?:Z|UTC|GMT|[+-]\d{2}:?\d{2})\b)?"
_CLOCK = rf"\d{{1,2}}:\d{{2}}:\d{{2}}(?:[.,]\d{{1,9}})?(?:\s?[AaPp][Mm]\b)?{_ZONE}"
_SHORT = rf"\d{{1,2}}:\d{{2}}\s?[AaPp][Mm]\b{_ZONE}"
_DATE = rf"\d{{4}}[-/.]\d{{2}}[-/.]\d{{2}}(?:[Tt ](?:{_CLOCK}|{_SHORT}|\d{{2}}:\d{{2}}{_ZONE}))?"
_IN_WORDS = rf"(?:[A-Z][a-z]{{2}}, )?\d{{1,2}} [A-Z][a-z]{{2}} \d{{4}} {_CLOCK}"
_LOOKS = re.compile(
    r"(?P<id>\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b)"
    rf"|(?P<time>(?<![\w.:])(?:{_IN_WORDS}|{_DATE}|{_CLOCK}|{_SHORT})(?![\w:]))"
    r"|(?P<number>(?<![\w.])\d+(?:\.\d+)?(?=\s?(?:ns|us|µs|ms)\b))"
)
"""What varies even if it was seen only once. "3:16" may be a ratio, "5 s" may be written by hand."""

_REGEXES = {Placeholder.NUMBER: NUMBER.regex, Placeholder.TIME: TIME.regex, Placeholder.ID: ID.regex}
_WORDS = re.compile(r"[^\W\d_]{2,}")
_FEW_WORDS = 4
_MANY_IN_LINE = 4
"""Parts of a line, of which one is not a number, that are the whole line."""

_BETWEEN_RANKS = re.compile(r"[,;] *[^\d\s,;:][^,;:\n]*: *")
"""Between the numbers of `search: 9, read: 4, write: 1`, whose names change places sooner or later."""


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
    differing = [other for other in dict.fromkeys(others) if other != text]
    found = _compared(text, differing) if differing else []
    if len(text) > LONG_TEXT:
        return found
    taken = [(part.start, part.end) for part in found]
    for looks in _LOOKS.finditer(text):
        start, end = looks.span()
        is_free = not any(start < there[1] and there[0] < end for there in taken)
        if is_free and not fixed(looks.group()):
            found.append(TextPart(start, end, str(looks.lastgroup), steady=bool(others)))
    return sorted(found, key=lambda part: part.start)


def _compared(text: str, differing: Sequence[str]) -> list[TextPart]:
    """Return the parts in which a text differs from others."""
    whole = [TextPart(0, len(text), "text", tuple(differing))]
    parts = parts_of(varied_text([text, *differing])) if len(text) <= LONG_TEXT else ()
    kinds = [str(part) for part in parts if isinstance(part, Placeholder)]
    if not 0 < len(kinds) <= MOST_PARTS or _is_other_text(text, parts):
        return whole
    pattern = re.compile("".join(_steps(parts)), re.DOTALL)
    found = [pattern.fullmatch(one) for one in (text, *differing)]
    if not all(found):
        return whole
    first, *rest = [one for one in found if one is not None]
    compared = [
        TextPart(*first.span(number), kind, tuple(one[number] for one in rest))
        for number, kind in enumerate(kinds, 1)
    ]
    lines = groupby(compared, lambda part: text.rfind("\n", 0, part.start) + 1)
    return [part for start, line in lines for part in _of_line(text, start, list(line))]


def _of_line(text: str, start: int, parts: list[TextPart]) -> Sequence[TextPart]:
    """Return the parts of a line that vary; they are one, the line, if little stays or their order varies."""
    end = text.find("\n", parts[-1].end)
    end = len(text) if end < 0 else end
    between = [text[one.end : other.start] for one, other in pairwise(parts)]
    before, after = text[start : parts[0].start], text[parts[-1].end : end]
    columns = [[text[one.start : one.end] for one in parts]]
    columns += map(list, zip(*(one.others for one in parts), strict=True))
    lines = [before + "".join(chain(*zip(column, [*between, after], strict=True))) for column in columns]
    if end - start == len(text) or any("\n" in line for line in lines):
        return parts
    kinds = {part.kind for part in parts}
    are_many = len(parts) >= _MANY_IN_LINE and "text" in kinds
    are_moved = len({tuple(sorted(_WORDS.findall(line))) for line in lines}) == 1 and "text" in kinds
    are_ranked = (
        kinds == {"number"}
        and len(parts) > 2
        and all(map(_BETWEEN_RANKS.fullmatch, between))
        and all(column == sorted(column, key=_size, reverse=True) for column in columns)
    )
    is_one = are_many or are_moved or are_ranked
    return [TextPart(start, end, "text", tuple(lines[1:]))] if is_one else parts


def _size(number: str) -> float:
    return float(number.replace(",", "").replace("\u2212", "-"))


def _steps(parts: Sequence[Part]) -> Iterator[str]:
    """Yield regular expressions for the parts. Once the text behind a part is found, none is tried again."""
    held = ""
    for part in parts:
        if isinstance(part, Placeholder):
            if held:
                yield held
            held = f"({_REGEXES.get(part, '.*?')})"
        elif held:
            yield (
                f"(?>{held}{re.escape(str(part))})" if part is not parts[-1] else held + re.escape(str(part))
            )
            held = ""
        else:
            yield re.escape(str(part))
    yield held


def _is_other_text(text: str, parts: Sequence[Part]) -> bool:
    """Return whether so little is the same that the text as a whole differs."""
    same = len(_WORDS.findall(" ".join(part for part in parts if type(part) is str)))
    words = len(_WORDS.findall(text))
    return words > _FEW_WORDS and same * 3 < words
