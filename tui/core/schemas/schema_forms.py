"""Tool schemas for stricter providers. Pure; starts from the schemas that `schemas` makes.

Most endpoints accept any JSON Schema of an object. Moonshot's checks that every node has a type and no node
has one next to `anyOf`; Google's accepts a subset of OpenAPI and answers 400, or nothing at all, to anything
else. Anything that a form cannot express is omitted, because arguments are validated against the tool's own
schema anyway.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any

from tui.core.language.translate import message
from tui.core.schemas.schemas import (
    DATA,
    MAX_NODES,
    NAME_MAPS,
    SchemaTooLarge,
    arms_of,
    has_kind,
    kinds_of,
    listed,
    merged,
    own_kind,
    strings,
    subschemas,
)
from tui.core.text import object_in


class SchemaForm(StrEnum):
    """The subset of JSON Schema that an endpoint accepts for a tool."""

    PLAIN = "plain"
    KIMI = "kimi"
    GEMINI = "gemini"


def in_form(schema: Mapping[str, Any], form: SchemaForm) -> dict[str, Any]:
    """Return a schema of `model_schema` in this form; if it is too large, only its first level."""
    if form is SchemaForm.PLAIN:
        return dict(schema)
    try:
        return _FormConverter(form).root(schema)
    except SchemaTooLarge:
        return _FormConverter(form).root(_first_level(schema))


def _first_level(schema: Mapping[str, Any]) -> dict[str, Any]:
    properties = schema.get("properties", {})
    kept = {
        name: {key: node[key] for key in ("type", "description", "enum") if key in node}
        for name, node in list(properties.items())[: MAX_NODES // 4]
        if isinstance(node, Mapping)
    }
    return {"type": "object", "properties": kept, "required": schema.get("required", [])}


_SHARED = frozenset({"title", "description", "pattern"})
_BOUNDS: Mapping[str, tuple[str, ...]] = {
    "number": ("minimum", "maximum"),
    "integer": ("minimum", "maximum"),
    "string": ("minLength", "maxLength"),
    "array": ("minItems", "maxItems"),
    "object": ("minProperties", "maxProperties"),
}
_GEMINI_FORMATS = frozenset({"int32", "int64", "float", "double", "date-time", "enum"})
_MAX_LISTED = 40


class _FormConverter:
    def __init__(self, form: SchemaForm) -> None:
        self._gemini = form is SchemaForm.GEMINI
        self._nodes = 0

    def root(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        made = self._typed(schema, "object")
        made.setdefault("properties", {})
        return made

    def node(self, node: Any) -> dict[str, Any]:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise SchemaTooLarge(
                message("more than {limit} nodes in the form that the endpoint accepts", limit=MAX_NODES)
            )
        found = merged(node) if isinstance(node, Mapping) else {}
        left_out = None if self._gemini else "description"
        branches = arms_of({key: value for key, value in found.items() if key != left_out})
        if branches:
            return self._any_of(branches, found)
        return self._typed(found, own_kind(found) or "string")  # providers require a type

    def _any_of(self, branches: list[dict[str, Any]], found: Mapping[str, Any]) -> dict[str, Any]:
        """Return alternatives; a single one needs no `anyOf`, and Google does not support null."""
        nullable = self._gemini and any(kinds_of(branch) == ("null",) for branch in branches)
        if nullable:
            branches = [one for one in branches if kinds_of(one) != ("null",)] or [{"type": "string"}]
        made: list[dict[str, Any]] = []
        for branch in branches:
            one = self.node(branch)
            # Nested alternatives are flattened; Google accepts nothing next to anyOf.
            made.extend(one["anyOf"] if "anyOf" in one else [one])
        unique = list({json.dumps(one, sort_keys=True, default=str): one for one in made}.values())
        if nullable:
            unique = [one | {"nullable": True} for one in unique]
        result: dict[str, Any] = unique[0] if len(unique) == 1 else {"anyOf": unique}
        if not self._gemini and isinstance(said := found.get("description"), str):
            result = {**result, "description": said}
        return result

    def _typed(self, node: Mapping[str, Any], kind: str) -> dict[str, Any]:
        result: dict[str, Any] = {"type": kind}
        if self._gemini and kind == "null":
            return {"type": "string", "nullable": True}
        if self._gemini and node.get("nullable") is True:
            result["nullable"] = True
        result |= {key: node[key] for key in _SHARED if isinstance(node.get(key), str)}
        is_number = kind in ("number", "integer")
        for key in _BOUNDS.get(kind, ()):
            value: Any = node.get(key)
            if has_kind(value, "number" if is_number else "integer") and (is_number or value >= 0):
                result[key] = value
        if kind != "string":
            result.pop("pattern", None)
        if isinstance(form := node.get("format"), str) and (not self._gemini or form in _GEMINI_FORMATS):
            result["format"] = form
        if kind == "array":
            items = node.get("items")
            result["items"] = self.node(items if isinstance(items, Mapping) else {"type": "string"})
        if kind == "object":
            self._members(node, result)
        self._values(node, kind, result)
        return result

    def _members(self, node: Mapping[str, Any], result: dict[str, Any]) -> None:
        members = object_in(node, "properties")
        if members or not self._gemini:
            result["properties"] = {str(name): self.node(inner) for name, inner in members.items()}
        required = node.get("required")
        names = [name for name in strings(required) if name in members]
        if names:
            result["required"] = list(dict.fromkeys(names))
        more = node.get("additionalProperties")
        if not self._gemini and isinstance(more, bool | Mapping):
            # {} means any value, which in this form is written `true`.
            described = isinstance(more, Mapping) and bool(more)
            result["additionalProperties"] = self.node(more) if described else more is not False

    def _values(self, node: Mapping[str, Any], kind: str, result: dict[str, Any]) -> None:
        fitting = [value for value in listed(node) if has_kind(value, kind)]
        if fitting and (kind == "string" or not self._gemini):
            result["enum"] = fitting
        elif fitting:
            # Google's enums are strings; other choices go into the description.
            shown = ", ".join(json.dumps(value, default=str)[:100] for value in fitting[:_MAX_LISTED])
            result["description"] = f"{result.get('description', '')} One of: {shown}.".strip()
        if not self._gemini and "default" in node and has_kind(node["default"], kind):
            result["default"] = node["default"]


KEY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
"""Accepted names."""


def with_plain_keys(schema: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return a schema with only accepted names, and the old names by the new ones.

    A new name is unique in the whole schema, so that it can be recognized without knowing its position.
    """
    names = list(dict.fromkeys(_names(schema)))
    taken = set(names)
    renames: dict[str, str] = {}
    for name in names:
        if not KEY.fullmatch(name):
            renames[name] = _fresh(name, taken)
            taken.add(renames[name])
    if not renames:
        return dict(schema), {}
    return _renamed(schema, renames), {new: old for old, new in renames.items()}


def renamed_keys(value: Any, names: Mapping[str, str]) -> Any:
    """Return arguments with their names replaced at any depth; names not in `names` stay."""
    if isinstance(value, Mapping):
        return {names.get(key, key): renamed_keys(item, names) for key, item in value.items()}
    return [renamed_keys(item, names) for item in value] if isinstance(value, list) else value


def _fresh(name: str, taken: set[str]) -> str:
    stem = re.sub(r"[^a-zA-Z0-9_.-]+", "_", name)[:64] or "_"
    if stem not in taken:
        return stem
    digest = hashlib.sha256(name.encode("utf-8", "backslashreplace")).hexdigest()
    fresh = (f"{stem[: 63 - length]}_{digest[:length]}" for length in range(8, 64, 8))
    return next(one for one in fresh if one not in taken)


def _names(schema: Mapping[str, Any]) -> Iterator[str]:
    yield from map(str, object_in(schema, "properties"))
    for inner in subschemas(schema):
        yield from _names(inner)


def _renamed(node: Any, names: Mapping[str, str]) -> Any:
    if isinstance(node, list):
        return [_renamed(item, names) for item in node]
    if not isinstance(node, Mapping):
        return node
    made: dict[str, Any] = {}
    for key, value in node.items():
        if key in NAME_MAPS and isinstance(value, Mapping):
            known = names if key == "properties" else {}
            made[key] = {known.get(name, name): _renamed(inner, names) for name, inner in value.items()}
        elif key == "required" and isinstance(value, list):
            made[key] = [names.get(name, name) if isinstance(name, str) else name for name in value]
        else:
            made[key] = value if key in DATA else _renamed(value, names)
    return made
