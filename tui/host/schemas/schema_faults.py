"""Finds what makes a tool's JSON Schema unusable, without running a validator. Pure.

Schemas come from servers, and may be as deep, large and circular as JSON allows. So this does not recurse.
Nothing is ever fetched, because the specification forbids it.
"""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from tui.core.text import quoted_name
from tui.core.units import place_in

MAX_DEPTH = 64
MAX_NODES = 20_000

_IN_PLACE = ("allOf", "anyOf", "oneOf")
_IN_PLACE_SINGLE = ("not", "if", "then", "else")
_DATA = ("const", "enum", "default", "examples", "example")


def schema_fault(schema: Any) -> str:
    """Return why a tool with this schema cannot be offered, or ""."""
    if not isinstance(schema, dict):
        return f"is {_kind(schema)}, not an object"
    fault = _too_much(schema)
    if fault:
        return fault
    ids, refs = _names(schema)
    for ref in refs:
        if not isinstance(ref, str):
            return "has a $ref that is not a string"
        if not ref.startswith("#") and ref.split("#")[0] not in ids:
            return f"has an external $ref ({quoted_name(ref, 80)}), which mcptui does not fetch"
    # A validator would never return from a schema that applies itself to the same value.
    done: set[int] = set()
    return "has a circular reference" if any(_circles(schema, node, done) for node in _nodes(schema)) else ""


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    names = {bool: "a boolean", int: "a number", float: "a number", str: "text", list: "an array"}
    return names.get(type(value), "missing")


def _too_much(schema: Any) -> str:
    nodes = 0
    level: list[Any] = [schema]
    for _ in range(MAX_DEPTH):
        below: list[Any] = []
        for value in level:
            nodes += 1
            if isinstance(value, dict):
                below.extend(value.values())
            elif isinstance(value, list):
                below.extend(value)
        if nodes + len(below) > MAX_NODES:
            return f"has more than {MAX_NODES:,} parts"
        if not below:
            return ""
        level = below
    return f"nests deeper than {MAX_DEPTH} levels"


def _nodes(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield every object that stands where a schema is allowed."""
    stack: list[Any] = [schema]
    while stack:
        node = stack.pop()
        if isinstance(node, list):
            stack.extend(node)
        elif isinstance(node, dict):
            yield node
            stack.extend(value for key, value in node.items() if key not in _DATA)


def _names(schema: Mapping[str, Any]) -> tuple[set[str], list[Any]]:
    """Return every `$id`, and the target of every `$ref`."""
    ids: set[str] = set()
    refs: list[Any] = []
    for node in _nodes(schema):
        if isinstance(found := node.get("$id"), str):
            ids.add(found.split("#")[0])
        # A property may be called "$ref"; then its value is a schema, not text.
        refs.extend(
            node[key] for key in ("$ref", "$dynamicRef") if key in node and not isinstance(node[key], dict)
        )
    return ids, refs


def _resolved(schema: Mapping[str, Any], ref: str) -> Any:
    node: Any = schema
    for step in filter(None, unquote(ref[1:]).split("/")):
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(node, dict):
            node = node.get(name)
        elif isinstance(node, list) and (place := place_in(name, len(node))) is not None:
            node = node[place]
        else:
            return None
    return node


def _applied_at_once(schema: Mapping[str, Any], node: Mapping[str, Any]) -> Iterator[Any]:
    if isinstance(ref := node.get("$ref"), str) and ref.startswith("#"):
        yield _resolved(schema, ref)
    for key in _IN_PLACE:
        if isinstance(found := node.get(key), list):
            yield from found
    for key in _IN_PLACE_SINGLE:
        yield node.get(key)


def _circles(schema: Mapping[str, Any], start: Mapping[str, Any], done: set[int]) -> bool:
    """Depth-first search with an explicit stack; `done` holds nodes known to be free of cycles."""
    path: list[tuple[int, Iterator[Any]]] = []
    on_path: set[int] = set()
    following: Any = start
    while True:
        if isinstance(following, dict) and id(following) not in done:
            if id(following) in on_path:
                return True
            on_path.add(id(following))
            path.append((id(following), _applied_at_once(schema, following)))
        if not path:
            return False
        following = next(path[-1][1], _END)
        while following is _END:
            known, _ = path.pop()
            on_path.discard(known)
            done.add(known)
            if not path:
                return False
            following = next(path[-1][1], _END)


_END = object()
