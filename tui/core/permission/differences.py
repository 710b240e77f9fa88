"""Definitions of tools and their digests, and the differences of two, judged for a caller. Pure.

A definition is all parts of a tool that a model reads or the user approves. Two are compared place by place,
and the worst difference decides the effect of the change. One that cannot be judged is breaking, because the
user reads it anyway. New texts are searched for suspicious content.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from tui.core.comparison.values import Change, Path, Place, compare_members
from tui.core.comparison.values import Difference as ValueDifference

Definition = Mapping[str, Any]

KEYS = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")
"""The keys of a definition. Nobody reads the others (`_meta`, icons), and some servers generate them anew
each time."""

INSTRUCTIONS = ""
"""The name under which a server's instructions are stored; no tool can have it."""


def definition_of(raw: Mapping[str, Any]) -> Definition:
    """Return the definition in a tool as its server listed it."""
    return {key: raw[key] for key in KEYS if key in raw}


def instructions_definition(text: str) -> Definition:
    """Return a server's instructions as a definition."""
    return {"instructions": text}


def digest_of(definition: Definition) -> str:
    """Return the SHA-256 of a definition. The order of keys has no effect, every other character does."""
    text = json.dumps(definition, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def suspicion(text: str) -> str:
    """Return the reason why a text is suspicious, in a few words, or ""."""
    # Compiles many patterns, which are not needed if nothing has changed.
    from tui.core.hidden_text.scan import MAX_CHARS, scan

    signs = dict.fromkeys(one.sign.value for one in scan(text, ""))
    if not signs and len(text) > MAX_CHARS:
        return "longer than a description"
    return ", ".join(signs)


class ChangeEffect(StrEnum):
    """The effect of a change on a caller."""

    COMPATIBLE = "compatible"
    BREAKING = "breaking"
    SUSPICIOUS = "suspicious"


ORDER = (ChangeEffect.COMPATIBLE, ChangeEffect.BREAKING, ChangeEffect.SUSPICIOUS)
"""From harmless to harmful."""

ABSENT = object()
"""Stands for a missing value; null is a value."""

MAX_DIFFERENCES = 200
MAX_DEPTH = 100
MAX_COMPARED = 1024 * 1024
"""Maximum characters of a definition that is compared place by place."""

ELSEWHERE = "…"
"""Path of the last entry of a truncated list; it represents all omitted differences."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One place that differs. `before` or `after` is `ABSENT` if there is no value.

    `why` says in a few words what makes it breaking or suspicious, or is "".
    """

    path: str
    before: Any
    after: Any
    effect: ChangeEffect = ChangeEffect.COMPATIBLE
    why: str = ""


def effect_of(differences: Sequence[Difference]) -> ChangeEffect:
    """Return the worst effect."""
    return max((one.effect for one in differences), key=ORDER.index, default=ChangeEffect.COMPATIBLE)


def differences_of(before: Definition | None, after: Definition) -> tuple[Difference, ...]:
    """Return where `after` differs from `before`, which is None for a new definition.

    In a new one, each suspicious text is a difference of its own.
    """
    if before is None:
        found = [Difference("", ABSENT, after)]
        found += [
            Difference(path, ABSENT, text, ChangeEffect.SUSPICIOUS, why)
            for path, text in texts_of(after)
            if (why := suspicion(text))
        ]
        return tuple(found[:MAX_DIFFERENCES])
    if max(len(json.dumps(before)), len(json.dumps(after))) > MAX_COMPARED:
        return (Difference(ELSEWHERE, ABSENT, ABSENT, ChangeEffect.BREAKING, "too large to compare"),)
    found = []
    for one in compare_members(before, after, _place):
        found.append(_judged(one, after))
        if len(found) > MAX_DIFFERENCES:
            worst = max(found.pop().effect, found[-1].effect, key=ORDER.index)
            found[-1] = Difference(ELSEWHERE, ABSENT, ABSENT, worst, "more differences than listed")
    return tuple(found)


def texts_of(value: Any, path: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield all strings in a value with their paths, including names of properties."""
    if isinstance(value, str):
        yield path, value
    if depth >= MAX_DEPTH:
        return
    if isinstance(value, Mapping):
        for key, inner in value.items():
            here = f"{path}.{key}" if path else str(key)
            yield here, str(key)
            yield from texts_of(inner, here, depth + 1)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from texts_of(inner, f"{path}[{number}]", depth + 1)


_SCHEMAS = ("inputSchema", "outputSchema")
_HOLDERS = ("properties", "$defs", "definitions")
"""Keywords whose members are schemas."""


def _place(path: Path) -> Place:
    """Return how definitions are compared at a path: schemas keyword by keyword, other values as a whole."""
    if not path or (path[0] in _SCHEMAS and len(path) == 1):
        return Place.OBJECT
    if path[0] == "annotations":
        return Place.MEMBERS if len(path) == 1 else Place.WHOLE
    is_schema = path[0] in _SCHEMAS
    for step in path[1:]:
        if not is_schema:
            is_schema = True
        elif step in _HOLDERS:
            is_schema = False
        elif step not in ("items", "additionalProperties"):
            return Place.WHOLE
    return Place.OBJECT if is_schema else Place.MEMBERS


_WORDS = frozenset({"title", "description", "$comment", "examples", "default", "deprecated"})
"""Keywords that constrain nothing."""

_SAFER = {"readOnlyHint": True, "destructiveHint": False, "openWorldHint": False}
_AT_LEAST = frozenset({"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"})
_AT_MOST = frozenset({"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"})


def _judged(one: ValueDifference, definition: Definition) -> Difference:
    """Return a difference with its effect: suspicious if the new text is, breaking if it may break a call."""
    was = ABSENT if one.kind is Change.ADDED else one.before
    now = ABSENT if one.kind is Change.REMOVED else one.after
    path = ".".join(map(str, one.steps))
    key = str(one.steps[-1])
    broken = ""
    if one.steps[0] == "annotations":
        if key in _SAFER and now is _SAFER[key]:  # a server may send anything here, also a list
            return Difference(path, was, now, ChangeEffect.SUSPICIOUS, "claims to be safer than before")
        if key in ("readOnlyHint", "destructiveHint"):
            broken = "may do more than before"
    elif one.steps[0] in _SCHEMAS:
        broken = _broken_schema(one.steps, was, now, definition)
    known = {text for _, text in texts_of(was)} if was is not ABSENT else set()
    texts = [text for _, text in texts_of(now) if text not in known] if now is not ABSENT else []
    before = {suspicion(text) for text in known}
    suspicions = (suspicion(text) for text in (*texts, key))
    if why := next((why for why in suspicions if why and why not in before), ""):
        return Difference(path, was, now, ChangeEffect.SUSPICIOUS, why)
    return Difference(path, was, now, ChangeEffect.BREAKING if broken else ChangeEffect.COMPATIBLE, broken)


def _broken_schema(path: Path, was: Any, now: Any, definition: Definition) -> str:
    gives = path[0] == "outputSchema"
    place = _place(path)
    if place is Place.OBJECT and len(path) > 2 and path[-2] == "properties":
        if now is ABSENT:
            return "no longer in results" if gives else "argument removed"
        if was is ABSENT:
            holder: Any = definition
            for step in path[:-2]:
                holder = holder.get(step) if isinstance(holder, Mapping) else None
            required = holder.get("required") if isinstance(holder, Mapping) else None
            needed = not gives and isinstance(required, list) and path[-1] in required
            return "new required argument" if needed else ""
    is_schema = place is Place.OBJECT and path[-1] not in ("items", "additionalProperties")
    if is_schema or (isinstance(was, Mapping) and path[-1] in ("items", "additionalProperties")):
        return "" if was is ABSENT and gives else "different schema"
    return _broken(str(path[-1]), was, now, gives=gives)


def _broken(key: str, was: Any, now: Any, *, gives: bool) -> str:
    """Return what a changed keyword breaks, or "".

    A tool must not accept less than before, nor return more.
    """
    if key in _WORDS:
        return ""
    if key == "required":
        less, more = _gone(was, now), _gone(now, was)
        if gives:
            return f"results may lack {', '.join(less)}" if less else ""
        return f"now required: {', '.join(more)}" if more else ""
    if gives:
        was, now = now, was
    if key in ("type", "enum"):
        if now is ABSENT:
            return ""
        if was is ABSENT:
            return "different values"
        kinds = _kinds(was) - _kinds(now)
        return f"{'now also' if gives else 'no longer'} {', '.join(sorted(kinds))}" if kinds else ""
    if key in _AT_LEAST | _AT_MOST:
        if now is ABSENT:
            return ""
        if not (_is_number(was) and _is_number(now)):
            return "different values"
        return "different values" if (now > was) == (key in _AT_LEAST) else ""
    if key == "additionalProperties" and was is False:
        return ""
    return "" if now is ABSENT and key in ("pattern", "format", "const") else "different constraint"


def _gone(before: Any, after: Any) -> list[str]:
    names = after if isinstance(after, list) else []
    return [str(name) for name in before if name not in names] if isinstance(before, list) else []


def _kinds(value: Any) -> set[str]:
    listed = value if isinstance(value, list) else [value]
    kinds = {one if isinstance(one, str) else json.dumps(one, sort_keys=True) for one in listed}
    return kinds | {"integer"} if "number" in kinds else kinds


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
