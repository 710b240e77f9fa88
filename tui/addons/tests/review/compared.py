"""An expectation and a result next to each other, line by line. Pure.

Unlike two JSON values, the two sides do not have equal rights: a placeholder that fits is no difference, and
neither is a further member of an object. Each line knows the part of the expectation that it belongs to, so
that a person can say that this part varies.
"""

import json
from collections.abc import Collection, Hashable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import islice, repeat, zip_longest
from typing import Any, NamedTuple

from tui.addons.tests.run.judge import Response
from tui.addons.tests.run.outcome import ABSENT
from tui.addons.tests.suite.case import UNSET, Expectation
from tui.core.comparison.placeholders import fits, fits_text, has_placeholder, same
from tui.core.comparison.values import LINE_CHARS, MAX_DEPTH, MOST_LINES, LinePair, Path, lines_of
from tui.core.text import clean

MOST_ALIGNED = 2_000
"""Maximum lines or items of two lists to align; more are paired by their number."""

MOST_LOOSE = 100
"""Maximum lines or items with placeholders or members that others are compared with one by one."""

INDENT = "  "
MISSING = "(none)"


class Part(NamedTuple):
    """One value of an expectation, or one line of it if it is a text with several; () is no part."""

    steps: Path
    line: int = 0


class ComparedLine(NamedTuple):
    """A pair of cleaned lines, and the part of the expectation that they belong to."""

    pair: LinePair
    part: Part


class Section(NamedTuple):
    """One key of a case, such as `text`, with the expected value and that of the result.

    `expected` is `ABSENT` if nothing is expected yet.
    """

    key: str
    expected: Any
    got: Any


def sections(expected: Expectation, response: Response) -> list[Section]:
    """Return the keys of a case that are compared. If it expects nothing yet, all that it could expect."""
    return list(_of(expected, response))


def _of(expected: Expectation, response: Response) -> Iterator[Section]:
    if response.is_error or expected.error:
        yield Section("error", expected.error, response.is_error)
    is_new, value = expected.is_empty, response.value
    has_value = value is not ABSENT and not response.is_error
    if expected.text is not None:
        yield Section("text", expected.text, response.text)
    elif (is_new and not has_value) or (response.is_error and not expected.error):
        yield Section("text", ABSENT, response.text)
    if expected.result is not UNSET:
        yield Section("result", expected.result, MISSING if value is ABSENT else value)
    elif is_new and has_value:
        yield Section("result", ABSENT, value)
    if expected.content is not None:
        yield Section("content", list(map(dict, expected.content)), list(response.content))
    elif is_new and response.content:
        yield Section("content", ABSENT, list(response.content))


def compared(sections: Sequence[Section]) -> list[ComparedLine]:
    """Return the sections, one below the other, at most `MOST_LINES` lines."""
    return list(islice(_sections(sections), MOST_LINES))


def differing(lines: Sequence[ComparedLine]) -> Sequence[Part]:
    """Return the parts that differ, in order."""
    return list(dict.fromkeys(line.part for line in lines if not line.pair.same))


def part_at(lines: Sequence[ComparedLine], place: int) -> Part:
    """Return the part that differs in the line at a place, otherwise the only part that differs, or none."""
    if 0 <= place < len(lines) and not lines[place].pair.same:
        return lines[place].part
    parts = differing(lines)
    return parts[0] if len(parts) == 1 else Part(())


def as_expected(expected: Any, got: Any) -> bool:
    """Return whether a JSON value without members is as expected."""
    return fits(expected, got) if has_placeholder(expected) else same(expected, got)


def _sections(sections: Sequence[Section]) -> Iterator[ComparedLine]:
    for key, expected, got in sections:
        yield _line(key, key, Part(()), same=True)
        if expected is ABSENT:
            lines = got.split("\n") if isinstance(got, str) else _whole(got, "", "")
            yield from (_line(None, _after(INDENT, line), Part(())) for line in lines)
        elif isinstance(expected, str) and isinstance(got, str) and key == "text":
            yield from _texts(expected, got, INDENT, (key,))
        else:
            yield from _values(expected, got, INDENT, "", (key,))


def _line(before: str | None, after: str | None, part: Part, *, same: bool = False) -> ComparedLine:
    return ComparedLine(LinePair(_shown(before), _shown(after), same), part)


def _shown(line: str | None) -> str | None:
    return None if line is None else clean(line[:LINE_CHARS]).expandtabs(4)


def _values(expected: Any, got: Any, indent: str, lead: str, at: Path) -> Iterator[ComparedLine]:
    is_deep = len(at) < MAX_DEPTH
    if isinstance(expected, dict) and isinstance(got, dict) and is_deep and (expected or got):
        yield _line(f"{indent}{lead}{{", f"{indent}{lead}{{", Part(at), same=True)
        yield from _members(expected, got, indent + INDENT, at)
        yield _line(f"{indent}}}", f"{indent}}}", Part(at), same=True)
    elif isinstance(expected, list) and isinstance(got, list) and is_deep and (expected or got):
        yield _line(f"{indent}{lead}[", f"{indent}{lead}[", Part(at), same=True)
        yield from _items(expected, got, indent + INDENT, at)
        yield _line(f"{indent}]", f"{indent}]", Part(at), same=True)
    elif isinstance(expected, str) and isinstance(got, str) and "\n" in expected + got:
        head = f"{indent}{lead}text:"
        yield _line(head, head, Part(at), same=True)
        yield from _texts(expected, got, indent + INDENT, at)
    else:
        fit = as_expected(expected, got)
        pairs = zip_longest(_whole(expected, indent, lead), _whole(got, indent, lead))
        yield from (_line(before, after, Part(at), same=fit) for before, after in pairs)


def _members(expected: dict[str, Any], got: dict[str, Any], indent: str, at: Path) -> Iterator[ComparedLine]:
    for name, value in expected.items():
        lead, place = f"{json.dumps(str(name), ensure_ascii=False)}: ", (*at, name)
        if name in got:
            yield from _values(value, got[name], indent, lead, place)
        else:
            yield from (_line(one, None, Part(place)) for one in _whole(value, indent, lead))
    for name in (one for one in got if one not in expected):
        lead = f"{json.dumps(str(name), ensure_ascii=False)}: "
        yield from (_line("", one, Part(()), same=True) for one in _whole(got[name], indent, lead))


def _items(expected: list[Any], got: list[Any], indent: str, at: Path) -> Iterator[ComparedLine]:
    for old, new in aligned(expected, got):
        place = Part((*at, old)) if old is not None else Part(at)
        if old is not None and new is not None:
            yield from _values(expected[old], got[new], indent, "", place.steps)
        elif old is not None:
            yield from (_line(one, None, place) for one in _whole(expected[old], indent, ""))
        elif new is not None:
            yield from (_line(None, one, place) for one in _whole(got[new], indent, ""))


def _texts(expected: str, got: str, indent: str, at: Path) -> Iterator[ComparedLine]:
    old, new = expected.split("\n"), got.split("\n")
    if fits_text(expected, got):
        for number, (before, after) in enumerate(zip_longest(old, new)):
            yield _line(_after(indent, before), _after(indent, after), Part(at, number), same=True)
        return
    number = 0
    for before, after in aligned(old, new):
        number = before if before is not None else number
        one, other = (
            old[before] if before is not None else None,
            new[after] if after is not None else None,
        )
        fit = one is not None and other is not None and fits_text(one, other)
        yield _line(_after(indent, one), _after(indent, other), Part(at, number), same=fit)


def _after(indent: str, line: str | None) -> str | None:
    return None if line is None else indent + line


def aligned(expected: Sequence[Any], got: Sequence[Any]) -> Iterator[tuple[int | None, int | None]]:
    """Yield which item belongs to which, by their places; None for a missing one."""
    if len(expected) == len(got) or max(len(expected), len(got)) > MOST_ALIGNED:
        yield from zip_longest(range(len(expected)), range(len(got)))
        return
    old = [_name(one) for one in expected]
    loose = [at for at, name in enumerate(old) if name is None][:MOST_LOOSE]
    mine: list[Hashable] = [at if name is None else name for at, name in enumerate(old)]
    theirs = [_name_among(one, expected, set(old), loose) for one in got]
    for _, a, b, c, d in SequenceMatcher(None, mine, theirs, autojunk=False).get_opcodes():
        yield from zip_longest(range(a, b), range(c, d))


def _name(item: Any) -> Hashable:
    """Return what equal items have in common; None for one that others may be like without being equal."""
    if isinstance(item, dict | list) or has_placeholder(item):
        return None
    return type(item).__name__, item


def _name_among(
    item: Any, expected: Sequence[Any], names: Collection[Hashable], loose: Sequence[int]
) -> Hashable:
    """Return the name of an expected item that an item is like, or one that no other item has."""
    name = None if isinstance(item, dict | list) else (type(item).__name__, item)
    if name is not None and name in names:
        return name
    return next((at for at in loose if _is_like(expected[at], item)), -1)


def _is_like(expected: Any, got: Any, depth: int = 0) -> bool:
    """Return whether a value with all its members is as expected."""
    if depth < MAX_DEPTH and isinstance(expected, dict) and isinstance(got, dict):
        return all(key in got and _is_like(one, got[key], depth + 1) for key, one in expected.items())
    if depth < MAX_DEPTH and isinstance(expected, list) and isinstance(got, list):
        return len(expected) == len(got) and all(map(_is_like, expected, got, repeat(depth + 1)))
    return as_expected(expected, got)


def _whole(value: Any, indent: str, lead: str) -> Iterator[str]:
    lines = lines_of(value)
    for number, line in enumerate(lines):
        yield f"{indent}{lead if not number else ''}{line.text}"
