"""Finds what makes a tool's schema unusable, without a validator. Pure.

Schemas come from servers, and may be as deep, large and circular as JSON allows, so this does not recurse.
Nothing is ever fetched, because the specification forbids it.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tui.core.jsonrpc.reader import REFERENCES, local_target, reference
from tui.core.language.translate import message
from tui.core.schemas.schemas import subschemas
from tui.core.text import quoted_name

MAX_DEPTH = 64
MAX_NODES = 20_000

_IN_PLACE = ("allOf", "anyOf", "oneOf")
_IN_PLACE_SINGLE = ("not", "if", "then", "else")


def schema_fault(schema: Any) -> str:
    """Return why a tool with this schema cannot be offered, or ""."""
    if not isinstance(schema, dict):
        return message("is {type}, not an object", type=_kind(schema))
    if fault := _too_much(schema):
        return fault
    nodes = list(_nodes(schema))
    ids = {node["$id"].split("#")[0] for node in nodes if isinstance(node.get("$id"), str)}
    for ref in (node[key] for node in nodes for key in REFERENCES if key in node):
        if not isinstance(ref, str):
            return message("has a $ref that is not a string")
        if not ref.startswith("#") and ref.split("#")[0] not in ids:
            return message(
                "has an external $ref ({ref}), which mcptui does not fetch", ref=quoted_name(ref, 80)
            )
    # A validator would never return from a schema that applies itself to the same value.
    done: set[int] = set()
    is_circular = any(_circles(schema, node, done) for node in nodes)
    return message("has a circular reference") if is_circular else ""


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    number = message("a number")
    names = {bool: message("a boolean"), int: number, float: number}
    names |= {str: message("text"), list: message("an array")}
    return names.get(type(value)) or message("missing")


def _too_much(schema: Any) -> str:
    nodes, level = 1, [schema]
    for _ in range(MAX_DEPTH):
        level = [part for node in level for part in parts(node)]
        nodes += len(level)
        if nodes > MAX_NODES:
            return message("has more than {limit:,} parts", limit=MAX_NODES)
        if not level:
            return ""
    return message("nests deeper than {limit} levels", limit=MAX_DEPTH)


def parts(node: Any) -> Iterable[Any]:
    """Return the values in an object or a list; nothing for other values."""
    return node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()


def _nodes(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield a schema and all schemas in it."""
    stack = [schema]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(subschemas(node))


def _applied_at_once(schema: Mapping[str, Any], node: Mapping[str, Any]) -> Iterator[Any]:
    yield local_target(schema, reference(node))
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
