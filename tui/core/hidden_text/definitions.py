"""Scans what a server says about itself: its instructions, tools with their schemas, resources and prompts.

All strings and keys of a definition are scanned, at any depth and under any keyword, known or not, because a
model gets the whole schema. A text that is too long to scan is a finding of its own.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tui.core.hidden_text.readable import readable_line
from tui.core.hidden_text.scan import DOUBTFUL, MAX_CHARS, HiddenText, Sign, scan

MAX_FOUND = 20
"""Maximum findings per definition; more add no information."""

MAX_NODES = 50_000
"""Maximum values of a definition that are scanned. A schema that can be offered has fewer."""

PLACE_CHARS = 4 * MAX_CHARS
"""Characters of one place, such as an argument, that are scanned."""

ALL_CHARS = 16 * MAX_CHARS
"""Characters of one definition that are scanned."""

_OVERLAP = 1_000
"""Overlap of the parts of a long text, so that an instruction across a boundary is found."""

_CUT = frozenset({"title", "description"})
"""Texts of a definition, outside its schemas, that are truncated everywhere."""

_NAMED = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_UNUSED = frozenset({"_meta", "icons"})
"""Parts that reach neither the user nor a model."""

_PARTS = {"inputSchema": "argument", "outputSchema": "result"}
"""The schemas of a definition, and the word for the values that each describes."""

_WORD = re.compile("[A-Za-z0-9_$-]{0,64}")
"""Matches texts that can neither hide nor say anything."""


def in_instructions(text: str) -> tuple[HiddenText, ...]:
    """Return the findings in a server's instructions."""
    return tuple(scan(text, "instructions"))


def in_definition(raw: Mapping[str, Any]) -> tuple[HiddenText, ...]:
    """Return the findings in the raw texts of a tool, resource, template or prompt."""
    texts = _Texts()
    for key, value in raw.items():
        if key in _UNUSED:
            continue
        if key in _CUT and isinstance(value, str):
            texts.add(key, value[:MAX_CHARS])
        elif key == "annotations" and isinstance(value, Mapping) and isinstance(value.get("title"), str):
            texts.add("title", value["title"][:MAX_CHARS])
            texts.add_all(key, {name: inner for name, inner in value.items() if name != "title"})
        elif key == "arguments" and isinstance(value, list):
            for item in value:
                name = item.get("name") if isinstance(item, Mapping) else None
                texts.add_all(_called("argument", name) if isinstance(name, str) else "argument", item)
        else:
            texts.add_all(_PARTS.get(key) or readable_line(str(key), 40), value)
    found = list(texts.findings())
    if len(found) > MAX_FOUND:
        found.sort(key=lambda one: one.sign not in DOUBTFUL)
    return tuple(found[:MAX_FOUND])


class _Texts:
    """The texts of a definition by place, in the user's words, within the limits of what is scanned."""

    def __init__(self) -> None:
        self._places: dict[str, list[str]] = {}
        self._unread: dict[str, None] = {}
        self._nodes = 0

    def add(self, place: str, text: str) -> None:
        if not _WORD.fullmatch(text) and not text.isspace():
            self._places.setdefault(place, []).append(text.rstrip())

    def add_all(self, part: str, value: Any) -> None:
        """Add every string and key in a value, however deep."""
        waiting = [(part, value)]
        while waiting:
            place, node = waiting.pop()
            self._nodes += 1 + (len(node) if isinstance(node, Mapping | list) else 0)
            if self._nodes > MAX_NODES:
                self._unread[place] = None
                return
            below: list[tuple[str, Any]] = []
            if isinstance(node, str):
                self.add(place, node)
            elif isinstance(node, Mapping):
                for key, inner in node.items():
                    if key in _NAMED and isinstance(inner, Mapping):
                        below += self._named(part, inner)
                    else:
                        self.add(place, str(key))
                        below.append((place, inner))
            elif isinstance(node, list):
                below += ((place, one) for one in node)
            waiting += reversed(below)

    def _named(self, part: str, values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        self._nodes += len(values)
        for name, below in values.items():
            place = _called(part, str(name))
            self.add(place, str(name))
            yield place, below

    def findings(self) -> Iterator[HiddenText]:
        """Yield each sign of a place once, and the places that are too long."""
        left = ALL_CHARS
        for place, texts in self._places.items():
            text = "\n".join(texts)
            room = min(left, PLACE_CHARS)
            if len(text) > room:
                self._unread[place] = None
            left -= min(len(text), room)
            seen = set()
            for start in range(0, min(len(text), room), MAX_CHARS - _OVERLAP):
                for one in scan(text[start : min(start + MAX_CHARS, room)], place):
                    if one.sign not in seen:
                        seen.add(one.sign)
                        yield one
        yield from (HiddenText(Sign.UNREAD, place, "") for place in self._unread)


def _called(part: str, name: str) -> str:
    return f"{part} {readable_line(name, 40)}"
