"""The differences between two JSON values: by path, and as lines next to each other. Pure.

Everything that compares uses this: replay, changed definitions, the screens that show two results. It is
bounded for values of any size. Items of lists are matched before they are compared: by a name or id that each
has, otherwise by equality, so that one inserted item is one difference.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from enum import Enum, StrEnum
from functools import lru_cache
from itertools import islice, zip_longest
from typing import Any, NamedTuple

from tui.core.comparison.placeholders import (
    NOTHING,
    RUN_TO_RUN,
    Kinds,
    Placeholder,
    fits,
    generalized,
    generalized_text,
    has_placeholder,
    same,
)
from tui.core.jsonrpc.reader import json_within
from tui.core.text import clean, clean_line, compact, equal_start
from tui.core.units import noun

Path = tuple[str | int, ...]


class Place(Enum):
    """How the values at a path are compared."""

    WHOLE = "whole"
    """As one value, even if they are objects."""

    OBJECT = "object"
    """Member by member, if both are objects, otherwise as one value."""

    MEMBERS = "members"
    """Member by member; a missing object has no members."""


@dataclass(frozen=True, slots=True)
class Tolerance:
    """What a comparison does not report.

    Attributes:
        paths: patterns of paths as `path_text` writes them; `*` is (part of) a step, `**` any number, and `$`
            at the start the whole value or its member `result`, as in `$.time`.
        kinds: kinds of values that may differ.
        placeholders: whether texts of the first value may have placeholders.
        additions: whether objects of the second value may have more members.
    """

    paths: tuple[str, ...] = ()
    kinds: Kinds = NOTHING
    placeholders: bool = False
    additions: bool = False

    def matching(self, path: Path) -> frozenset[str]:
        """Return the patterns that match a path."""
        if not self.paths:
            return frozenset()
        text = path_text(path)
        return frozenset(glob for glob in self.paths if _path_pattern(glob).fullmatch(text))

    def covers(self, path: Path, before: Any, after: Any) -> bool:
        """Return whether two different values differ only in parts that vary."""
        if self.placeholders and has_placeholder(before):
            return fits(before, after)
        if not self.kinds or not _is_varying(before) or not _is_varying(after):
            return False
        name = _name_at(path)
        return bool(generalized(name, before, self.kinds) == generalized(name, after, self.kinds))

    def kinds_of(self, path: Path, value: Any) -> list[Placeholder]:
        """Return the kind of a value that may differ, none if that is for another reason."""
        kinds = sorted(self.kinds & RUN_TO_RUN)
        name = _name_at(path)
        found = (kind for kind in kinds if generalized(name, value, frozenset({kind})) != value)
        return list(islice(found, 1))


def _is_varying(value: Any) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)


_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


def path_text(path: Path) -> str:
    """Return a path as text: `result.content[0].text`, `params["a name"]`; "" for the root."""
    parts: list[str] = []
    for step in path:
        if isinstance(step, int):
            parts.append(f"[{step}]")
        elif _PLAIN.fullmatch(step):
            parts.append(f".{step}" if parts else step)
        else:
            parts.append(f"[{json.dumps(step, ensure_ascii=False)}]")
    return "".join(parts)


@lru_cache(maxsize=256)
def _path_pattern(glob: str) -> re.Pattern[str]:
    """Return the pattern for paths. `**` also matches nothing, including the adjacent dot."""
    special = {"**.": r"(?:.*[.\]])?", "**": ".*", "*": r"[^.\[\]]*", "[*]": r"\[(?:\d+|\*)\]"}
    made = r"(?:result(?:\.|(?=\[)))?" if glob.startswith("$") else ""
    for piece in re.findall(r"\*\*\.?|\*|\[\*\]|[^*]", re.sub(r"^\$\.?", "", glob)):
        made += special.get(piece) or re.escape(piece)
    return re.compile(made, re.DOTALL)


MOST_DIFFERENCES = 1_000
MOST_NODES = 200_000
"""Maximum nodes to compare individually. The rest is only compared for equality."""

MOST_MATCHED = 1_000
"""Maximum items of a list to match by equality, which takes quadratic time."""

MAX_DEPTH = 100
VALUE_CHARS = 120

_NAMES = ("id", "name", "uri", "uriTemplate", "key")


class Change(StrEnum):
    """The way in which a value differs."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    MOVED = "moved"
    """Items of a list are in another order; `before` and `after` are their names."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference between two values. A missing value is None.

    The names in `steps` are raw: clean them before they are shown. The index of a list item is its index in
    the later value, if that has the item.
    """

    steps: Path
    kind: Change
    before: Any
    after: Any

    @property
    def path(self) -> str:
        return path_text(self.steps)


def _name_at(path: Path) -> str:
    return next((step for step in reversed(path) if isinstance(step, str)), "")


@dataclass(frozen=True, slots=True)
class Comparison:
    """The differences in the order of the later value; there may be more if it is not `complete`.

    `matched` are the patterns of paths that match a value, whether it differs or not. `kinds` are how many of
    the `masked` differences are times, IDs and durations.
    """

    differences: tuple[Difference, ...]
    masked: int = 0
    complete: bool = True
    matched: frozenset[str] = frozenset()
    kinds: Mapping[Placeholder, int] = field(default_factory=dict)

    @property
    def same(self) -> bool:
        return self.complete and not self.differences


_STRICT = Tolerance()
_Names = list[Hashable]


def compare(before: Any, after: Any, tolerance: Tolerance = _STRICT) -> Comparison:
    """Compare two JSON values, as of `json.loads`, except for what is tolerated."""
    work = _Walker(tolerance)
    work.walk((), before, after)
    return Comparison(tuple(work.found), work.masked, work.complete, frozenset(work.matched), work.kinds)


def compare_members(before: Any, after: Any, place: Callable[[Path], Place]) -> Sequence[Difference]:
    """Compare two objects down to the places that `place` says, in full; 1, 1.0 and true are three values."""
    work = _Walker(_STRICT, place)
    work.walk((), before, after)
    return work.found


def text_lines(comparison: Comparison) -> list[str]:
    """Return a comparison as cleaned lines: `+ path: value`, `- path: value`, `~ path: before -> after`."""
    lines = [_line(difference) for difference in comparison.differences]
    if comparison.masked:
        lines.append(f"({comparison.masked:,} expected {noun(comparison.masked, 'difference')} hidden)")
    if not comparison.complete:
        lines.append("(too large to compare completely)")
    return lines


def _line(difference: Difference) -> str:
    where = clean_line(difference.path, 160) or "the whole"
    before, after = compact(difference.before, VALUE_CHARS), compact(difference.after, VALUE_CHARS)
    moved = "reordered, " if difference.kind is Change.MOVED else ""
    one_sided = {Change.ADDED: f"+ {where}: {after}", Change.REMOVED: f"- {where}: {before}"}
    return one_sided.get(difference.kind) or f"~ {where}: {moved}{before} -> {after}"


class _Walker:
    """Collects differences, without limits if it is told the `place` of each value."""

    def __init__(self, tolerance: Tolerance, place: Callable[[Path], Place] | None = None) -> None:
        self._tolerance = tolerance
        self._place = place
        self._left = MOST_NODES
        self.found: list[Difference] = []
        self.masked = 0
        self.kinds = Counter[Placeholder]()
        self.complete = True
        self.matched = set[str]()

    def walk(self, path: Path, before: Any, after: Any) -> None:
        if self._place is not None:
            is_inside = isinstance(before, Mapping) and isinstance(after, Mapping) and len(path) < MAX_DEPTH
            if is_inside and self._place(path) is not Place.WHOLE:
                self._objects(path, before, after)
            elif json.dumps(before, sort_keys=True) != json.dumps(after, sort_keys=True):
                self._note(path, Change.CHANGED, before, after)
            return
        self._left -= 1
        if len(self.matched) < len(self._tolerance.paths):
            self.matched |= self._tolerance.matching(path)
        is_expectation = self._tolerance.placeholders and has_placeholder(before)
        if self._left < 0 or len(self.found) >= MOST_DIFFERENCES:
            self.complete = False
        elif len(path) >= MAX_DEPTH or is_expectation:
            fits = self._tolerance.covers(path, before, after) if is_expectation else same(before, after)
            if not fits:
                self._note(path, Change.CHANGED, before, after)
        elif isinstance(before, dict) and isinstance(after, dict):
            self._objects(path, before, after)
        elif isinstance(before, list) and isinstance(after, list):
            self._lists(path, before, after)
        elif not same(before, after):
            if self._tolerance.covers(path, before, after):
                self.masked += 1
                self.kinds.update(self._tolerance.kinds_of(path, before))
            else:
                self._note(path, Change.CHANGED, before, after)

    def _objects(self, path: Path, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
        for key, value in (*after.items(), *((key, one) for key, one in before.items() if key not in after)):
            at = (*path, key)
            if not self.complete:
                return
            if key in before and key in after:
                self.walk(at, before[key], value)
            elif self._place and isinstance(value, Mapping) and self._place(at) is Place.MEMBERS:
                self._objects(at, before.get(key, {}), after.get(key, {}))
            elif key in after:
                if not self._tolerance.additions:
                    self._note(at, Change.ADDED, None, value)
            else:
                self._note(at, Change.REMOVED, value, None)

    def _lists(self, path: Path, before: Sequence[Any], after: Sequence[Any]) -> None:
        kept_old, kept_new = list[Hashable](), list[Hashable]()
        if (names := _named(before, after)) is None:
            pairs = self._matched(before, after)
        else:
            places, new_places = ({name: at for at, name in enumerate(listed)} for listed in names)
            kept_old, kept_new = (
                [n for n in places if n in new_places],
                [n for n in new_places if n in places],
            )
            gone = ((at, None) for name, at in places.items() if name not in new_places)
            pairs = (*((places.get(name), at) for name, at in new_places.items()), *gone)
        for old, new in pairs:
            if old is None and new is not None:
                self._note((*path, new), Change.ADDED, None, after[new])
            elif new is None and old is not None:
                self._note((*path, old), Change.REMOVED, before[old], None)
            elif old is not None and new is not None:
                self.walk((*path, new), before[old], after[new])
            if not self.complete:
                return
        if kept_old != kept_new:
            self._note(path, Change.MOVED, kept_old, kept_new)

    def _matched(
        self, before: Sequence[Any], after: Sequence[Any]
    ) -> Iterable[tuple[int | None, int | None]]:
        if max(len(before), len(after)) > MOST_MATCHED:
            return zip_longest(range(len(before)), range(len(after)))
        old, new = [self._key(item) for item in before], [self._key(item) for item in after]
        if old == new:
            return zip_longest(range(len(before)), range(len(after)))
        blocks = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        return (pair for _, a, b, c, d in blocks for pair in zip_longest(range(a, b), range(c, d)))

    def _key(self, item: Any) -> Hashable:
        """Return a key that equal items share. For a large item, only its start is used."""
        self._left -= 1
        return compact(item, 400) if isinstance(item, dict | list | str) else json.dumps(item)

    def _note(self, path: Path, kind: Change, before: Any, after: Any) -> None:
        if hidden_by := self._tolerance.matching(path):
            self.matched |= hidden_by
            self.masked += 1
        elif self._place is None and len(self.found) >= MOST_DIFFERENCES:
            self.complete = False
        else:
            self.found.append(Difference(path, kind, before, after))


def _named(before: Sequence[Any], after: Sequence[Any]) -> tuple[_Names, _Names] | None:
    """Return the names of the items of both lists if all have one and none is repeated."""
    if not before or not after:
        return None
    for key in _NAMES:
        old, new = _names_of(before, key), _names_of(after, key)
        if old is not None and new is not None and not set(old).isdisjoint(new):
            return old, new
    return None


def _names_of(items: Sequence[Any], key: str) -> _Names | None:
    names: _Names = []
    for item in items:
        name = item.get(key) if isinstance(item, dict) else None
        if isinstance(name, bool) or not isinstance(name, str | int):
            return None
        names.append(name)
    return names if len(set(names)) == len(names) else None


MOST_LINES = 4_000
"""Maximum lines of a value to show; comparing them takes quadratic time in the worst case."""

QUICK_LINES = 2_000
"""With more lines, frequent lines are not paired first."""

LINE_CHARS = 2_000
NESTED = 256 * 1024
"""Maximum characters of a text that is parsed as JSON: results often contain JSON as text."""

MOST_INDENTED = 40


class Line(NamedTuple):
    """A cleaned line of a value; lines with the same `key` count as equal."""

    text: str
    key: str


def lines_of(value: Any, kinds: Kinds = NOTHING) -> list[Line]:
    """Return a JSON value as lines, at most `MOST_LINES`; multi-line texts stay so.

    Lines that differ only in values of these kinds count as equal.
    """
    lines: list[Line] = []
    for text, key in _lines(value, "", "", "", kinds, 0):
        if len(lines) >= MOST_LINES:
            return [*lines, Line("…", "…")]
        lines.append(Line(clean(text[:LINE_CHARS]).replace("\t", "    "), key[:LINE_CHARS]))
    return lines


def _lines(value: Any, indent: str, lead: str, name: str, kinds: Kinds, depth: int) -> Iterator[Line]:
    start = f"{indent}{lead}"
    is_text = isinstance(value, str)
    nested = json_within(value, NESTED) if is_text else None
    if nested is not None and depth < MOST_INDENTED:
        yield _same(f"{start}JSON as text:")
        yield from _lines(nested, f"{indent}  ", "", "", kinds, depth + 1)
    elif is_text and "\n" in value:
        yield _same(f"{start}text:")
        for line in value.split("\n"):
            yield Line(f"{indent}  {line}", f"{indent}  {generalized_text(line, kinds)}")
    elif isinstance(value, dict | list) and value and depth < MOST_INDENTED:
        is_object = isinstance(value, dict)
        yield _same(start + ("{" if is_object else "["))
        members = value.items() if isinstance(value, dict) else ((name, item) for item in value)
        for member, item in members:
            key = f"{json.dumps(str(member), ensure_ascii=False)}: " if is_object else ""
            yield from _lines(item, f"{indent}  ", key, str(member), kinds, depth + 1)
        yield _same(indent + ("}" if is_object else "]"))
    else:
        key = generalized(name, value, kinds)
        yield Line(*(start + json.dumps(one, ensure_ascii=False) for one in (value, key)))


def _same(text: str) -> Line:
    return Line(text, text)


@dataclass(frozen=True, slots=True)
class LinePair:
    """Two lines next to each other, None for a missing one; `same` means that nothing is highlighted."""

    before: str | None
    after: str | None
    same: bool = False


def line_pairs(before: Sequence[Line], after: Sequence[Line]) -> list[LinePair]:
    """Pair the lines of two values."""
    old, new = ([line.key for line in lines] for lines in (before, after))
    matcher = SequenceMatcher(None, old, new, autojunk=len(old) + len(new) > QUICK_LINES)
    pairs: list[LinePair] = []
    for kind, i, i_end, j, j_end in matcher.get_opcodes():
        for one, other in zip_longest(before[i:i_end], after[j:j_end]):
            left, right = (line.text if line is not None else None for line in (one, other))
            pairs.append(LinePair(left, right, kind == "equal"))
    return pairs


def parts_that_differ(one: Sequence[Any], other: Sequence[Any]) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the differing part of two texts: start and end in each, without common prefix and suffix."""
    start = equal_start(one, other)
    end = equal_start(one[start:][::-1], other[start:][::-1])
    return (start, len(one) - end), (start, len(other) - end)
