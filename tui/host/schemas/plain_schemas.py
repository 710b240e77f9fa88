"""Knows a JSON Schema that is plainly sound, without the library that knows them all (5 MB of it)."""

from collections.abc import Callable, Mapping
from typing import Any

_TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
_DIALECTS = ("https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema#")
MAX_DEPTH = 32


def is_plainly_sound(schema: Any, depth: int = 0) -> bool:
    """Whether a schema has only everyday keywords with values that every dialect allows.

    False says nothing: such a schema has to be held against its dialect (JSON Schema 2020-12, "meta-schema").
    """
    if isinstance(schema, bool):
        return depth > 0
    if not isinstance(schema, dict) or depth > MAX_DEPTH:
        return False
    return all(
        isinstance(name, str) and (name.startswith("x-") or _KEYWORDS.get(name, _unknown)(value, depth + 1))
        for name, value in schema.items()
    )


def _unknown(value: Any, depth: int) -> bool:
    return False


def _any(value: Any, depth: int) -> bool:
    return True


def _text(value: Any, depth: int) -> bool:
    return isinstance(value, str)


def _flag(value: Any, depth: int) -> bool:
    return isinstance(value, bool)


def _number(value: Any, depth: int) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _count(value: Any, depth: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _list(value: Any, depth: int) -> bool:
    return isinstance(value, list)


def _names(value: Any, depth: int) -> bool:
    texts = isinstance(value, list) and all(isinstance(name, str) for name in value)
    return texts and len(set(value)) == len(value)


def _type(value: Any, depth: int) -> bool:
    if isinstance(value, str):
        return value in _TYPES
    return _names(value, depth) and bool(value) and all(name in _TYPES for name in value)


def _schemas(value: Any, depth: int) -> bool:
    return isinstance(value, list) and bool(value) and all(is_plainly_sound(one, depth) for one in value)


def _named_schemas(value: Any, depth: int) -> bool:
    return isinstance(value, dict) and all(is_plainly_sound(one, depth) for one in value.values())


def _keywords() -> Mapping[str, Callable[[Any, int], bool]]:
    return {
        **dict.fromkeys(("title", "description", "format", "$comment"), _text),
        **dict.fromkeys(("default", "const"), _any),
        **dict.fromkeys(("enum", "examples"), _list),
        **dict.fromkeys(("deprecated", "readOnly", "writeOnly", "uniqueItems"), _flag),
        **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _number),
        **dict.fromkeys(
            ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), _count
        ),
        **dict.fromkeys(("items", "additionalProperties", "not"), is_plainly_sound),
        **dict.fromkeys(("anyOf", "oneOf", "allOf"), _schemas),
        **dict.fromkeys(("properties", "$defs", "definitions"), _named_schemas),
        "type": _type,
        "required": _names,
        "$ref": lambda value, depth: isinstance(value, str) and value.startswith("#/"),
        "$schema": lambda value, depth: value in _DIALECTS,
    }


_KEYWORDS = _keywords()
