"""Definitions of tools and their digests, and the differences of two, judged for a caller. Pure.

A definition is all parts of a tool that a model reads or the user approves. Two are compared place by place,
and the worst difference decides the effect of the change. What a changed schema means is judged over all its
places together (`schema_changes`). A difference that cannot be judged is breaking, because the user reads it
anyway. New texts are searched for suspicious content.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from tui.core.comparison.values import Change, Path, Place, compare_members
from tui.core.comparison.values import Difference as ValueDifference
from tui.core.language.translate import as_message, c_message, listed, message
from tui.core.permission.change_effects import ABSENT, ORDER, ChangeEffect
from tui.core.permission.schema_changes import schema_changes
from tui.core.permission.schema_pair import KEYWORDS, SHAPE, SchemaChange, has_same_words
from tui.core.schemas.schemas import SchemaTooLarge, strings
from tui.core.text import mapping

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
        return message("longer than a description")
    return listed(map(as_message, signs))


MAX_DIFFERENCES = 200
MAX_REASONS = 3
MAX_DEPTH = 100
MAX_COMPARED = 1024 * 1024
"""Maximum characters of a definition that is compared place by place."""

ELSEWHERE = "…"
"""Path of the last entry of a truncated list; it represents all omitted differences."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One place that differs. `before` or `after` is `ABSENT` if there is no value.

    `why` says in a few words what it means for callers, or is "".
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
        return (
            Difference(ELSEWHERE, ABSENT, ABSENT, ChangeEffect.BREAKING, message("too large to compare")),
        )
    found = []
    for one in _judged(before, after):
        found.append(one)
        if len(found) > MAX_DIFFERENCES:
            worst = max(found.pop().effect, found[-1].effect, key=ORDER.index)
            found[-1] = Difference(ELSEWHERE, ABSENT, ABSENT, worst, message("more differences than listed"))
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
_HOLDERS = ("properties", "patternProperties", "dependentSchemas", "$defs", "definitions")
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


HINTS = {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": False, "openWorldHint": True}
"""The hints of a tool with their defaults, each of which promises nothing."""

_HINTED = "annotations"
_READ_ONLY = {"destructiveHint": False, "idempotentHint": True}
"""Hints that mean nothing for a read-only tool, with what is true of each such tool."""

_CLAIMS = ("readOnlyHint", "destructiveHint", "openWorldHint")
"""Hints that make hosts less careful."""

_TEXTS = frozenset({"title", "description", "instructions", "markdownDescription", "enumDescriptions"})
_EXAMPLES = frozenset({"examples", "example", "enumNames"})
"""Keywords that tell models what to pass."""

_REMARKS = frozenset({"default", "deprecated", "readOnly", "writeOnly"})
"""Other keywords that constrain nothing, and that models read."""

_UNREAD = frozenset(
    {"$comment", "$schema", "$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary"}
    | {"$defs", "definitions", "xml", "externalDocs", "discriminator", "order", "propertyOrder"}
)
"""Keywords that neither constrain nor describe anything."""


@dataclass(frozen=True, slots=True)
class _Found:
    """A difference as it was found. `covers` are its paths, several if its keywords belong together."""

    steps: Path
    covers: tuple[Path, ...]
    was: Any
    now: Any

    @property
    def key(self) -> str:
        return str(self.steps[-1])

    @property
    def is_keyword(self) -> bool:
        """Whether this is a keyword of a schema, not a name of a property."""
        return self.steps[0] in _SCHEMAS and len(self.steps) > 1 and _place(self.steps[:-1]) is Place.OBJECT


def _judged(before: Definition, after: Definition) -> Iterator[Difference]:
    """Yield the differences of two definitions with their effects."""
    found = _joined(compare_members(before, after, _place))
    meanings = _Meanings(before, after)
    for one in found:
        related = meanings.of(one)
        if related is None:
            yield _difference(one, ChangeEffect.BREAKING, message("too large to compare"))
        elif related:
            yield _difference(one, *_worst(related))
        elif not (one.key == "required" and one.is_keyword and _is_of_properties(one, found)):
            yield _difference(one, *(_hint(one, before, after) if one.steps[0] == _HINTED else _plain(one)))
    for change in meanings.others():
        where = _Found(change.steps, (change.steps,), change.before, change.after)
        yield _difference(where, change.effect, change.why)


def _joined(found: Sequence[ValueDifference]) -> Sequence[_Found]:
    """Return differences; those of several keywords that spell the shape of one schema are one."""
    sound = [
        _Found(
            one.steps,
            (one.steps,),
            ABSENT if one.kind is Change.ADDED else one.before,
            ABSENT if one.kind is Change.REMOVED else one.after,
        )
        for one in found
    ]
    shapes: dict[Path, list[_Found]] = {}
    for one in sound:
        if one.key in SHAPE and one.is_keyword:
            shapes.setdefault(one.steps[:-1], []).append(one)
    joined = list[_Found]()
    for one in sound:
        mine = shapes.get(one.steps[:-1], ()) if one.key in SHAPE and one.is_keyword else ()
        if len(mine) < 2:
            joined.append(one)
        elif one is mine[0]:
            was = {each.key: each.was for each in mine if each.was is not ABSENT}
            now = {each.key: each.now for each in mine if each.now is not ABSENT}
            covers = tuple(each.steps for each in mine)
            joined.append(_Found(one.steps[:-1], covers, was or ABSENT, now or ABSENT))
    return joined


def _is_of_properties(one: _Found, found: Sequence[_Found]) -> bool:
    """Return whether `required` only differs in properties that are new or gone, which say so themselves."""
    names = {str(name) for name in {*strings(one.was)} ^ {*strings(one.now)}}
    known = {each.steps for each in found if ABSENT in (each.was, each.now)}
    return bool(names) and all((*one.steps[:-1], "properties", name) in known for name in names)


class _Meanings:
    """What the changed schemas of a definition mean, by the places where they differ."""

    def __init__(self, before: Definition, after: Definition) -> None:
        self._all: list[SchemaChange] = []
        self._at: dict[Path, list[SchemaChange]] = {}
        self._below: dict[Path, list[SchemaChange]] = {}
        self._used: set[int] = set()
        self._too_large: set[str] = set()
        for key in _SCHEMAS:
            was, now = before.get(key), after.get(key)
            if isinstance(was, Mapping) and isinstance(now, Mapping) and was != now:
                try:
                    self._all += schema_changes(was, now, (key,), gives=key == "outputSchema")
                except (SchemaTooLarge, RecursionError):
                    self._too_large.add(key)
        for change in self._all:
            for place in change.places:
                self._at.setdefault(place, []).append(change)
                for length in range(1, len(place)):
                    self._below.setdefault(place[:length], []).append(change)

    def of(self, one: _Found) -> Sequence[SchemaChange] | None:
        """Return the changes that a difference is part of, or has as its parts; None if it is unknown."""
        if one.steps[0] in self._too_large:
            return None
        related = list[SchemaChange]()
        for path in one.covers:
            related += self._below.get(path, ())
            for length in range(2, len(path) + 1):
                related += self._at.get(path[:length], ())
        self._used |= set(map(id, related))
        return related

    def others(self) -> Sequence[SchemaChange]:
        """Return the changes without a difference at their place, such as those behind another reference."""
        return [
            one for one in self._all if id(one) not in self._used and one.effect is not ChangeEffect.COSMETIC
        ]


def _worst(related: Sequence[SchemaChange]) -> tuple[ChangeEffect, str]:
    effect = max((one.effect for one in related), key=ORDER.index)
    reasons = dict.fromkeys(one.why for one in related if one.effect is effect and one.why)
    first, *others = [*list(reasons)[:MAX_REASONS], ""]
    return effect, reduce(
        lambda said, one: message("{first}; {others}", first=said, others=one), others[:-1], first
    )


def _plain(one: _Found) -> tuple[ChangeEffect, str]:
    """Return the effect of a difference that changes no accepted value, and why."""
    key, was, now = one.key, one.was, one.now
    if len(one.steps) == 1 and key in _SCHEMAS:
        is_new = was is ABSENT and key == "outputSchema"
        return (
            (ChangeEffect.COMPATIBLE, c_message("definition", "new"))
            if is_new
            else (ChangeEffect.BREAKING, message("different schema"))
        )
    if len(one.steps) == 1 and key == "name" and ABSENT not in (was, now):
        return ChangeEffect.BREAKING, message("renamed")
    if (one.is_keyword or len(one.steps) == 1) and key in _TEXTS:
        return ChangeEffect.COSMETIC if has_same_words(was, now) else ChangeEffect.ROUTING, ""
    if one.is_keyword and key in _EXAMPLES:
        return ChangeEffect.ROUTING, message("different {key}", key=key) if ABSENT not in (was, now) else ""
    if not one.is_keyword and one.steps[0] not in _SCHEMAS:
        return ChangeEffect.COMPATIBLE, ""
    if key in _REMARKS and one.is_keyword:
        return ChangeEffect.COMPATIBLE, message("different {key}", key=key) if ABSENT not in (
            was,
            now,
        ) else ""
    if one.is_keyword and not (key in _UNREAD or key in KEYWORDS or key.startswith("x-")):
        return ChangeEffect.COMPATIBLE, message("unknown keyword")
    return ChangeEffect.COSMETIC, ""


def _hint(one: _Found, old: Definition, new: Definition) -> tuple[ChangeEffect, str]:
    """Return the effect of a changed annotation. A missing hint has its default."""
    if len(one.steps) == 1:
        inner = mapping(one.now if isinstance(one.now, Mapping) else {})
        found = (_Found((_HINTED, key), (), ABSENT, value) for key, value in inner.items())
        parts = [_hint(each, old, new) for each in found]
        worst = max(
            parts, key=lambda part: ORDER.index(part[0]), default=(ChangeEffect.BREAKING, message("removed"))
        )
        return max(
            worst, (ChangeEffect.BREAKING, message("not an object")), key=lambda part: ORDER.index(part[0])
        )
    key, was, now = one.key, one.was, one.now
    if key == "title":
        return ChangeEffect.COSMETIC if has_same_words(was, now) else ChangeEffect.ROUTING, ""
    if key not in HINTS:
        return ChangeEffect.COMPATIBLE, ""
    if now is not ABSENT and not isinstance(now, bool):
        return ChangeEffect.BREAKING, message("neither true nor false")
    before, after = (value if isinstance(value, bool) else HINTS[key] for value in (was, now))
    if key in _READ_ONLY:
        if _is_read_only(new):
            return ChangeEffect.COSMETIC, message("the tool is read-only")
        before = _READ_ONLY[key] if _is_read_only(old) else before
    if before is after:
        return ChangeEffect.COSMETIC, message("the default") if after is HINTS[key] else message("as before")
    if after is HINTS[key]:
        why = (
            message("no longer idempotent") if key == "idempotentHint" else message("may do more than before")
        )
        return ChangeEffect.BREAKING, why
    if key in _CLAIMS:
        return ChangeEffect.SUSPICIOUS, message("claims to be safer than before")
    return ChangeEffect.COMPATIBLE, message("now idempotent")


def _is_read_only(definition: Definition) -> bool:
    return mapping(definition.get(_HINTED)).get("readOnlyHint") is True


def _difference(one: _Found, effect: ChangeEffect, why: str) -> Difference:
    """Return a difference, suspicious if a new text is."""
    path = ".".join(map(str, one.steps))
    if (found := suspicion_of_change(one.was, one.now, one.key)) and effect is not ChangeEffect.SUSPICIOUS:
        effect, why = ChangeEffect.SUSPICIOUS, found
    return Difference(path, one.was, one.now, effect, why)


def suspicion_of_change(was: Any, now: Any, key: str = "") -> str:
    """Return why the new texts of a value are suspicious, in a way that the earlier ones were not, or ""."""
    known = {text for _, text in texts_of(was)} if was is not ABSENT else set()
    texts = [text for _, text in texts_of(now) if text not in known] if now is not ABSENT else []
    before = {suspicion(text) for text in known}
    suspicions = (suspicion(text) for text in (*texts, key))
    return next((why for why in suspicions if why and why not in before), "")
