"""Changes a TOML text in one place and leaves the rest, comments above all, as a person wrote it. Pure.

Every edit is checked by parsing: it must give exactly the old values with the change made. Where no
small edit does, the whole text is written anew from its values, which costs the comments.
"""

import copy
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import tomli_w

from tui.settings.places import toml_places

Value = str | bool | int | float | Sequence[str]


def with_value(text: str, key: tuple[str, ...], value: Value) -> str:
    """Return `text` with the value at `key` set.

    Args:
        text: a TOML document.
        key: the path of the key, its tables first; they are made if they are missing.
        value: what it is to be.

    Raises:
        ValueError: `text` is not TOML, or one of the tables is something else.
    """
    value = value if isinstance(value, str | bool | int | float) else list(value)
    wanted = tomllib.loads(text)
    table: Any = wanted
    for part in key[:-1]:
        table = table.setdefault(part, {})
        if not isinstance(table, dict):
            raise ValueError(f"{part} is not a table")
    table[key[-1]] = value
    return _first_that_gives(wanted, _value_edits(text, key, value))


def with_servers(text: str, servers: Mapping[str, Mapping[str, Any]]) -> str:
    """Return `text` with tables `[servers.NAME]` added at its end.

    Raises:
        ValueError: `text` is not TOML, or one of the names is taken.
    """
    wanted = tomllib.loads(text)
    present = wanted.setdefault("servers", {})
    if not isinstance(present, dict) or present.keys() & servers.keys():
        raise ValueError("these servers cannot be added: a name is taken")
    present |= {name: copy.deepcopy(dict(table)) for name, table in servers.items()}
    block = tomli_w.dumps({"servers": {name: dict(table) for name, table in servers.items()}})
    return _first_that_gives(wanted, iter([_appended(text, block)]))


def _first_that_gives(wanted: dict[str, Any], candidates: Iterator[str]) -> str:
    for candidate in candidates:
        try:
            if tomllib.loads(candidate) == wanted:
                return candidate
        except ValueError:
            continue
    return tomli_w.dumps(wanted)


def _value_edits(text: str, key: tuple[str, ...], value: Value) -> Iterator[str]:
    places = toml_places(text)
    newline = _newline(text)
    literal = tomli_w.dumps({"k": value}).removeprefix("k = ").rstrip("\n").replace("\n", newline)
    name = tomli_w.dumps({key[-1]: 0}).removesuffix(" = 0\n")
    if (place := places.get(key)) is not None and not place.header:
        yield text[: place.start] + literal + text[place.end :]
    if (place := places.get(key[:-1])) is not None:
        if place.header:
            yield _inserted(text, place.start, f"{name} = {literal}")
        elif text[place.start : place.start + 1] == "{":
            behind = place.start + 1
            rest = text[behind : place.end].strip()
            comma = "" if rest == "}" else ","
            yield f"{text[:behind]} {name} = {literal}{comma}{text[behind:]}"
    if len(key) == 1:
        headers = [place.line for place in places.values() if place.header]
        lines = text.splitlines(keepends=True)
        offset = sum(map(len, lines[: min(headers) - 1])) if headers else len(text)
        yield _inserted(text, offset, f"{name} = {literal}")
    yield _appended(text, tomli_w.dumps(_nested(key, value)))


def _nested(key: tuple[str, ...], value: Value) -> dict[str, Any]:
    tree: Any = value
    for part in reversed(key):
        tree = {part: tree}
    return dict(tree)


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _inserted(text: str, offset: int, line: str) -> str:
    newline = _newline(text)
    before = text[:offset]
    gap = newline if before and not before.endswith("\n") else ""
    return f"{before}{gap}{line}{newline}{text[offset:]}"


def _appended(text: str, block: str) -> str:
    newline = _newline(text)
    before = text.rstrip()
    gap = newline * 2 if before else ""
    return f"{before}{gap}{block.replace(chr(10), newline)}"
