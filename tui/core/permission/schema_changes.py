"""What a changed schema means for callers: which values are no longer accepted, or newly returned. Pure.

A tool must not accept less than before, nor return more, so input and output are mirrored. Two conventions
are stronger than logic: a new optional property is compatible, although an open object accepted any value
there, and a removed one is breaking, although an open object still accepts it.

Both schemas are read as alternatives (`core.schemas.alternatives`), which are paired by type and likeness.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tui.core.comparison.values import Path
from tui.core.jsonrpc.reader import REFERENCES, reference
from tui.core.language.translate import listed, message
from tui.core.permission.change_effects import ABSENT, ORDER, ChangeEffect, is_harmless
from tui.core.permission.schema_limits import Shift, fraction, limit_shifts
from tui.core.permission.schema_pair import (
    OPAQUE,
    OPEN,
    SHAPE,
    SchemaChange,
    SchemaPair,
    has_same_words,
    unsound_keys,
    words_of,
)
from tui.core.schemas.alternatives import (
    NEVER,
    WORDS,
    Alternative,
    Node,
    SchemaTree,
    accepts,
    as_json,
    is_disjoint,
    is_equal,
)
from tui.core.schemas.schemas import ARM_WORDS, Schema, SchemaTooLarge, by_position, strings
from tui.core.text import object_in

MAX_PAIRS = 20_000
MAX_LEVELS = 40
"""Maximum pairs of schemas to compare, and levels; anything deeper is only compared for equality."""

MAX_NAMES = 5
"""Maximum names or values in a reason."""


def schema_changes(before: Schema, after: Schema, at: Path, *, gives: bool) -> Sequence[SchemaChange]:
    """Return what changed for callers between two schemas of a tool's input, or of its output if it `gives`.

    Raises SchemaTooLarge if there is too much to compare.
    """
    return _Comparison(before, after, at, gives=gives).changes()


class _Comparison:
    """Compares two schemas part by part. Pairs that are being compared are equal so far, so cycles end."""

    def __init__(self, before: Schema, after: Schema, at: Path, *, gives: bool) -> None:
        self._was, self._now = SchemaTree(before, at), SchemaTree(after, at)
        self._at = at
        self._gives = gives
        self._left = MAX_PAIRS
        self._open: set[tuple[Path, Path]] = set()
        self._known: dict[Path, list[SchemaChange]] = {}
        self._same_definitions = all(
            as_json(object_in(before, holder)) == as_json(object_in(after, holder))
            for holder in ("$defs", "definitions")
        )

    def changes(self) -> Sequence[SchemaChange]:
        return self._schemas(self._was.root, self._at, self._now.root, self._at, self._at, 0)

    # ---- nodes ----

    def _schemas(
        self, was: Any, was_at: Path, now: Any, now_at: Path, at: Path, level: int
    ) -> list[SchemaChange]:
        """Return the changes between two schemas as they are written, which `at` names."""
        self._left -= 1
        if self._left < 0:
            raise SchemaTooLarge("too many parts to compare")
        if was == now and (text := as_json(was)) == as_json(now) and self._is_settled(text):
            return []
        old, new = self._was.node(was, was_at), self._now.node(now, now_at)
        if old is None or new is None or level > MAX_LEVELS:
            why = message("nested too deeply to compare")
            if old is None or new is None:
                why = message("not a schema")
            return [self._change(Shift.OTHER, at, (at,), why, was, now)]
        if (old.at, new.at) in self._open:
            return []
        is_shared = old.at == new.at and _is_reference(was) and _is_reference(now)
        if is_shared and old.at in self._known:
            return self._known[old.at]
        self._open.add((old.at, new.at))
        pair = SchemaPair(old, new, old.at if old.at == new.at else at, level)
        # A definition that is used twice has the same changes twice, and so on with each level.
        found = list({(one.steps, one.effect, one.why): one for one in self._nodes(pair)}.values())
        self._open.discard((old.at, new.at))
        if is_shared:
            self._known[old.at] = found
        return found

    def _is_settled(self, text: str) -> bool:
        """Return whether equal JSON means the same in both schemas: its references lead to the same."""
        return self._same_definitions or not any(f'"{key}":' in text for key in REFERENCES)

    def _nodes(self, pair: SchemaPair) -> Iterator[SchemaChange]:
        for key in unsound_keys(pair):
            yield self._keyword(pair, key, Shift.OTHER, message("cannot be compared"))
        was, now = (
            self._alternatives(tree, node, pair.level)
            for tree, node in ((self._was, pair.was), (self._now, pair.now))
        )
        match = self._matched(pair, was, now)
        yield from self._texts(pair, match.pairs)
        yield from match.changes
        yield from self._oneness(pair, was, now)

    def _alternatives(self, tree: SchemaTree, node: Node, level: int) -> Sequence[Alternative]:
        found = tree.alternatives(node)
        if level:
            return found
        return [
            Alternative("object", one.node, one.values, one.words) if not one.kind else one for one in found
        ]  # arguments and structured content are objects anyway

    # ---- alternatives ----

    def _matched(self, pair: SchemaPair, was: Sequence[Alternative], now: Sequence[Alternative]) -> "_Match":
        """Pair the alternatives, and return what changed in each pair and which ones came or went."""
        match = _Match()
        left, new = list(was), list(now)
        for one in was:  # equal ones first, so that only the others are compared with each other
            twin = next((other for other in new if is_equal(one, other)), None)
            if twin is not None:
                match.add(one, twin, self._pair_changes(pair, one, twin))
                left.remove(one)
                new.remove(twin)
        for is_near in (_is_same_kind, _is_number):
            costs = sorted(
                (
                    (_cost(changes), at, to, changes)
                    for at, one in enumerate(left)
                    for to, other in enumerate(new)
                    if is_near(one, other)
                    for changes in (self._pair_changes(pair, one, other),)
                ),
                key=lambda found: found[:3],
            )
            used: tuple[set[int], set[int]] = (set(), set())
            for _, at, to, changes in costs:
                if at not in used[0] and to not in used[1]:
                    used[0].add(at)
                    used[1].add(to)
                    match.add(left[at], new[to], changes)
            left = [one for at, one in enumerate(left) if at not in used[0]]
            new = [one for at, one in enumerate(new) if at not in used[1]]
        match.changes += self._unpaired(pair, was, now, left, new)
        return match

    def _unpaired(
        self,
        pair: SchemaPair,
        was: Sequence[Alternative],
        now: Sequence[Alternative],
        left: Sequence[Alternative],
        new: Sequence[Alternative],
    ) -> Iterator[SchemaChange]:
        """Yield the alternatives that are gone, or new, unless another one accepts the same values."""
        for one in left:
            if any(accepts(other, one) and self._is_harmless(pair, one, other) for other in now):
                continue
            names = listed(dict.fromkeys(_name(other, now) for other in now)) or message("nothing")
            why = message("only {what}", what=names)
            if one.kind:
                why = message("no longer {what}", what=_name(one, was))
            yield self._shape(pair, Shift.TIGHTER, why)
        names = listed(dict.fromkeys(_name(one, was) for one in left))
        for one in new:
            if any(accepts(other, one) and self._is_harmless(pair, other, one) for other in was):
                continue
            name = _name(one, now)
            why = message("now also {what}", what=name) if one.kind else message("now any type")
            if one.kind and names and len(left) == len(was):
                why = message("now {what} instead of {before}", what=name, before=names)
            yield self._shape(pair, Shift.LOOSER, why)

    def _is_harmless(self, pair: SchemaPair, one: Alternative, other: Alternative) -> bool:
        return all(is_harmless(change.effect) for change in self._pair_changes(pair, one, other))

    def _pair_changes(self, pair: SchemaPair, was: Alternative, now: Alternative) -> list[SchemaChange]:
        """Return the changes between two alternatives, apart from their texts."""
        self._left -= 1
        if self._left < 0:
            raise SchemaTooLarge("too many parts to compare")
        combiner = next((word for word in ARM_WORDS if pair.has(word)), "")
        at = (*pair.at, combiner) if combiner else pair.at
        inner = SchemaPair(was.node, now.node, at, pair.level)
        found = list(self._values(pair, was, now))
        before, kind = _kind(was), _kind(now)
        if {before, kind} == {"integer", "number"}:
            is_wider = kind == "number"
            said = message("now also {what}", what="number")
            if not is_wider:
                said = message("no longer {what}", what="number")
            found.append(self._shape(pair, Shift.LOOSER if is_wider else Shift.TIGHTER, said))
        kind = kind or before
        if was.values is None and now.values is None:
            for key, shift, why in limit_shifts(kind, was.node.schema, now.node.schema):
                found.append(self._keyword(inner, key, shift, why))
        if kind in ("object", ""):
            found += self._objects(inner)
        if kind in ("array", ""):
            found += self._arrays(inner)
        found += self._conditions(inner)
        return found

    def _values(self, pair: SchemaPair, was: Alternative, now: Alternative) -> Iterator[SchemaChange]:
        if was.values == now.values:
            return
        if was.values is None and now.values is not None:
            yield self._shape(pair, Shift.TIGHTER, message("only {what}", what=_shown(now.values)))
            return
        if was.values is None or now.values is None:
            why = message("now any {what}", what=was.kind) if was.kind else message("now any value")
            yield self._shape(pair, Shift.LOOSER, why)
            return
        if gone := was.values - now.values:
            yield self._shape(pair, Shift.TIGHTER, message("no longer {what}", what=_shown(gone)))
        if came := now.values - was.values:
            what = _shown(came)
            why = (
                message("now also {what}", what=what)
                if was.values & now.values
                else message("now {what}", what=what)
            )
            yield self._shape(pair, Shift.LOOSER, why)

    def _oneness(
        self, pair: SchemaPair, was: Sequence[Alternative], now: Sequence[Alternative]
    ) -> Iterator[SchemaChange]:
        """Yield the change between `anyOf` and `oneOf`, which refuses what fits several alternatives."""
        for key, other, shift in (("oneOf", "anyOf", Shift.TIGHTER), ("anyOf", "oneOf", Shift.LOOSER)):
            if other in pair.was.schema and key in pair.now.schema and key not in pair.was.schema:
                if not is_disjoint(now if key == "oneOf" else was):
                    is_one = key == "oneOf"
                    why = message("exactly one must match") if is_one else message("several may match")
                    yield self._shape(pair, shift, why)

    # ---- texts ----

    def _texts(
        self, pair: SchemaPair, pairs: Sequence[tuple[Alternative, Alternative]]
    ) -> Iterator[SchemaChange]:
        old, new = (Counter(_texts_of(side, pairs, at)) for at, side in enumerate(pair.nodes))
        for key in WORDS:
            was, now = pair.value(key)
            if was == now:
                continue
            is_same = old == new or has_same_words(was, now)
            effect = ChangeEffect.COSMETIC if is_same else ChangeEffect.ROUTING
            place = pair.place(key)
            yield SchemaChange(place, (place,), effect, "", was, now)
        if old == new:
            return
        for one, other in pairs:
            gone = Counter(map(_joined, one.words)) - Counter(map(_joined, other.words))
            came = Counter(map(_joined, other.words)) - Counter(map(_joined, one.words))
            if gone or (came and one.values == other.values):
                found = self._shape(pair, Shift.OTHER, "")
                yield SchemaChange(
                    found.steps, found.places, ChangeEffect.ROUTING, "", found.before, found.after
                )

    # ---- objects, arrays, conditions ----

    def _objects(self, pair: SchemaPair) -> Iterator[SchemaChange]:
        was, now = (object_in(node.schema, "properties") for node in pair.nodes)
        needed, needs = (strings(node.schema.get("required")) for node in pair.nodes)
        for name in (*now, *(name for name in was if name not in now)):
            place = (*pair.place("properties"), name)
            if name in was and name in now:
                yield from self._children(pair, "properties", name, was[name], now[name])
                if not self._gives and name not in needs:
                    yield from self._default(place, was[name], now[name])
            elif name in was:
                why = message("no longer in results") if self._gives else message("argument removed")
                yield SchemaChange(place, (place,), ChangeEffect.BREAKING, why, was[name])
            else:
                is_needed = not self._gives and name in needs
                effect = ChangeEffect.BREAKING if is_needed else ChangeEffect.COMPATIBLE
                why = message("new in results")
                if not self._gives:
                    why = message("new required argument") if is_needed else message("new optional argument")
                yield SchemaChange(place, (place,), effect, why, ABSENT, now[name])
        both = was.keys() & now.keys() if was.keys() != now.keys() else None
        yield from self._required(
            pair,
            *(
                [name for name in names if both is None or name in both or name not in (*was, *now)]
                for names in (needed, needs)
            ),
        )
        for key in OPEN:
            yield from self._rest(pair, key)
        names = ({"type": "string"}, {"type": "string"})
        if pair.has("propertyNames"):
            yield from self._children(pair, "propertyNames", None, *names)
        old, new = (object_in(node.schema, "patternProperties") for node in pair.nodes)
        for name in (*new, *(name for name in old if name not in new)):
            yield from self._children(
                pair, "patternProperties", name, old.get(name, True), new.get(name, True)
            )

    def _default(self, at: Path, was: Any, now: Any) -> Iterator[SchemaChange]:
        """Yield the change of the default of an optional argument: calls without it do something else."""
        before, after = (
            one.get("default", ABSENT) if isinstance(one, Mapping) else ABSENT for one in (was, now)
        )
        if ABSENT not in (before, after) and as_json(before) != as_json(after):
            why = message("calls that omit it now mean something else")
            yield self._change(Shift.OTHER, (*at, "default"), ((*at, "default"),), why, before, after)

    def _required(self, pair: SchemaPair, needed: list[str], needs: list[str]) -> Iterator[SchemaChange]:
        more = [name for name in dict.fromkeys(needs) if name not in needed]
        less = [name for name in dict.fromkeys(needed) if name not in needs]
        if more:
            names = _some(more)
            why = message("now required: {names}", names=names)
            if self._gives:
                why = message("always in results: {names}", names=names)
            yield self._keyword(pair, "required", Shift.TIGHTER, why)
        if less:
            names = _some(less)
            why = message("now optional: {names}", names=names)
            if self._gives:
                why = message("results may lack {names}", names=names)
            yield self._keyword(pair, "required", Shift.LOOSER, why)

    def _rest(self, pair: SchemaPair, key: str) -> Iterator[SchemaChange]:
        """Yield the changes of the schema of other members, which is False if there are none."""
        was, now = pair.was.schema.get(key, True), pair.now.schema.get(key, True)
        closed, closes = (value in (False, NEVER) for value in (was, now))
        if closed != closes:
            shift = Shift.TIGHTER if closes else Shift.LOOSER
            what = message("members") if self._gives or pair.level else message("arguments")
            why = message("no other {what}", what=what) if closes else message("any other {what}", what=what)
            yield self._keyword(pair, key, shift, why)
        elif not closed and pair.has(key):
            yield from self._children(pair, key, None, True, True)

    def _arrays(self, pair: SchemaPair) -> Iterator[SchemaChange]:
        (first, rest), (firsts, rests) = (by_position(node.schema) for node in pair.nodes)
        keys = [
            "items" if isinstance(node.schema.get("items"), list) else "prefixItems" for node in pair.nodes
        ]
        for number in range(min(max(len(first), len(firsts)), MAX_PAIRS)):
            was = first[number] if number < len(first) else rest
            now = firsts[number] if number < len(firsts) else rests
            places = ((*pair.was.place(keys[0]), number), (*pair.now.place(keys[1]), number))
            at = (*pair.place(keys[1]), number)
            yield from self._schemas(was, places[0], now, places[1], at, pair.level + 1)
        after = ["additionalItems" if key == "items" else "items" for key in keys]
        yield from self._schemas(
            rest,
            pair.was.place(after[0]),
            rests,
            pair.now.place(after[1]),
            pair.place(after[1]),
            pair.level + 1,
        )

    def _conditions(self, pair: SchemaPair) -> Iterator[SchemaChange]:
        for group in OPAQUE:
            keys = [key for key in group if pair.has(key)]
            if not keys:
                continue
            was, now = (
                {key: tree.flat(node.schema[key]) for key in keys if key in node.schema}
                for tree, node in ((self._was, pair.was), (self._now, pair.now))
            )
            text = as_json(was)
            if text == as_json(now) and self._is_settled(text):
                continue
            shift, why = Shift.OTHER, message("different condition")
            if not was or not now:
                shift, why = (Shift.TIGHTER, message("new condition"))
                if not now:
                    shift, why = Shift.LOOSER, message("condition removed")
            for key in keys:
                if key not in was or key not in now or was[key] != now[key] or text == as_json(now):
                    yield self._keyword(pair, key, shift, why)

    def _children(
        self, pair: SchemaPair, key: str, name: str | None, was: Any, now: Any
    ) -> Iterator[SchemaChange]:
        """Yield the changes of a schema below a keyword; without `name`, `was` and `now` are its defaults."""
        steps = () if name is None else (name,)
        if name is None:
            was, now = pair.was.schema.get(key, was), pair.now.schema.get(key, now)
        yield from self._schemas(
            was,
            (*pair.was.place(key), *steps),
            now,
            (*pair.now.place(key), *steps),
            (*pair.place(key), *steps),
            pair.level + 1,
        )

    # ---- changes ----

    def _keyword(self, pair: SchemaPair, key: str, shift: Shift, why: str) -> SchemaChange:
        place = pair.place(key)
        return self._change(shift, place, (place,), why, *pair.value(key))

    def _shape(self, pair: SchemaPair, shift: Shift, why: str) -> SchemaChange:
        was, now = ({key: node.schema[key] for key in SHAPE if key in node.schema} for node in pair.nodes)
        return self._change(shift, pair.at, pair.shape_places(), why, was, now)

    def _change(
        self, shift: Shift, steps: Path, places: tuple[Path, ...], why: str, was: Any, now: Any
    ) -> SchemaChange:
        harmless = Shift.TIGHTER if self._gives else Shift.LOOSER
        effect = ChangeEffect.COMPATIBLE if shift is harmless else ChangeEffect.BREAKING
        return SchemaChange(steps, places, effect, why, was, now)


class _Match:
    """The alternatives that were paired, and all changes of them."""

    def __init__(self) -> None:
        self.pairs: list[tuple[Alternative, Alternative]] = []
        self.changes: list[SchemaChange] = []

    def add(self, was: Alternative, now: Alternative, changes: Iterable[SchemaChange]) -> None:
        self.pairs.append((was, now))
        self.changes += changes


def _is_reference(raw: Any) -> bool:
    """Return whether a schema is a reference and nothing else, so that its path says what it is."""
    return isinstance(raw, Mapping) and len(raw) == 1 and bool(reference(raw))


def _is_same_kind(one: Alternative, other: Alternative) -> bool:
    return one.kind == other.kind


def _is_number(one: Alternative, other: Alternative) -> bool:
    return {one.kind, other.kind} == {"integer", "number"}


def _kind(one: Alternative) -> str:
    """Return the type of an alternative; multiples of an integer are integers."""
    multiple = fraction(one.node.schema.get("multipleOf")) if one.kind == "number" else None
    return "integer" if multiple and multiple.denominator == 1 else one.kind


def _cost(changes: Sequence[SchemaChange]) -> tuple[int, int]:
    return max((ORDER.index(one.effect) for one in changes), default=-1), len(changes)


def _name(one: Alternative, among: Sequence[Alternative]) -> str:
    """Return the type of an alternative, or its text if others have the same type."""
    if sum(other.kind == one.kind for other in among) > 1:
        return f"{one.kind} “{one.words[0]}”" if one.words else message("one kind of {type}", type=one.kind)
    return one.kind or message("any type")


def _shown(values: Iterable[str]) -> str:
    """Return values as text: strings without quotes."""
    return _some(sorted(value[1:-1] if value.startswith('"') else value for value in values))


def _some(names: Sequence[str]) -> str:
    """Return the first names, and how many others there are."""
    shown = listed(names[:MAX_NAMES])
    if (more := len(names) - MAX_NAMES) <= 0:
        return shown
    return message("{names} and {n} more", names=shown, n=more)


def _texts_of(node: Node, pairs: Sequence[tuple[Alternative, Alternative]], side: int) -> Iterator[str]:
    for key in WORDS:
        if isinstance(text := node.schema.get(key), str):
            yield _joined(text)
    for pair in pairs:
        yield from map(_joined, pair[side].words)


def _joined(text: str) -> str:
    return " ".join(words_of(text))
