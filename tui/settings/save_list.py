"""Changes one item of a list of strings in the configuration, and keeps comments between the others."""

import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import tomli_w

from tui.core.errors import ConfigError
from tui.settings.key_positions import Place, toml_places
from tui.settings.save import change_text, first_parsing_as, with_value

Key = tuple[str, ...]


def add_item(path: Path, key: Key, item: str) -> None:
    """Append an item to a list, which is created if missing. Raises ConfigError like `set_value`."""
    change_text(path, lambda text: with_item(text, key, item))


def change_item(path: Path, key: Key, number: int, is_meant: Callable[[str], bool], item: str | None) -> None:
    """Replace the `number`th item of a list, from 1, or remove it if `item` is None.

    Raises:
        ConfigError: like `set_value`, also if the item does not exist or `is_meant` rejects it, because the
            file has changed.
    """

    def edit(text: str) -> str:
        items = _items(text, key)
        if not 0 < number <= len(items) or not is_meant(items[number - 1]):
            raise ConfigError(
                f"`{'.'.join(key)}` has changed in the file, or contains a reference. Nothing was saved.",
                next_step="Edit the file instead.",
            )
        if item is None:
            return without_item(text, key, number)
        return _first(
            text, key, [*items[: number - 1], item, *items[number:]], _replaced(text, key, number, item)
        )

    change_text(path, edit)


def remove_items(path: Path, key: Key, item: str) -> None:
    """Remove all items equal to `item` from a list. Raises ConfigError like `set_value`."""

    def edit(text: str) -> str:
        while item in (items := _items(text, key)):
            text = without_item(text, key, items.index(item) + 1)
        return text

    change_text(path, edit)


def with_item(text: str, key: Key, item: str) -> str:
    """Return TOML with an item added at the end of a list. Raises ValueError if the value is not a list."""
    items = _items(text, key)
    return _first(text, key, [*items, item], _added(text, key, item, len(items)))


def without_item(text: str, key: Key, number: int) -> str:
    """Return TOML without the `number`th item of a list, from 1."""
    items = _items(text, key)
    return _first(text, key, [*items[: number - 1], *items[number:]], _removed(text, key, number, len(items)))


def _items(text: str, key: Key) -> list[str]:
    found: Any = tomllib.loads(text)
    for name in key:
        found = found.get(name, []) if isinstance(found, Mapping) else []
    items = [found] if isinstance(found, str) else found
    if not isinstance(items, list) or not all(isinstance(one, str) for one in items):
        raise ValueError(f"{'.'.join(key)} is not an array of strings")
    return items


def _first(text: str, key: Key, items: list[str], candidates: Iterator[str]) -> str:
    """Return the first candidate that parses as exactly this list. If none does, rewrite the list."""
    whole = with_value(text, key, items)
    found = first_parsing_as(tomllib.loads(whole), candidates)
    return whole if found is None else found


def _place(text: str, key: Key, number: int) -> Place | None:
    return toml_places(text).get((*key, number - 1))


def _replaced(text: str, key: Key, number: int, item: str) -> Iterator[str]:
    if (place := _place(text, key, number)) is not None:
        yield text[: place.start] + _literal(item) + text[place.end :]


def _added(text: str, key: Key, item: str, count: int) -> Iterator[str]:
    last, whole = _place(text, key, count), toml_places(text).get(key)
    if last is None or whole is None:
        return
    behind = text[last.end : whole.end - 1]
    if "\n" in behind:  # the bracket is on its own line
        begin = text.rfind("\n", 0, last.start) + 1
        lead = text[begin : last.start]
        indent = lead[: len(lead) - len(lead.lstrip())] if lead.strip() == "" else "    "
        comma = "" if behind.lstrip().startswith(",") else ","
        kept = behind[: behind.rfind("\n") + 1]
        yield f"{text[: last.end]}{comma}{kept}{indent}{_literal(item)},\n{text[last.end + len(kept) :]}"
    yield f"{text[: last.end]}, {_literal(item)}{text[last.end :]}"


def _removed(text: str, key: Key, number: int, count: int) -> Iterator[str]:
    place = _place(text, key, number)
    if place is None:
        return
    begin = text.rfind("\n", 0, place.start) + 1
    end = text.find("\n", place.end) + 1
    if end and not text[begin : place.start].strip():  # the item is on its own line, with its comment
        yield text[:begin] + text[end:]
    following, previous = _place(text, key, number + 1), _place(text, key, number - 1)
    if number < count and following is not None:
        yield text[: place.start] + text[following.start :]
    if previous is not None:
        yield text[: previous.end] + text[place.end :]


def _literal(item: str) -> str:
    return tomli_w.dumps({"k": item}).removeprefix("k = ").rstrip("\n")
