"""Schemas as alternatives without references, each with the places where its keywords are written. Pure.

Local references and `allOf` are followed. `anyOf`, `oneOf`, lists of types, `nullable`, and values of several
types become one alternative a type. Constants with nothing else are one list of values, as in `enum`. So two
spellings of one schema have equal alternatives.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tui.core.comparison.values import Path
from tui.core.jsonrpc.reader import REFERENCES, local_target, reference
from tui.core.schemas.schemas import (
    ARM_WORDS,
    MAX_ARMS,
    MAX_HOPS,
    TYPES,
    Schema,
    SchemaTooLarge,
    has_kind,
    listed,
    own_kind,
    strings,
    value_kind,
)
from tui.core.text import object_in

WORDS = ("title", "description")
"""Keywords with the texts that a model reads."""

NEVER: Schema = {"not": {}}
MAX_NESTED = 8
"""Maximum alternatives within alternatives, and references within references."""

MAX_READ = 100_000


@dataclass(frozen=True, slots=True)
class Node:
    """A schema without a reference at its root. `places` has the holders of keywords written elsewhere."""

    schema: Schema
    at: Path
    places: Mapping[str, Path] = field(default_factory=dict)

    def place(self, key: str) -> Path:
        """Return the path of a keyword."""
        return (*self.places.get(key, self.at), key)

    def without(self, keys: Iterable[str]) -> "Node":
        gone = set(keys)
        return replace(self, schema={key: value for key, value in self.schema.items() if key not in gone})


@dataclass(frozen=True, slots=True)
class Alternative:
    """One alternative of a schema: one type, "" for any.

    Attributes:
        values: the only values, as JSON; None for any.
        words: its own texts, not those of the schema that has the alternatives.
    """

    kind: str
    node: Node
    values: frozenset[str] | None = None
    words: tuple[str, ...] = ()


class SchemaTree:
    """Reads the parts of one schema, of which `at` is the path."""

    def __init__(self, root: Schema, at: Path) -> None:
        self.root = root
        self._at = at
        self._left = MAX_READ

    def node(self, raw: Any, at: Path, hops: int = MAX_HOPS) -> Node | None:
        """Return a schema with its reference and `allOf` followed; None if it is no schema.

        Raises SchemaTooLarge after `MAX_READ` schemas: references can multiply.
        """
        self._count()
        if isinstance(raw, bool):
            return Node({} if raw else NEVER, at)
        if not isinstance(raw, Mapping):
            return None
        found = Node(raw, at)
        if (ref := reference(raw)) and hops:
            target = local_target(self.root, ref)
            inner = self.node(target, self._target(ref, target), hops - 1)
            if inner is not None and inner.schema is not raw:
                found = united_nodes(inner, found.without(REFERENCES))
        parts = found.schema.get("allOf")
        if isinstance(parts, list) and hops:
            place = found.place("allOf")
            inner_nodes = [self.node(part, (*place, n), hops - 1) for n, part in enumerate(parts[:MAX_ARMS])]
            if all(inner_nodes) and len(parts) <= MAX_ARMS:
                found = found.without(("allOf",))
                for one in filter(None, inner_nodes):
                    found = united_nodes(one, found)
        return found

    def alternatives(self, node: Node) -> Sequence[Alternative]:
        """Return the alternatives of a node; those that only list values are one for each type."""
        found = [
            one for arm, words in self._arms(node.without(WORDS), MAX_NESTED) for one in _typed(arm, words)
        ]
        free = [one for one in found if one.values is None]
        listing: dict[str, Alternative] = {}
        for one in found:
            if one.values is not None:
                known = listing.setdefault(one.kind, replace(one, values=frozenset(), words=()))
                both = (known.values or frozenset()) | one.values
                listing[one.kind] = replace(known, values=both, words=(*known.words, *one.words))
        return [*free, *listing.values()][: 2 * MAX_ARMS]

    def _arms(self, node: Node, nested: int) -> Iterable[tuple[Node, tuple[str, ...]]]:
        """Yield the alternatives of `anyOf` and `oneOf`, each with its own texts."""
        word = next((word for word in ARM_WORDS if is_list_of_schemas(node.schema.get(word))), "")
        if not word or not nested:
            yield node, ()
            return
        beside, place = node.without((word,)), node.place(word)
        for number, part in enumerate(node.schema[word][:MAX_ARMS]):
            inner = self.node(part, (*place, number))
            if inner is None or inner.schema.get("not") == {}:  # what zod's converter writes for undefined
                continue
            words = tuple(inner.schema[key] for key in WORDS if isinstance(inner.schema.get(key), str))
            for arm, more in self._arms(united_nodes(inner.without(WORDS), beside), nested - 1):
                yield arm, (*words, *more)

    def flat(self, value: Any, depth: int = MAX_NESTED) -> Any:
        """Return a value without texts, and with references replaced by their targets, some levels deep."""
        self._count()
        if isinstance(value, list):
            return [self.flat(one, depth) for one in value]
        if not isinstance(value, Mapping):
            return value
        if depth and isinstance(target := local_target(self.root, reference(value)), Mapping):
            rest = {key: one for key, one in value.items() if key not in REFERENCES}
            return self.flat({**target, **rest}, depth - 1)
        return {
            key: self.flat(one, depth)
            for key, one in value.items()
            if key not in (*WORDS, "$comment") or not isinstance(one, str)
        }

    def _count(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise SchemaTooLarge("too many parts to compare")

    def _target(self, ref: str, target: Any) -> Path:
        """Return the path of what a reference points to."""
        fragment = ref.removeprefix("#")
        if not fragment:
            return self._at
        if fragment.startswith("/"):
            parts = (part.replace("~1", "/").replace("~0", "~") for part in fragment[1:].split("/"))
            return (*self._at, *parts)
        for holder in ("$defs", "definitions"):
            for name, schema in object_in(self.root, holder).items():
                if schema is target:
                    return (*self._at, holder, name)
        return self._at


def is_list_of_schemas(value: Any) -> bool:
    """Return whether a value is a list of schemas that is not empty."""
    return isinstance(value, list) and bool(value) and all(isinstance(one, Mapping | bool) for one in value)


def united_nodes(inner: Node, outer: Node) -> Node:
    """Return one schema that requires what both require; texts are those of `outer`, if it has any.

    Keywords that both have with different values, and that cannot be united, stay apart in `allOf`.
    """
    schema = {**inner.schema, **outer.schema}
    places = {key: inner.places.get(key, inner.at) for key in inner.schema if key not in outer.schema}
    places |= outer.places
    apart = {}
    for key in inner.schema.keys() & outer.schema.keys():
        one, other = inner.schema[key], outer.schema[key]
        if one == other or key in WORDS:
            continue
        if key == "properties" and isinstance(one, Mapping) and isinstance(other, Mapping):
            both = {name: {"allOf": [one[name], other[name]]} for name in one.keys() & other.keys()}
            same = {name: one[name] for name in both if one[name] == other[name]}
            schema[key] = {**one, **other, **both, **same}
        elif key == "required" and isinstance(one, list) and isinstance(other, list):
            schema[key] = [*one, *(name for name in other if name not in one)]
        elif key == "type" and (kinds := [kind for kind in kinds_in(one) if kind in kinds_in(other)]):
            schema[key] = kinds
        elif key not in ("default", "examples", "$comment"):
            apart[key] = one
    if apart:
        kept = schema.get("allOf")
        schema["allOf"] = [*(kept if isinstance(kept, list) else []), apart]
    return Node(schema, outer.at, places)


def kinds_in(value: Any) -> list[str]:
    """Return the types that the value of `type` names."""
    named = [value] if isinstance(value, str) else strings(value)
    return [kind for kind in dict.fromkeys(named) if kind in TYPES]


def as_json(value: Any) -> str:
    """Return the same text for equal JSON values."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _typed(arm: Node, words: tuple[str, ...]) -> Iterable[Alternative]:
    """Yield an alternative for each type of a schema without combiners."""
    schema = arm.schema
    values = listed(schema)
    kinds = kinds_in(schema.get("type")) or list(dict.fromkeys(map(value_kind, values)))
    if not kinds:  # many generators leave out the type of an object or array
        implied = own_kind(schema)
        kinds = [implied if implied in ("object", "array") else ""]
    if schema.get("nullable") is True and "" not in kinds and "null" not in kinds:
        kinds.append("null")
    for kind in kinds:
        mine = [value for value in values if not kind or has_kind(value, kind)]
        if values and not mine and not (kind == "null" and schema.get("nullable") is True):
            continue
        found = frozenset(map(as_json, mine)) or None
        if kind == "null" or (kind == "boolean" and found is not None and len(found) > 1):
            found = None
        yield Alternative(kind, arm, found, words)


def is_equal(one: Alternative, other: Alternative) -> bool:
    """Return whether two alternatives accept the same, apart from what their references lead to."""
    if one.kind != other.kind or one.values != other.values:
        return False
    return one.node.schema == other.node.schema


def accepts(wide: Alternative, narrow: Alternative) -> bool:
    """Return whether one alternative may accept the type of another."""
    return wide.kind in ("", narrow.kind) or (wide.kind == "number" and narrow.kind == "integer")


def is_disjoint(found: Sequence[Alternative]) -> bool:
    """Return whether no value fits two of these: other types, or other constants of one property."""
    kinds = Counter("number" if one.kind == "integer" else one.kind for one in found)
    if "" not in kinds and max(kinds.values(), default=0) <= 1:
        return True
    if set(kinds) != {"object"}:
        return False
    known = [object_in(one.node.schema, "properties") for one in found]
    return any(_tells_apart([properties.get(name) for properties in known]) for name in known[0])


def _tells_apart(schemas: Sequence[Any]) -> bool:
    constants = [as_json(one["const"]) for one in schemas if isinstance(one, Mapping) and "const" in one]
    return len(constants) == len(schemas) and len(set(constants)) == len(constants)
