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
    compare = _Comparison()
    for key, old, new in _changed(before, after):
        match key:
            case "inputSchema" | "outputSchema":
                compare.schemas(key, old, new, gives=key == "outputSchema")
            case "annotations":
                compare.annotations(old, new)
            case _:
                compare.add(key, old, new, "")
    return tuple(compare.found)


def texts_of(value: Any, path: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield all strings in a value with their paths, including names of properties."""
    if isinstance(value, str):
        yield path, value
    if depth >= MAX_DEPTH:
        return
    if isinstance(value, Mapping):
        for key, inner in value.items():
            here = _joined(path, str(key))
            yield here, str(key)
            yield from texts_of(inner, here, depth + 1)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from texts_of(inner, f"{path}[{number}]", depth + 1)


def _changed(before: Any, after: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield the keys whose values differ, with both values: those of `before` first, then the new ones."""
    old, new = (value if isinstance(value, Mapping) else {} for value in (before, after))
    for key in dict.fromkeys((*old, *new)):
        was, now = old.get(key, ABSENT), new.get(key, ABSENT)
        if not _same(was, now):
            yield key, was, now


def _joined(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _same(before: Any, after: Any) -> bool:
    """Whether two values are the same JSON; 1, 1.0 and true are three values."""
    if before is ABSENT or after is ABSENT:
        return before is after
    return json.dumps(before, sort_keys=True) == json.dumps(after, sort_keys=True)


_WORDS = frozenset({"title", "description", "$comment", "examples", "default", "deprecated"})
"""Keywords that constrain nothing."""

_AT_LEAST = frozenset({"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"})
_AT_MOST = frozenset({"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"})


class _Comparison:
    """Collects differences, at most `MAX_DIFFERENCES`."""

    def __init__(self) -> None:
        self.found: list[Difference] = []

    def annotations(self, old: Any, new: Any) -> None:
        for key, was, now in _changed(old, new):
            path = f"annotations.{key}"
            harmless = key == "readOnlyHint" and now is True
            harmless = harmless or (key in ("destructiveHint", "openWorldHint") and now is False)
            if harmless:
                self._put(path, was, now, ChangeEffect.SUSPICIOUS, "claims to be safer than before")
            else:
                is_mark = key in ("readOnlyHint", "destructiveHint")
                self.add(path, was, now, "may do more than before" if is_mark else "")

    def schemas(self, path: str, old: Any, new: Any, *, gives: bool, depth: int = 0) -> None:
        """Compare two schemas; `gives` says that they describe what the tool returns, not what it takes."""
        if not isinstance(old, Mapping) or not isinstance(new, Mapping) or depth >= MAX_DEPTH:
            added = old is ABSENT and gives
            self.add(path, old, new, "" if added else "different schema")
            return
        for key, was, now in _changed(old, new):
            place = _joined(path, key)
            if key in ("items", "additionalProperties") and isinstance(was, Mapping):
                self.schemas(place, was, now, gives=gives, depth=depth + 1)
            elif key in ("properties", "$defs", "definitions"):
                needed = new.get("required")
                for name, one, other in _changed(was, now):
                    inner = _joined(place, name)
                    if key != "properties" or not (one is ABSENT or other is ABSENT):
                        self.schemas(inner, one, other, gives=gives, depth=depth + 1)
                    elif other is ABSENT:
                        self.add(inner, one, other, "no longer in results" if gives else "argument removed")
                    else:
                        is_needed = not gives and isinstance(needed, list) and name in needed
                        self.add(inner, one, other, "new required argument" if is_needed else "")
            else:
                self.add(place, was, now, _broken(key, was, now, gives=gives))

    def add(self, path: str, old: Any, new: Any, broken: str) -> None:
        """Add a difference: suspicious if the new text is suspicious, breaking if `broken` says how."""
        known = {text for _, text in texts_of(old)} if old is not ABSENT else set()
        texts = [text for _, text in texts_of(new) if text not in known] if new is not ABSENT else []
        texts.append(path.rpartition(".")[2])
        before = {suspicion(text) for text in known}
        why = next((why for text in texts if (why := suspicion(text)) and why not in before), "")
        if why:
            self._put(path, old, new, ChangeEffect.SUSPICIOUS, why)
        else:
            self._put(path, old, new, ChangeEffect.BREAKING if broken else ChangeEffect.COMPATIBLE, broken)

    def _put(self, path: str, old: Any, new: Any, effect: ChangeEffect, why: str) -> None:
        if len(self.found) < MAX_DIFFERENCES:
            self.found.append(Difference(path, old, new, effect, why))
            return
        last = self.found[-1]
        worst = max(last.effect, effect, key=ORDER.index)
        self.found[-1] = Difference(ELSEWHERE, ABSENT, ABSENT, worst, "more differences than listed")


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
