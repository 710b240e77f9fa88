"""Reads one level of a JSON Schema (2020-12) as the spec of a field. Pure, total and bounded.

Schemas come from servers: an unsupported part becomes a field of raw JSON, never an error. Parts are read
only when needed, so recursive schemas cost nothing. Nothing outside the schema is ever fetched.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from tui.core.forms.spec import (
    MAX_CHOICES,
    MAX_FIELDS,
    MISSING,
    FieldChoice,
    FieldKind,
    FieldSpec,
    label_of,
)
from tui.core.jsonrpc.reader import REFERENCES, local_target, reference
from tui.core.language.translate import message
from tui.core.schemas.schemas import (
    ARM_WORDS,
    MAX_ARMS,
    MAX_HOPS,
    Schema,
    by_position,
    entry_schema,
    own_kind,
    strings,
    united,
)
from tui.core.text import list_in, mapping, object_in, text_in

_TYPES = {
    "string": FieldKind.TEXT,
    "integer": FieldKind.INTEGER,
    "number": FieldKind.NUMBER,
    "boolean": FieldKind.BOOLEAN,
    "object": FieldKind.OBJECT,
    "array": FieldKind.ARRAY,
}


def choices_of(schema: Schema) -> tuple[FieldChoice, ...] | None:
    """Return the values that a schema allows if it lists them, else None."""
    if "const" in schema:
        return (FieldChoice(schema["const"], label_of(schema["const"])),)
    listed = schema.get("enum")
    if isinstance(listed, list) and 0 < len(listed) <= MAX_CHOICES:
        names = schema.get("enumNames", schema.get("x-enumNames"))
        fits = isinstance(names, list) and len(names) == len(listed)
        return _choices(zip(listed, names if fits else [""] * len(listed), strict=True))
    for arms in map(schema.get, ARM_WORDS):
        if (
            isinstance(arms, list)
            and 1 < len(arms) <= MAX_CHOICES
            and all(isinstance(arm, Mapping) and "const" in arm for arm in arms)
        ):
            return _choices((arm["const"], arm.get("title")) for arm in arms)
    return None


def _choices(named: Iterable[tuple[Any, Any]]) -> tuple[FieldChoice, ...]:
    """Return values and their names as choices with unique labels, because the user chooses by label."""
    choices = [
        FieldChoice(value, (name if isinstance(name, str) else "") or label_of(value))
        for value, name in named
    ]
    labels = numbered([choice.label for choice in choices], " #{}")
    return tuple(FieldChoice(choice.value, label) for choice, label in zip(choices, labels, strict=True))


def numbered(labels: Sequence[str], number: str) -> Iterator[str]:
    """Yield labels, those that occur more than once with their number."""
    counts, seen = Counter(labels), Counter[str]()
    for label in labels:
        seen[label] += 1
        yield label + number.format(seen[label]) if counts[label] > 1 else label


def required_of(schema: Schema) -> frozenset[str]:
    """Return the names of the required properties."""
    return frozenset(strings(schema.get("required")))


MAX_EXAMPLES = 5


class SchemaReader:
    """Reads the schemas within one root schema."""

    def __init__(self, root: Any) -> None:
        self._root: Schema = mapping(root)
        self._read: dict[int, tuple[Any, FieldSpec]] = {}

    def spec(self, schema: Any, *, top: bool = True) -> FieldSpec:
        """Return the spec of `schema`; `top` is False for an arm, whose own arms stay raw JSON."""
        if not isinstance(schema, Mapping):
            note = "" if isinstance(schema, bool) else message("not described by the schema")
            return FieldSpec(FieldKind.JSON, note=note, forbidden=schema is False)
        merged, note = self._resolved(schema)
        if note or choices_of(merged) is not None:
            return replace(_plain(merged, note), nullable=merged.get("nullable") is True)
        arms, nullable = self._arms(merged)
        if len(arms) == 1:  # what stands next to the union is about this field, what is in its arm about all
            arm, note = self._resolved(arms[0])
            return replace(_plain(_named_for_itself({**arm}, merged), note), nullable=nullable)
        if nullable and arms and all("const" in arm for arm in arms):
            rest = {key: value for key, value in merged.items() if key not in (*ARM_WORDS, "type")}
            return replace(_plain({**rest, "anyOf": arms}), nullable=True)
        if arms:
            return self._union(merged, arms, nullable) if top else _described(FieldKind.JSON, merged)
        return replace(_plain(merged), nullable=nullable)

    def properties(self, spec: FieldSpec) -> dict[str, bool]:
        required = required_of(spec.source)
        named = object_in(spec.source, "properties")
        return {str(name): name in required for name in islice(named, MAX_FIELDS)}

    def child(self, spec: FieldSpec, name: str | int) -> FieldSpec:
        wanted = entry_schema(spec.source, name)
        # Keyed by identity; keeping the schema itself ensures that no other object gets its id.
        if (known := self._read.get(id(wanted))) is None:
            known = self._read[id(wanted)] = wanted, self.spec(wanted)
        return known[1]

    def tuple_length(self, spec: FieldSpec) -> int:
        """Return the number of items of an array that have schemas of their own and are required."""
        return min(len(by_position(spec.source)[0]), spec.sizes[0] or 0)

    def _resolved(self, schema: Schema) -> tuple[Schema, str]:
        """Follow references and merge `allOf`; return the schema, and why that failed or ""."""
        merged: Schema = schema
        seen: set[str] = set()
        for _ in range(MAX_HOPS):
            if ref := reference(merged):
                beside = {key: value for key, value in merged.items() if key not in REFERENCES}
                if ref in seen:
                    return beside, message("the schema refers only to itself")
                seen.add(ref)
                if not isinstance(target := local_target(self._root, ref), Mapping):
                    return beside, message(
                        "the schema refers to {ref}, which it does not contain", ref=ref[:80]
                    )
                merged = united(target, beside)
            elif isinstance(parts := merged.get("allOf"), list):
                whole: Schema = {key: value for key, value in merged.items() if key != "allOf"}
                for part in parts[:MAX_HOPS]:
                    if isinstance(part, Mapping):
                        whole = united(self._once(part), whole)
                merged = whole
            else:
                return merged, ""
        return merged, message("the schema has too many references")

    def _once(self, part: Schema) -> Schema:
        """Replace a reference in `allOf` by its target, because merging two references would lose one."""
        if not isinstance(target := local_target(self._root, reference(part)), Mapping):
            return part
        return united(target, {key: value for key, value in part.items() if key not in REFERENCES})

    def _arms(self, merged: Schema) -> tuple[list[Schema], bool]:
        """Return the alternatives of a schema without null, and whether null was among them."""
        found = list(islice(self._flat(merged, 0), MAX_ARMS + 1))
        nullable = merged.get("nullable") is True  # an OpenAPI keyword, which many generators write
        arms = []
        for arm in found[:MAX_ARMS]:
            if arm.get("type") == "null" or ("const" in arm and arm["const"] is None):
                nullable = True
            elif arm.get("not") != {}:  # what zod's converter writes for undefined
                arms.append(arm)
        if found and nullable and not arms:  # nothing but null
            arms = [{**found[0], "const": None}]
        return arms, nullable

    def _flat(self, merged: Schema, level: int) -> Iterator[Schema]:
        word = next((w for w in ARM_WORDS if isinstance(merged.get(w), list) and merged[w]), "")
        types = merged.get("type")
        if word:
            base = {key: value for key, value in merged.items() if key not in (word, "title")}
            for arm in merged[word]:
                if not isinstance(arm, Mapping):
                    if arm is not False:
                        yield base
                    continue
                inner, note = self._resolved(arm)
                whole = _named_for_itself(united(inner, base), inner)
                if note or level >= 2:
                    yield {"$comment": note} if note else whole
                elif choices_of(whole) is not None:
                    yield whole
                else:
                    deeper = list(islice(self._flat(whole, level + 1), MAX_ARMS))
                    yield from deeper or [whole]
        elif isinstance(types, list):
            for one in dict.fromkeys(name for name in types if isinstance(name, str)):
                yield {**{key: value for key, value in merged.items() if key != "title"}, "type": one}
        elif types == "null":
            yield merged

    def _union(self, merged: Schema, arms: list[Schema], nullable: bool) -> FieldSpec:
        specs = tuple(self.spec(arm, top=False) for arm in arms)
        labels = numbered([_label(arm, spec) for arm, spec in zip(arms, specs, strict=True)], " {}")
        named = tuple(replace(spec, label=label) for spec, label in zip(specs, labels, strict=True))
        return replace(_described(named[0].kind, merged), nullable=nullable, arms=named)


def _plain(merged: Schema, note: str = "") -> FieldSpec:
    if note:
        return replace(_described(FieldKind.JSON, merged), note=note)
    if (choices := choices_of(merged)) is not None:
        kind = FieldKind.CONST if "const" in merged else FieldKind.CHOICE
        return replace(_described(kind, merged), choices=choices)
    spec = _described(_TYPES.get(own_kind(merged), FieldKind.JSON), merged)
    if spec.kind is not FieldKind.OBJECT:
        return spec
    count = len(object_in(merged, "properties"))
    more = (
        message("{n} more properties are not shown", n=f"{count - MAX_FIELDS:,}")
        if count > MAX_FIELDS
        else ""
    )
    is_open = merged.get("additionalProperties", True) is not False or bool(merged.get("patternProperties"))
    kind = FieldKind.OBJECT if count else FieldKind.MAP
    return replace(spec, kind=kind, open=is_open or bool(more), note=more)


def _described(kind: FieldKind, schema: Schema) -> FieldSpec:
    shape = text_in(schema, "format")
    return FieldSpec(
        kind,
        title=text_in(schema, "title"),
        description=text_in(schema, "description"),
        pattern=text_in(schema, "pattern") if kind is FieldKind.TEXT else "",
        format=shape,
        default=schema.get("default", MISSING),
        examples=tuple(list_in(schema, "examples")[:MAX_EXAMPLES]),
        secret=shape == "password" or schema.get("writeOnly") is True,
        source=schema,
    )


def _named_for_itself(whole: dict[str, Any], arm: Schema) -> dict[str, Any]:
    return {**whole, **{key: arm[key] for key in ("title", "description", "default") if key in arm}}


def _label(arm: Schema, spec: FieldSpec) -> str:
    named = text_in(arm, "title")
    if named:
        return named
    if spec.kind is FieldKind.CONST:
        return spec.choices[0].label
    for name, schema in islice(object_in(arm, "properties").items(), MAX_ARMS):
        if isinstance(schema, Mapping) and isinstance(schema.get("const"), str):
            return f"{name}: {schema['const']}"
    return spec.format or ("object" if spec.kind is FieldKind.MAP else spec.kind.value)
