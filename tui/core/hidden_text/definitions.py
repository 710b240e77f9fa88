"""Scans what a server says of itself: its instructions, tools with their schemas, resources and prompts."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tui.core.hidden_text.readable import readable_line
from tui.core.hidden_text.scan import MAX_CHARS, HiddenText, scan

MAX_FOUND = 20
"""Findings of one definition; more say nothing new."""

MAX_NODES = 4_000
"""Nodes of a schema that are looked at."""

_NAMED = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_SAID = ("title", "description", "$comment", "default", "const", "pattern", "format")
_LISTED = ("enum", "examples")


def in_tool(raw: Mapping[str, Any]) -> tuple[HiddenText, ...]:
    """Return what is in the texts of a tool, as it came from the server."""
    hints = raw.get("annotations")
    titled = hints.get("title") if isinstance(hints, Mapping) else None
    texts = [(key, raw.get(key)) for key in ("name", "title", "description")] + [("title", titled)]
    for key, what in (("inputSchema", "argument"), ("outputSchema", "result")):
        texts += _of_schema(raw.get(key), what)
    return _found(texts)


def in_instructions(text: str) -> tuple[HiddenText, ...]:
    """Return what is in the instructions of a server."""
    return _found([("instructions", text)])


def in_listed(raw: Mapping[str, Any]) -> tuple[HiddenText, ...]:
    """Return what is in the texts of a resource, a template or a prompt."""
    texts = [(key, raw.get(key)) for key in ("name", "title", "description")]
    arguments = raw.get("arguments")
    for item in arguments[:MAX_NODES] if isinstance(arguments, list) else ():
        if isinstance(item, Mapping):
            name = _named("argument", str(item.get("name")))
            texts += [(name, item.get("name")), (name, item.get("title")), (name, item.get("description"))]
    return _found(texts)


def _found(texts: Iterable[tuple[str, Any]]) -> tuple[HiddenText, ...]:
    found: list[HiddenText] = []
    left = 4 * MAX_CHARS
    for place, text in texts:
        if not isinstance(text, str) or not text:
            continue
        found += [one for one in scan(text[:left], place) if one not in found]
        left -= len(text)
        if left <= 0 or len(found) >= MAX_FOUND:
            break
    return tuple(found[:MAX_FOUND])


def _of_schema(schema: Any, what: str) -> Iterator[tuple[str, Any]]:
    """Yield each text of a schema with the name of the property that it is in."""
    waiting: list[tuple[str, Any]] = [(what, schema)]
    for _ in range(MAX_NODES):
        if not waiting:
            return
        place, node = waiting.pop()
        if isinstance(node, list):
            waiting += [(place, item) for item in reversed(node[:MAX_NODES])]
        if not isinstance(node, Mapping):
            continue
        for key, value in node.items():
            if key in _NAMED and isinstance(value, Mapping):
                for name, below in value.items():
                    inner = _named(what, str(name))
                    yield inner, name
                    waiting.append((inner, below))
            elif key in _SAID:
                yield place, value
            elif key in _LISTED and isinstance(value, list):
                yield from ((place, item) for item in value[:MAX_NODES])
            elif isinstance(value, Mapping | list):
                waiting.append((place, value))


def _named(what: str, name: str) -> str:
    return f"{what} {readable_line(name, 40)}"
