"""Converts arguments written as plain text to the types in the tool's schema. Pure."""

import ast
import re
from collections.abc import Mapping
from typing import Any

from tui.model.dialects.mend import UnreadableJson, mend, read_json

_BRACKET = re.compile(r""""[^"\\]*(?:\\.[^"\\]*)*"|'[^'\\]*(?:\\.[^'\\]*)*'|["'()\[\]{}]""", re.DOTALL)
_WORDS = {"True": True, "False": False, "None": None, "true": True, "false": False, "null": None}
_JSON_TYPES: dict[type, tuple[str, ...]] = {
    bool: ("boolean",),
    int: ("integer", "number"),
    float: ("number",),
    dict: ("object",),
    list: ("array",),
    type(None): ("null",),
}


def properties_of(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the properties of an object schema."""
    found = schema.get("properties")
    return found if isinstance(found, Mapping) else {}


def sole_property(schema: Mapping[str, Any]) -> str:
    """Return the one property that plain text can be meant for, or "".

    It is the only required property, else the only property.
    """
    properties = properties_of(schema)
    required = schema.get("required")
    names = [name for name in required if name in properties] if isinstance(required, list) else []
    names = names or list(properties)
    return str(names[0]) if len(names) == 1 else ""


def typed(text: str, schema: Any) -> Any:
    """Return the value of `text` for `schema`.

    A value that may be a string stays one. Without a known type, it becomes a number, boolean, null, object
    or array if it parses as one, else a string.
    """
    choices = schema.get("enum") if isinstance(schema, Mapping) else None
    if isinstance(choices, list) and text in choices:
        return text
    types = _types(schema)
    bare = text.strip()
    if types and _takes_text(types) and not ("null" in types and bare in ("null", "None")):
        return text
    value = _read(bare)
    if isinstance(value, str):
        return text
    if isinstance(value, float) and value.is_integer() and "integer" in types and "number" not in types:
        value = int(value)
    fits = any(name in types for name in _JSON_TYPES[type(value)])
    return value if fits or not types else text


def typed_all(values: Mapping[str, str], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments given as plain text, converted by the schema."""
    properties = properties_of(schema)
    return {name: typed(text, properties.get(name)) for name, text in values.items()}


MAX_DEPTH = 8
"""Levels of arguments that are converted."""


def fitted(value: Any, schema: Any, depth: int = 0) -> Any:
    """Return arguments with each text converted for which the schema has another type (`"2"` becomes 2).

    A null that the schema does not allow counts as omitted if the property is optional.
    """
    if depth > MAX_DEPTH or not isinstance(schema, Mapping):
        return value
    types = _types(schema)
    if isinstance(value, str) and types and "string" not in types:
        read = typed(value, schema)
        return read if isinstance(read, str) else fitted(read, schema, depth + 1)
    if isinstance(value, list):
        items = schema.get("items")
        return [fitted(item, items, depth + 1) for item in value]
    if isinstance(value, dict):
        properties, required = properties_of(schema), schema.get("required")
        needed = required if isinstance(required, list) else []
        return {
            name: fitted(item, properties.get(name), depth + 1)
            for name, item in value.items()
            if item is not None or name in needed or not _forbids_null(properties.get(name))
        }
    return value


def _forbids_null(schema: Any) -> bool:
    types = _types(schema)
    return bool(types) and "null" not in types


def _takes_text(types: frozenset[str]) -> bool:
    return not types or "string" in types


def _types(schema: Any, depth: int = 0) -> frozenset[str]:
    """Return the types that a schema accepts; empty if it does not say."""
    if not isinstance(schema, Mapping) or depth > 4:
        return frozenset()
    said = schema.get("type")
    found = {said} if isinstance(said, str) else {item for item in said or () if isinstance(item, str)}
    for combiner in ("anyOf", "oneOf"):
        branches = schema.get(combiner)
        for branch in branches if isinstance(branches, list) else ():
            found |= _types(branch, depth + 1)
    choices = schema.get("enum")
    for choice in choices if isinstance(choices, list) and not said else ():
        found |= {"string"} if isinstance(choice, str) else set(_JSON_TYPES.get(type(choice), ()))
    return frozenset(found)


def _read(text: str) -> Any:
    """Return the JSON or Python value of `text`, or `text` itself."""
    if text in _WORDS:
        return _WORDS[text]
    try:
        return mend(text).value if text[:1] in ("{", "[") else read_json(text)
    except UnreadableJson:
        return text


def keywords(text: str) -> dict[str, Any] | None:
    """Return the arguments of a call in program syntax (`city="Oslo", days=2`), or None if it is not one.

    Unnamed values have the keys "0", "1", ….
    """
    if len(text) > 16_384:
        return None
    try:
        call = ast.parse(f"_({text})", mode="eval").body
        if not isinstance(call, ast.Call):
            return None
        found = {str(place): ast.literal_eval(value) for place, value in enumerate(call.args)}
        found |= {word.arg: ast.literal_eval(word.value) for word in call.keywords if word.arg}
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    return found


def bracket_end(text: str, start: int) -> int:
    """Return the offset after the bracket that closes the one at `start`, or -1; strings are skipped."""
    depth = 0
    for found in _BRACKET.finditer(text, start):
        token = found.group()
        if token in ('"', "'"):  # an unterminated string
            return -1
        if token in ("(", "[", "{"):
            depth += 1
        elif token in (")", "]", "}"):
            depth -= 1
            if depth <= 0:
                return found.end()
    return -1
