"""Decides without a validator that a schema is sound, or that a value matches one. Pure.

Nearly every schema and call is decided here. The rest is left to the library, which takes 0.2 s and 3 MB to
load, and 200 times as long for a schema (measured).
"""

from collections.abc import Mapping
from typing import Any

from tui.core.schemas.schemas import TYPES, has_kind

DIALECTS = ("https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema#")
"""The dialects of nearly all tools."""

MAX_DEPTH = 32

_TEXT = frozenset({"title", "description", "format", "$comment"})
_ANY = frozenset({"default", "const"})
_LIST = frozenset({"enum", "examples"})
_FLAG = frozenset({"deprecated", "readOnly", "writeOnly", "uniqueItems"})
_NUMBER = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"})
_COUNT = frozenset({"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"})
_SCHEMA = frozenset({"items", "additionalProperties", "not"})
_SCHEMAS = frozenset({"anyOf", "oneOf", "allOf"})
_NAMED_SCHEMAS = frozenset({"properties", "$defs", "definitions"})

_REMARKS = frozenset(
    {"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment"}
)


def plainly_matches(schema: Any, value: Any) -> bool:
    """Whether `value` certainly matches `schema`; False is not a verdict: dialects may differ."""
    if isinstance(schema, bool):
        return schema
    return isinstance(schema, dict) and all(
        isinstance(name, str) and (name in _REMARKS or _satisfies_keyword(name, schema, value))
        for name in schema
    )


def _satisfies_keyword(name: str, schema: Mapping[str, Any], value: Any) -> bool:
    wanted = schema[name]
    match name:
        case "type":
            return any(has_kind(value, kind) for kind in (wanted if isinstance(wanted, list) else [wanted]))
        case "properties" | "additionalProperties":
            return isinstance(value, dict) and _has_members(schema, value)
        case "required":
            names = isinstance(wanted, list) and isinstance(value, dict)
            return names and all(isinstance(one, str) and one in value for one in wanted)
        case "items":
            return isinstance(value, list) and all(plainly_matches(wanted, one) for one in value)
        case "anyOf":
            return isinstance(wanted, list) and any(plainly_matches(one, value) for one in wanted)
        case "enum":
            return isinstance(value, str) and isinstance(wanted, list) and value in wanted
        case "$schema":
            return wanted in DIALECTS
        case "minimum" | "maximum" if has_kind(value, "number") and has_kind(wanted, "number"):
            return bool(value >= wanted if name == "minimum" else value <= wanted)
        case _:
            return False


def _has_members(schema: Mapping[str, Any], value: Mapping[str, Any]) -> bool:
    known, others = schema.get("properties", {}), schema.get("additionalProperties", True)
    return isinstance(known, dict) and all(
        plainly_matches(known.get(key, others), member) for key, member in value.items()
    )


def is_plainly_sound(schema: Any, depth: int = 0) -> bool:
    """Whether a schema has only common keywords with values that every dialect allows.

    False is not a verdict: such a schema must be validated by its dialect (JSON Schema 2020-12,
    "meta-schema").
    """
    if isinstance(schema, bool):
        return depth > 0
    if not isinstance(schema, dict) or depth > MAX_DEPTH:
        return False
    return all(
        isinstance(name, str) and (name.startswith("x-") or _is_sound(name, value, depth + 1))
        for name, value in schema.items()
    )


def _is_sound(keyword: str, value: Any, depth: int) -> bool:
    if keyword in _TEXT:
        return isinstance(value, str)
    if keyword in _FLAG:
        return isinstance(value, bool)
    if keyword in _NUMBER or keyword in _COUNT:
        kind = int if keyword in _COUNT else int | float
        return isinstance(value, kind) and not isinstance(value, bool) and (kind is not int or value >= 0)
    if keyword in _SCHEMA:
        return is_plainly_sound(value, depth)
    if keyword in _NAMED_SCHEMAS:
        return isinstance(value, dict) and all(is_plainly_sound(item, depth) for item in value.values())
    if keyword in _ANY or keyword in _LIST:
        return keyword in _ANY or isinstance(value, list)
    match keyword, value:
        case "type", str():
            return value in TYPES
        case (("type" | "required"), list()):
            names = all(isinstance(name, str) for name in value) and len(set(value)) == len(value)
            return names and (keyword == "required" or (bool(value) and TYPES.issuperset(value)))
        case "$ref", str():
            return value.startswith("#/")
        case "$schema", _:
            return value in DIALECTS
    is_list = keyword in _SCHEMAS and isinstance(value, list) and bool(value)
    return is_list and all(is_plainly_sound(item, depth) for item in value)
