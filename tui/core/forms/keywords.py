"""The keywords of one JSON Schema, whatever stands there: kind, values, limits, names. Pure and total."""

import json
import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

from tui.core.forms.spec import MAX_CHOICES, Bounds, Choice, FieldKind

ARM_WORDS = ("anyOf", "oneOf")
MAX_HOPS = 16
"""References and compositions followed for one field."""

_TYPES = {
    "string": FieldKind.TEXT,
    "integer": FieldKind.INTEGER,
    "number": FieldKind.NUMBER,
    "boolean": FieldKind.BOOLEAN,
    "object": FieldKind.OBJECT,
    "array": FieldKind.ARRAY,
}
_OBJECT_WORDS = ("properties", "additionalProperties", "patternProperties", "propertyNames", "required")
_ARRAY_WORDS = ("items", "prefixItems", "minItems", "maxItems", "uniqueItems")

Schema = Mapping[str, Any]


def united(inner: Schema, outer: Schema) -> dict[str, Any]:
    """Return one schema that asks for what both ask; where they differ, what `outer` says."""
    whole = {**inner, **outer}
    if isinstance(inner.get("properties"), Mapping) and isinstance(outer.get("properties"), Mapping):
        whole["properties"] = {**inner["properties"], **outer["properties"]}
    if isinstance(inner.get("required"), list) and isinstance(outer.get("required"), list):
        whole["required"] = [*inner["required"], *outer["required"]]
    if isinstance(inner.get("allOf"), list) and isinstance(outer.get("allOf"), list):
        whole["allOf"] = [*inner["allOf"][:MAX_HOPS], *outer["allOf"][:MAX_HOPS]]
    return whole


def kind_of(schema: Schema) -> FieldKind:
    """Return the kind of field that a schema without alternatives asks for."""
    kind = schema.get("type")
    if isinstance(kind, str):
        return _TYPES.get(kind, FieldKind.JSON)
    for words, found in (
        (_OBJECT_WORDS, FieldKind.OBJECT),
        (_ARRAY_WORDS, FieldKind.ARRAY),
    ):
        if kind is None and any(word in schema for word in words):
            return found
    return FieldKind.JSON


def choices_of(schema: Schema) -> tuple[Choice, ...] | None:
    """Return the values that a schema allows if it lists them, else None."""
    if "const" in schema:
        return (Choice(schema["const"], _said(schema["const"])),)
    listed = schema.get("enum")
    if isinstance(listed, list) and 0 < len(listed) <= MAX_CHOICES:
        names = schema.get("enumNames", schema.get("x-enumNames"))
        fits = isinstance(names, list) and len(names) == len(listed)
        labels = names if fits and isinstance(names, list) else [None] * len(listed)
        return _told_apart(
            [
                Choice(value, label if isinstance(label, str) and label else _said(value))
                for value, label in zip(listed, labels, strict=True)
            ]
        )
    for word in ARM_WORDS:
        arms = schema.get(word)
        if isinstance(arms, list) and 1 < len(arms) <= MAX_CHOICES and all(map(_is_titled, arms)):
            return _told_apart(
                [Choice(arm["const"], text(arm.get("title")) or _said(arm["const"])) for arm in arms]
            )
    return None


def _told_apart(choices: list[Choice]) -> tuple[Choice, ...]:
    """Return the choices with labels that are not the same twice: a label is how one is chosen."""
    counts = Counter(choice.label for choice in choices)
    numbers: Counter[str] = Counter()
    told = []
    for choice in choices:
        numbers[choice.label] += 1
        often = counts[choice.label] > 1
        told.append(Choice(choice.value, f"{choice.label} #{numbers[choice.label]}") if often else choice)
    return tuple(told)


def _is_titled(arm: Any) -> bool:
    return isinstance(arm, Mapping) and "const" in arm


def _said(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False)[:80]
    except (ValueError, TypeError, RecursionError):
        return "a value that cannot be shown"


def bounds_of(schema: Schema, kind: FieldKind) -> Bounds:
    """Return the limits that matter to a field of that kind."""
    few, many = {
        FieldKind.TEXT: ("minLength", "maxLength"),
        FieldKind.ARRAY: ("minItems", "maxItems"),
        FieldKind.OBJECT: ("minProperties", "maxProperties"),
        FieldKind.MAP: ("minProperties", "maxProperties"),
    }.get(kind, ("", ""))
    step = _number(schema.get("multipleOf"))
    return Bounds(
        minimum=_number(schema.get("minimum")),
        maximum=_number(schema.get("maximum")),
        above=_number(schema.get("exclusiveMinimum")),
        below=_number(schema.get("exclusiveMaximum")),
        step=step if step and step > 0 else None,
        shortest=_count(schema.get(few)),
        longest=_count(schema.get(many)),
        unique=schema.get("uniqueItems") is True,
    )


def required_of(schema: Schema) -> frozenset[str]:
    """Return the names of the properties that must be there."""
    named = schema.get("required")
    return (
        frozenset(name for name in named if isinstance(name, str)) if isinstance(named, list) else frozenset()
    )


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if isinstance(value, int) or math.isfinite(value) else None


def _count(value: Any) -> int | None:
    number = _number(value)
    return int(number) if number is not None and number >= 0 else None


def text(value: Any) -> str:
    """Return a text, or "" in place of anything else."""
    return value if isinstance(value, str) else ""


def mapping(value: Any) -> Mapping[str, Any]:
    """Return an object, or an empty one in place of anything else."""
    return value if isinstance(value, Mapping) else {}
