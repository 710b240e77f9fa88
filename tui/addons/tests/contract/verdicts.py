"""What changed between two listings of a server, with a verdict for each change. Pure.

Tools and instructions are judged by the engine that asks the user about changed definitions. Prompts,
resources and capabilities are judged here, with the same verdicts. Schemas are compared with their references
resolved: what is only written in another way is no difference.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tui.addons.tests.contract.listing import LISTS, OTHERS, Entries, Kind, ServerListing
from tui.core.jsonrpc.protocol import is_modern
from tui.core.jsonrpc.reader import REFERENCES, local_target, reference
from tui.core.permission.change_effects import ABSENT, ORDER, ChangeEffect
from tui.core.permission.differences import (
    HINTS,
    Difference,
    differences_of,
    instructions_definition,
    suspicion_of_change,
)
from tui.core.permission.schema_pair import has_same_words
from tui.core.schemas.alternatives import as_json
from tui.core.schemas.schemas import DATA, NAME_MAPS
from tui.core.text import list_in, mapping, text_in

_WORDS = ("name", "title", "description")


@dataclass(frozen=True, slots=True)
class DefinitionDifference:
    """One difference between two listings. Names, paths and values are raw."""

    kind: Kind
    name: str
    difference: Difference

    @property
    def effect(self) -> ChangeEffect:
        return self.difference.effect

    @property
    def why(self) -> str:
        return self.difference.why or WHY.get(self.effect, "")

    @property
    def place(self) -> str:
        """The place in a few words: "tool get_weather: inputSchema.properties.units"."""
        head = f"{self.kind} {self.name}" if self.name else str(self.kind)
        return f"{head}: {self.difference.path}" if self.difference.path else head


WHY = {
    ChangeEffect.ROUTING: "the model may choose differently",
    ChangeEffect.COMPATIBLE: "existing calls still work",
    ChangeEffect.COSMETIC: "calls and the model notice nothing",
    ChangeEffect.BREAKING: "existing calls may fail",
}
"""The reason of a verdict that has no other."""


@dataclass(frozen=True, slots=True)
class ListingComparison:
    """The differences between two listings, the worst first, and notes on what was not compared."""

    differences: Sequence[DefinitionDifference] = ()
    notes: tuple[str, ...] = ()

    def of(self, effect: ChangeEffect) -> Sequence[DefinitionDifference]:
        return [one for one in self.differences if one.effect is effect]


def compare_listings(
    before: ServerListing, after: ServerListing, *, shape: bool = False
) -> ListingComparison:
    """Compare two listings; with `shape`, without the texts that models and people read.

    Suspicious texts are always compared, and those that both have are notes.
    """
    if shape:
        before, after = before.shape(), after.shape()
    alone = [kind for kind in LISTS if (kind in before.lists) != (kind in after.lists)]
    notes = [f"{kind}s: not compared, because only one side has them" for kind in alone]
    found = [one for kind in LISTS for one in _lists(kind, before, after)]
    found += _instructions(before, after)
    if before.capabilities is None or after.capabilities is None:
        if before.capabilities != after.capabilities:
            notes.append("capabilities: not compared, because only one side has them")
    elif before.protocol and after.protocol and is_modern(before.protocol) != is_modern(after.protocol):
        notes.append(
            f"capabilities: not compared, because the revisions {before.protocol} and {after.protocol} "
            "have different ones"
        )
    else:
        found += _capabilities(before.capabilities, after.capabilities)
    found.sort(key=lambda one: -ORDER.index(one.effect))
    new = tuple(one.place for one in found if one.effect is ChangeEffect.SUSPICIOUS)
    known = (one for one in suspicious_in(after) if not one.place.startswith(new))
    notes += [f"suspicious text in {one.place}: {one.why}" for one in known]
    return ListingComparison(found, (*notes, *dict.fromkeys((*before.notes, *after.notes))))


def suspicious_in(listing: ServerListing) -> Sequence[DefinitionDifference]:
    """Return the suspicious texts of a listing, as what is new since one without any text."""
    found = [
        DefinitionDifference(kind, name, one)
        for kind in LISTS
        for name, definition in listing.entries(kind).items()
        for one in _new(kind, name, definition)
    ]
    found += _instructions(replace(listing, instructions=""), listing)
    return [one for one in found if one.effect is ChangeEffect.SUSPICIOUS]


def _lists(kind: Kind, before: ServerListing, after: ServerListing) -> Iterator[DefinitionDifference]:
    if kind not in before.lists or kind not in after.lists:
        return
    old, new = before.entries(kind), after.entries(kind)
    renamed = _renamed(old, new)
    for name, definition in old.items():
        if name in new:
            if definition == new[name] and as_json(definition) == as_json(new[name]):
                continue
            for one in (*_changed(kind, definition, new[name]), *_doubled(kind, definition, new[name])):
                yield DefinitionDifference(kind, name, one)
        else:
            why = f"removed, perhaps renamed to {renamed[name]}" if name in renamed else "removed"
            gone = Difference("", definition, ABSENT, ChangeEffect.BREAKING, why)
            yield DefinitionDifference(kind, name, gone)
    for name, definition in new.items():
        if name not in old:
            for one in _new(kind, name, definition):
                yield DefinitionDifference(kind, name, one)


def _renamed(old: Entries, new: Entries) -> Mapping[str, str]:
    """Return the new names of definitions that are equal otherwise."""
    came = {as_json(one): name for name, one in new.items() if name not in old and one}
    gone = {name: as_json(one) for name, one in old.items() if name not in new and came}
    return {name: came[text] for name, text in gone.items() if text in came}


def _new(kind: Kind, name: str, definition: Mapping[str, Any]) -> Iterator[Difference]:
    first, *suspicious = differences_of(None, {**_first(definition), "name": name})
    yield Difference("", ABSENT, definition, first.effect, f"new {kind}")
    yield from suspicious
    yield from _doubled(kind, {}, definition)


def _doubled(kind: Kind, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Difference]:
    """Yield the definitions that another one of the same name hides: hosts offer either of them."""
    known = list_in(before, OTHERS)
    for one in list_in(after, OTHERS):
        if one not in known:
            why = f"a different {kind} with the same {LISTS[kind].key}"
            reasons = ", ".join(filter(None, (why, suspicion_of_change(ABSENT, one))))
            yield Difference("second definition", ABSENT, one, ChangeEffect.SUSPICIOUS, reasons)


def _first(definition: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a definition without others of the same name."""
    return {key: value for key, value in definition.items() if key != OTHERS}


def _changed(kind: Kind, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Difference]:
    before, after = _first(before), _first(after)
    if kind is Kind.TOOL:
        was, now = (
            {key: value for key, value in one.items() if key != "execution"} for one in (before, after)
        )
        for key in was.keys() & now.keys() & {"inputSchema", "outputSchema"}:
            was[key], now[key] = resolved(was[key], now[key])
        yield from (one for one in differences_of(was, now) if not _is_same_hint(one))
        yield from _task_support(before.get("execution"), after.get("execution"))
        return
    for key in dict.fromkeys((*before, *after)):
        was, now = before.get(key, ABSENT), after.get(key, ABSENT)
        if key == "arguments":
            yield from _arguments(was, now)
        elif was == now:
            continue
        elif key in _WORDS:
            yield _difference(key, was, now, _wording(was, now))
        elif key == "mimeType" and was is not ABSENT:
            yield _difference(key, was, now, ChangeEffect.BREAKING, "different type of content")
        else:
            yield _difference(key, was, now, ChangeEffect.COMPATIBLE)


def _wording(was: Any, now: Any) -> ChangeEffect:
    return ChangeEffect.COSMETIC if has_same_words(was, now) else ChangeEffect.ROUTING


def _is_same_hint(one: Difference) -> bool:
    """Return whether this is a hint of a tool that is written differently and says the same."""
    part, _, key = one.path.partition(".")
    return part == "annotations" and key in HINTS and one.effect is ChangeEffect.COSMETIC


def _difference(path: str, was: Any, now: Any, effect: ChangeEffect, why: str = "") -> Difference:
    """Return a difference, suspicious if its new texts are."""
    if suspicion := suspicion_of_change(was, now):
        return Difference(path, was, now, ChangeEffect.SUSPICIOUS, suspicion)
    return Difference(path, was, now, effect, why)


def _task_support(before: Any, after: Any) -> Iterator[Difference]:
    was, now = (text_in(mapping(one), "taskSupport") or "forbidden" for one in (before, after))
    if was == now:
        return
    effect = ChangeEffect.COMPATIBLE if now == "optional" else ChangeEffect.BREAKING
    yield Difference("execution.taskSupport", was, now, effect, f"tasks are {now}")


def _arguments(before: Any, after: Any) -> Iterator[Difference]:
    """Yield the differences between the arguments of two prompts, which are lists."""
    old, new = map(_by_name, (before, after))
    for name, was in old.items():
        path = f"arguments.{name}"
        if name not in new:
            yield _difference(path, was, ABSENT, ChangeEffect.BREAKING, "argument removed")
            continue
        now = new[name]
        needed, needs = was.get("required") is True, now.get("required") is True
        if needed != needs:
            effect = ChangeEffect.BREAKING if needs else ChangeEffect.COMPATIBLE
            why = "now required" if needs else "now optional"
            yield Difference(f"{path}.required", needed, needs, effect, why)
        for key in ("title", "description"):
            one, other = was.get(key, ABSENT), now.get(key, ABSENT)
            if one != other:
                yield _difference(f"{path}.{key}", one, other, _wording(one, other))
    for name, now in new.items():
        if name not in old:
            is_needed = now.get("required") is True
            effect = ChangeEffect.BREAKING if is_needed else ChangeEffect.COMPATIBLE
            why = "new required argument" if is_needed else "new optional argument"
            yield _difference(f"arguments.{name}", ABSENT, now, effect, why)
    if list(old) != list(new) and old.keys() == new.keys():
        yield Difference("arguments", list(old), list(new), ChangeEffect.COSMETIC, "reordered")


def _by_name(arguments: Any) -> dict[str, Mapping[str, Any]]:
    found = map(mapping, list_in({"arguments": arguments}, "arguments"))
    return {text_in(one, "name"): one for one in found}


def _instructions(before: ServerListing, after: ServerListing) -> Iterator[DefinitionDifference]:
    was, now = before.instructions, after.instructions
    if was is None or now is None or was == now:
        return
    old, new = (instructions_definition(text) if text else {} for text in (was, now))
    for one in differences_of(old, new):
        yield DefinitionDifference(
            Kind.INSTRUCTIONS, "", Difference("", one.before, one.after, one.effect, one.why)
        )


def _capabilities(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[DefinitionDifference]:
    for name in dict.fromkeys((*before, *after)):
        was, now = before.get(name, ABSENT), after.get(name, ABSENT)
        for path, one, other in _flags(was, now):
            effect, why = _capability(path, one, other)
            if effect is ChangeEffect.COSMETIC:
                continue
            if name == "experimental" and effect is ChangeEffect.BREAKING:
                effect, why = ChangeEffect.COMPATIBLE, "experimental"
            yield DefinitionDifference(Kind.CAPABILITY, name, _difference(path, one, other, effect, why))


def _flags(was: Any, now: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield what differs in one capability, by path."""
    if isinstance(was, Mapping) and isinstance(now, Mapping):
        for key in dict.fromkeys((*was, *now)):
            if was.get(key, ABSENT) != now.get(key, ABSENT):
                yield key, was.get(key, ABSENT), now.get(key, ABSENT)
    elif was != now:
        yield "", was, now


def _capability(path: str, was: Any, now: Any) -> tuple[ChangeEffect, str]:
    """Return the verdict on a capability, cosmetic if nothing that matters has changed."""
    had, has = (one is not ABSENT and one is not False and one is not None for one in (was, now))
    if had and not has:
        if path == "listChanged":
            return ChangeEffect.COMPATIBLE, "changes of the list are no longer announced"
        return ChangeEffect.BREAKING, "no longer supported"
    if has and not had:
        return ChangeEffect.COMPATIBLE, "now supported"
    return (ChangeEffect.COMPATIBLE, "") if had else (ChangeEffect.COSMETIC, "")


MAX_DEPTH = 60
MAX_PARTS = 20_000
_HOLDERS = ("$defs", "definitions")
_BESIDE = ("title", "description", "default", "examples")
"""Keywords that a schema may have beside a reference, instead of those of its target."""

Schema = Mapping[str, Any]


def resolved(before: Any, after: Any) -> tuple[Any, Any]:
    """Return two schemas to compare: with references resolved if they are written in other places.

    Both are returned as they are if one is recursive or too large, or a new text is suspicious.
    """
    if not isinstance(before, Mapping) or not isinstance(after, Mapping):
        return before, after
    if not (any(_references(before)) or any(_references(after)) or _holds(before) or _holds(after)):
        return before, after
    try:
        both = _Resolver(before).root(), _Resolver(after).root()
    except _Unresolved:
        return before, after
    is_same = as_json(both[0]) == as_json(both[1])
    is_other = is_same or sorted(_references(before)) != sorted(_references(after))
    return both if is_other and not suspicion_of_change(before, after) else (before, after)


class _Unresolved(Exception):
    """A schema is recursive, or too large."""


class _Resolver:
    def __init__(self, root: Schema) -> None:
        self._root = root
        self._left = MAX_PARTS

    def root(self) -> Any:
        return self._copy(self._root, ())

    def _copy(self, value: Any, open_refs: tuple[str, ...], depth: int = 0) -> Any:
        """Return a schema, or a list of them, without references and definitions. Raises _Unresolved."""
        self._left -= 1
        if self._left < 0 or depth > MAX_DEPTH:
            raise _Unresolved
        if isinstance(value, list):
            return [self._copy(one, open_refs, depth + 1) for one in value]
        if not isinstance(value, Mapping):
            return value
        beside = {
            key: {name: self._copy(one, open_refs, depth + 1) for name, one in inner.items()}
            if key in NAME_MAPS and isinstance(inner, Mapping)
            else inner
            if key in DATA
            else self._copy(inner, open_refs, depth + 1)
            for key, inner in value.items()
            if key not in (*REFERENCES, *_HOLDERS)
        }
        ref, written = reference(value), [key for key in REFERENCES if key in value]
        if not written:
            return beside
        target = local_target(self._root, ref)
        if len(written) > 1 or ref in open_refs or not isinstance(target, Mapping):
            raise _Unresolved
        found = self._copy(target, (*open_refs, ref), depth + 1)
        is_plain = all(key in _BESIDE or key not in found for key in beside)
        return {**found, **beside} if is_plain else {**beside, "allOf": [found, *_parts(beside)]}


def _parts(schema: Schema) -> list[Any]:
    found = schema.get("allOf")
    return found if isinstance(found, list) else []


def _holds(schema: Schema) -> bool:
    return any(key in schema for key in _HOLDERS)


def _references(value: Any, path: str = "", depth: int = 0) -> Iterator[str]:
    """Yield the references below a value with their places."""
    if depth > MAX_DEPTH:
        return
    if isinstance(value, Mapping):
        if ref := reference(value):
            yield f"{path} {ref}"
        for key, inner in value.items():
            yield from _references(inner, f"{path}/{key}", depth + 1)
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from _references(inner, f"{path}/{at}", depth + 1)
