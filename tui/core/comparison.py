"""The differences between two JSON values, by path. Pure, and bounded for values of any size.

Items of lists are matched before they are compared: by a name or id that each has, otherwise by equality, so
that one inserted item is one difference.
"""

import json
import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from functools import lru_cache
from typing import Any

from tui.core.text import clean_line
from tui.traffic.spans.span_values import compact

LONG_TEXT = 64 * 1024
"""Texts longer than this are only compared for equality."""

Path = tuple[str | int, ...]


class Known(StrEnum):
    """A kind of value that is known to change."""

    TIME = "time"
    UUID = "uuid"
    ID = "id"
    DURATION = "duration"


_UUID = re.compile(r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b")
_TIME = re.compile(
    r"\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?\s?(?:Z|[+-]\d{2}:?\d{2})?)?"
    r"|\b\d{1,2}:\d{2}:\d{2}(?:[.,]\d{1,9})?\b"
)
_DURATION = re.compile(r"\b\d+(?:\.\d+)?\s?(?:ns|us|µs|ms|s|sec|secs|seconds?|min|minutes?|milliseconds?)\b")
_PATTERNS = ((Known.UUID, _UUID), (Known.TIME, _TIME), (Known.DURATION, _DURATION))

_ID_KEYS = frozenset(
    {"id", "token", "cursor", "nextcursor", "requeststate", "etag", "nonce", "traceparent", "progresstoken"}
)
_ID_ENDINGS = ("Id", "ID", "_id", "-id", "Token", "_token")
_TIME_KEYS = re.compile(r"(?:^|_)(?:time|timestamp|date|now|at)$|(?:Time|Timestamp|Date|At)$|^lastModified$")
_DURATION_KEYS = re.compile(
    r"(?:^|_)(?:ms|duration|elapsed|latency|seconds|took|uptime|ttl)$"
    r"|(?:Ms|Millis|Duration|Elapsed|Latency|Seconds|Uptime)$"
)


def is_known(path: Path, before: Any, after: Any, kinds: frozenset[Known]) -> bool:
    """Return whether two different scalars differ only in parts that change from run to run.

    The last name of the path tells whether a bare number is an id, time or duration.
    """
    if isinstance(before, bool) or isinstance(after, bool):
        return False
    name = next((step for step in reversed(path) if isinstance(step, str)), "")
    if Known.ID in kinds and (name.lower() in _ID_KEYS or name.endswith(_ID_ENDINGS)):
        if isinstance(before, str | int | float) and isinstance(after, str | int | float):
            return True
    if isinstance(before, int | float) and isinstance(after, int | float):
        if Known.TIME in kinds and _TIME_KEYS.search(name) and min(before, after) > 1e8:
            return True
        return Known.DURATION in kinds and bool(_DURATION_KEYS.search(name))
    if isinstance(before, str) and isinstance(after, str) and max(len(before), len(after)) <= LONG_TEXT:
        return bare(before, kinds) == bare(after, kinds)
    return False


def bare(text: str, kinds: frozenset[Known]) -> str:
    for kind, pattern in _PATTERNS:
        if kind in kinds:
            text = pattern.sub(f"<{kind}>", text)
    return text


@dataclass(frozen=True, slots=True)
class Masks:
    """The values that a comparison ignores: `kinds` that change from run to run, and `paths` by pattern.

    Paths are as `path_text` writes them; `*` is (part of) a step, `**` any number.
    """

    paths: tuple[str, ...] = ()
    kinds: frozenset[Known] = frozenset()

    def hides(self, path: Path) -> bool:
        if not self.paths:
            return False
        text = path_text(path)
        return any(_pattern(glob).fullmatch(text) for glob in self.paths)


RUN_TO_RUN = Masks(kinds=frozenset(Known))
"""Ignores everything that changes from run to run."""

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
            quoted = step.replace("\\", "\\\\").replace('"', '\\"')
            parts.append(f'["{quoted}"]')
    return "".join(parts)


@lru_cache(maxsize=256)
def _pattern(glob: str) -> re.Pattern[str]:
    """Return the pattern for paths. `**` also matches nothing, including the adjacent dot."""
    made = ""
    for piece in re.findall(r"\*\*\.?|\*|\[\*\]|[^*]", glob):
        made += {"**.": r"(?:.*[.\]])?", "**": ".*", "*": r"[^.\[\]]*", "[*]": r"\[\d+\]"}.get(
            piece
        ) or re.escape(piece)
    return re.compile(made, re.DOTALL)


__all__ = ["RUN_TO_RUN", "Change", "Comparison", "Difference", "Known", "Masks", "compare", "text_lines"]

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

    `path` is text (`result.content[0].text`), raw: clean it before it is shown. The index of a list item is
    its index in the later value, if that has the item.
    """

    path: str
    kind: Change
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class Comparison:
    """The differences in the order of the later value; there may be more if it is not `complete`."""

    differences: tuple[Difference, ...]
    masked: int = 0
    complete: bool = True

    @property
    def same(self) -> bool:
        return self.complete and not self.differences


_NO_MASKS = Masks()
_Names = list[Hashable]


def compare(before: Any, after: Any, masks: Masks = _NO_MASKS) -> Comparison:
    """Compare two JSON values, as of `json.loads`, except for what `masks` ignores."""
    work = _Walker(masks)
    work.walk((), before, after)
    return Comparison(tuple(work.found), work.masked, work.complete)


def text_lines(comparison: Comparison) -> list[str]:
    """Return a comparison as cleaned lines: `+ path: value`, `- path: value`, `~ path: before -> after`."""
    lines = [_line(difference) for difference in comparison.differences]
    if comparison.masked:
        differences = "difference" if comparison.masked == 1 else "differences"
        lines.append(f"({comparison.masked:,} expected {differences} hidden)")
    if not comparison.complete:
        lines.append("(too large to compare completely)")
    return lines


def _line(difference: Difference) -> str:
    where = clean_line(difference.path, 160) or "the whole"
    before, after = compact(difference.before, VALUE_CHARS), compact(difference.after, VALUE_CHARS)
    match difference.kind:
        case Change.ADDED:
            return f"+ {where}: {after}"
        case Change.REMOVED:
            return f"- {where}: {before}"
        case Change.MOVED:
            return f"~ {where}: reordered, {before} -> {after}"
        case _:
            return f"~ {where}: {before} -> {after}"


class _Walker:
    def __init__(self, masks: Masks) -> None:
        self._masks = masks
        self._left = MOST_NODES
        self.found: list[Difference] = []
        self.masked = 0
        self.complete = True

    def walk(self, path: Path, before: Any, after: Any) -> None:
        self._left -= 1
        if self._left < 0 or len(self.found) >= MOST_DIFFERENCES:
            self.complete = False
        elif len(path) >= MAX_DEPTH:
            if not _equal(before, after):
                self._note(path, Change.CHANGED, before, after)
        elif isinstance(before, dict) and isinstance(after, dict):
            self._objects(path, before, after)
        elif isinstance(before, list) and isinstance(after, list):
            self._lists(path, before, after)
        elif not _same_scalar(before, after):
            if is_known(path, before, after, self._masks.kinds):
                self.masked += 1
            else:
                self._note(path, Change.CHANGED, before, after)

    def _objects(self, path: Path, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
        for key, value in after.items():
            if key in before:
                self.walk((*path, key), before[key], value)
            else:
                self._note((*path, key), Change.ADDED, None, value)
            if not self.complete:
                return
        for key, value in before.items():
            if key not in after:
                self._note((*path, key), Change.REMOVED, value, None)

    def _lists(self, path: Path, before: Sequence[Any], after: Sequence[Any]) -> None:
        names = _named(before, after)
        if names is not None:
            self._by_name(path, before, after, *names)
            return
        for old, new in self._matched(before, after):
            if old is None and new is not None:
                self._note((*path, new), Change.ADDED, None, after[new])
            elif new is None and old is not None:
                self._note((*path, old), Change.REMOVED, before[old], None)
            elif old is not None and new is not None:
                self.walk((*path, new), before[old], after[new])
            if not self.complete:
                return

    def _by_name(
        self,
        path: Path,
        before: Sequence[Any],
        after: Sequence[Any],
        old: list[Hashable],
        new: list[Hashable],
    ) -> None:
        places, new_names = {name: index for index, name in enumerate(old)}, set(new)
        for index, name in enumerate(new):
            if name in places:
                self.walk((*path, index), before[places[name]], after[index])
            else:
                self._note((*path, index), Change.ADDED, None, after[index])
            if not self.complete:
                return
        for index, name in enumerate(old):
            if name not in new_names:
                self._note((*path, index), Change.REMOVED, before[index], None)
        kept_old, kept_new = [n for n in old if n in new_names], [n for n in new if n in places]
        if kept_old != kept_new:
            self._note(path, Change.MOVED, kept_old, kept_new)

    def _matched(
        self, before: Sequence[Any], after: Sequence[Any]
    ) -> Iterable[tuple[int | None, int | None]]:
        if max(len(before), len(after)) > MOST_MATCHED:
            return _side_by_side(0, len(before), 0, len(after))
        old, new = [self._key(item) for item in before], [self._key(item) for item in after]
        if len(before) == len(after) and old == new:
            return _side_by_side(0, len(before), 0, len(after))
        return _aligned(SequenceMatcher(None, old, new, autojunk=False))

    def _key(self, item: Any) -> Hashable:
        """Return a key that equal items share. For a large item, only its start is used."""
        self._left -= 1
        return compact(item, 400) if isinstance(item, dict | list | str) else json.dumps(item)

    def _note(self, path: Path, kind: Change, before: Any, after: Any) -> None:
        if self._masks.hides(path):
            self.masked += 1
        elif len(self.found) >= MOST_DIFFERENCES:
            self.complete = False
        else:
            self.found.append(Difference(path_text(path), kind, before, after))


def _aligned(matcher: "SequenceMatcher[Hashable]") -> Iterator[tuple[int | None, int | None]]:
    for _, old, old_end, new, new_end in matcher.get_opcodes():
        yield from _side_by_side(old, old_end, new, new_end)


def _side_by_side(old: int, old_end: int, new: int, new_end: int) -> Iterator[tuple[int | None, int | None]]:
    for step in range(max(old_end - old, new_end - new)):
        yield (
            old + step if old + step < old_end else None,
            new + step if new + step < new_end else None,
        )


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


def _same_scalar(before: Any, after: Any) -> bool:
    if isinstance(before, bool) or isinstance(after, bool):
        return before is after
    if isinstance(before, dict | list) or isinstance(after, dict | list):
        return False
    return bool(before == after)


def _equal(before: Any, after: Any) -> bool:
    """Return whether two values of any depth are equal; Python's own comparison recurses."""
    stack = [(before, after)]
    for _ in range(MOST_NODES):
        if not stack:
            return True
        one, other = stack.pop()
        if isinstance(one, dict) and isinstance(other, dict):
            if one.keys() != other.keys():
                return False
            stack.extend((value, other[key]) for key, value in one.items())
        elif isinstance(one, list) and isinstance(other, list):
            if len(one) != len(other):
                return False
            stack.extend(zip(one, other, strict=True))
        elif not _same_scalar(one, other):
            return False
    return False
