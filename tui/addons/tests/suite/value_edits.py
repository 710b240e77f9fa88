"""The smallest edits that turn one value in a text into another, for JSON and TOML. Pure."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tui.addons.tests.suite.toml_text import json_of
from tui.core.comparison.placeholders import same
from tui.core.jsonrpc.reader import loads
from tui.settings.key_positions import KeyPath, Place, json_places

Edit = tuple[int, int, str]
"""Start and end of a part of a text, and what replaces it."""


class NoPlace(LookupError):
    """A value has no place in the text: it is too deep, or in tables of its own."""


def with_edits(text: str, edits: list[Edit]) -> str:
    """Return a text with some parts replaced, which do not overlap."""
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def leaf_edits(
    before: Any,
    after: Any,
    path: KeyPath,
    places: Mapping[KeyPath, Place],
    write: Callable[[Any, int], str],
) -> Iterator[Edit]:
    """Yield an edit for each leaf that differs; objects and lists of another size are written as a whole.

    `write` returns a value as text for a position. Raises `NoPlace`.
    """
    if same(before, after):
        return
    if isinstance(before, dict) and isinstance(after, dict) and before.keys() == after.keys():
        for name, member in before.items():
            yield from leaf_edits(member, after[name], (*path, name), places, write)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for at, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from leaf_edits(one, other, (*path, at), places, write)
    else:
        place = places.get(path)
        if place is None or place.header:
            raise NoPlace
        yield place.start, place.end, write(after, place.start)


def edited_json(text: str, after: Any) -> str:
    """Return a JSON text with another value, whose formatting stays where nothing differs."""
    places = {**json_places(text), (): Place(1, len(text) - len(text.lstrip()), len(text.rstrip()))}

    def write(value: Any, at: int) -> str:
        line = text[text.rfind("\n", 0, at) + 1 : at]
        return json_of(value, indent=line[: len(line) - len(line.lstrip())])

    try:
        made = with_edits(text, list(leaf_edits(loads(text), after, (), places, write)))
        return made if same(loads(made), after) else json_of(after)
    except (NoPlace, ValueError):
        return json_of(after)
