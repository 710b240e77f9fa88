"""Changes the text of a suite: adds a server, cases and turn cases, and rewrites an expectation. Pure.

Only the changed values are written again. Comments, order and formatting of everything else stay byte for
byte, also within the JSON of a result. Every text that is returned was read again: it says what it should.
"""

import copy
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from tui.addons.tests.suite.case import Case, Expectation, SuiteServer, TurnCase
from tui.addons.tests.suite.case_text import (
    KEY_ORDER,
    SCHEMA_LINE,
    case_toml,
    default_name,
    expectation_values,
    server_toml,
    turn_toml,
    value_text,
)
from tui.addons.tests.suite.read import suite_of
from tui.addons.tests.suite.toml_text import inline, json_of, json_string
from tui.core.comparison.placeholders import same
from tui.core.errors import ConfigError
from tui.core.jsonrpc.reader import json_text, loads
from tui.core.text import quoted_name
from tui.settings.key_positions import KeyPath, Place, json_places, toml_places
from tui.settings.save import lines_of, newline_of

_FILE = Path("suite.mcp.toml")
_EXPECTED = ("text", "result", "content", "error", "within", "findings")


def with_server(text: str, server: SuiteServer) -> str:
    """Return a suite with its server; a new one also gets the line that names the schema.

    Raises ConfigError if it names another server.
    """
    there = suite_of(text, _FILE).server
    if there is not None:
        if replace(there, line=1) != replace(server, line=1):
            raise ConfigError("the file names another server")
        return text
    head, rest = ("", text) if text.strip() else (f"{SCHEMA_LINE}\n\n", "")
    if text.startswith("#"):  # its first comments stay in front
        lines = lines_of(text)
        count = next((at for at, line in enumerate(lines) if not line.startswith("#")), len(lines))
        head, rest = "".join(lines[:count]), "".join(lines[count:])
        head += "" if head.endswith("\n") else "\n"
    block = _with_ends(server_toml(server), text)
    gap = newline_of(text) if rest.strip() and not rest.startswith(("\n", "\r\n")) else ""
    made, others = f"{head}{block}{gap}{rest}", tomllib.loads(text)
    if not server.name and any(
        not place.header for path, place in toml_places(text).items() if len(path) == 1
    ):
        made = _appended(text, server_toml(server))  # a table would take the keys after it
    return _verified(made, lambda tree: {**others, "server": tree.get("server")} == tree)


def with_case(text: str, case: Case) -> str:
    """Return a suite with a case at its end.

    Raises SuiteError, for example if its name is there already, and ConfigError if it has half of a surrogate
    pair, which is not a character.
    """
    made = _appended(text, case_toml(case))
    there = suite_of(made, _FILE).cases[-1]
    if not same(_meant(there), _meant(case)):
        raise ConfigError(f"{quoted_name(case.name)} cannot be written: it has an invalid character")
    return made


def with_turn(text: str, turn: TurnCase) -> str:
    """Return a suite with a turn case at its end. Raises SuiteError as `with_case`."""
    made = _appended(text, turn_toml(turn))
    suite_of(made, _FILE)
    return made


def with_expectation(text: str, number: int, expected: Expectation, *, then: int = -1) -> str:
    """Return a suite in which a case expects something else; `then` is the number of one of its `then`.

    Keys whose values stay are not touched, and neither is what stays the same within a result. Raises
    ConfigError if that is impossible.
    """
    case = suite_of(text, _FILE).cases[number]
    path: KeyPath = ("call", number)
    if then >= 0:
        case, path = case.then[then], (*path, "then", then)
    before, after = expectation_values(case.expected), expectation_values(expected)
    for key in _EXPECTED:
        if key in before and key not in after:
            text = _changed(text, (*path, key), _REMOVED)
        elif key in after and (key not in before or not same(before[key], after[key])):
            text = _changed(text, (*path, key), after[key])
    suite_of(text, _FILE)
    return text


def without_case(text: str, number: int) -> str:
    """Return a suite without a case, and without the comments between its keys."""
    places = toml_places(text)
    lines = lines_of(text)
    first = places["call", number].line - 1
    headers = sorted(place.line - 1 for path, place in places.items() if place.header)
    own = {place.line - 1 for path, place in places.items() if path[:2] == ("call", number) and place.header}
    last = next((line for line in headers if line > first and line not in own), len(lines))
    while last < len(lines) and last > first + 1 and lines[last - 1].lstrip().startswith("#"):
        last -= 1  # a comment directly above the next table belongs to it
    tree = tomllib.loads(text)
    del tree["call"][number]
    made = "".join(lines[:first] + lines[last:])
    return _verified(made, lambda found: found.get("call", []) == tree["call"])


# ---- blocks ------------------------------------------------------------------------------------------------


def _appended(text: str, block: str) -> str:
    if not text.strip():
        text = text or f"{SCHEMA_LINE}\n"
    end = newline_of(text)
    gap = "" if text.endswith("\n") else end
    return f"{text}{gap}{end}{_with_ends(block, text)}"


def _with_ends(block: str, text: str) -> str:
    return block.replace("\n", newline_of(text))


def _verified(text: str, is_right: Callable[[Mapping[str, Any]], bool]) -> str:
    suite_of(text, _FILE)
    if not is_right(tomllib.loads(text)):
        raise ConfigError("its keys are in an unusual order")
    return text


# ---- values ------------------------------------------------------------------------------------------------


_REMOVED = object()


def _changed(text: str, path: KeyPath, value: Any) -> str:
    """Return a text with a key of a case set to a value, or removed, by the smallest edit that does so."""
    tree = tomllib.loads(text)
    for candidate in _candidates(text, path, value, tree):
        with suppress(ValueError):
            found = tomllib.loads(candidate)
            there = _taken(found, path)
            is_right = there is value if value is _REMOVED else same(_meaning(path, there), value)
            if is_right and found == _without(tree, path):
                return candidate
    raise ConfigError(f"{path[-1]} is written in an unusual way, or has an invalid character")


def _candidates(text: str, path: KeyPath, value: Any, tree: Mapping[str, Any]) -> Iterator[str]:
    places = toml_places(text)
    place, holder = places.get(path), places.get(path[:-1])
    key = str(path[-1])
    is_block = holder is None or holder.header
    is_gone = value is _REMOVED
    written = "" if is_gone else _with_ends(value_text(key, value, inside=not is_block), text)
    if place is not None and not place.header:
        if is_gone:
            yield _cut_line(text, place) if is_block else _cut_member(text, place)
        else:
            if (edited := _edited(text, path, place, value, places, tree)) is not None:
                yield edited
            yield text[: place.start] + written + text[place.end :]
    elif holder is not None and not is_gone and _taken(copy.deepcopy(tree), path) is _REMOVED:
        yield _inserted(text, places, path, f"{key} = {written}", is_block=is_block)
    yield from _by_tomlkit(text, path, written)


def _edited(
    text: str, path: KeyPath, place: Place, value: Any, places: Mapping[KeyPath, Place], tree: Any
) -> str | None:
    """Return the text with the parts of a value changed that differ, None if it is changed as a whole."""
    before = _taken(copy.deepcopy(tree), path)
    raw = text[place.start : place.end]
    if isinstance(before, str):
        if path[-1] != "result":
            return None
        made = edited_json(before, value)
        quotes = "'''" if raw.startswith("'''") else raw[0]
        line = raw[3 : raw.find("\n", 3) + 1] if raw.startswith(("'''\n", "'''\r\n")) else ""
        literal = f"{quotes}{line}{_with_ends(made, text)}{quotes}"
        if "'" not in quotes or not _says(literal, made):
            literal = _with_ends(json_string(made), text)
        return text[: place.start] + literal + text[place.end :]
    if not isinstance(before, dict | list) or not isinstance(value, dict | list):
        return None
    with suppress(NoPlace, ValueError):
        edits = leaf_edits(before, value, path, places, lambda part, _: inline(part))
        return with_edits(text, list(edits))
    return None


def _says(literal: str, wanted: str) -> bool:
    try:
        return bool(tomllib.loads(f"k = {literal}") == {"k": wanted})
    except ValueError:
        return False


def _inserted(
    text: str, places: Mapping[KeyPath, Place], path: KeyPath, member: str, *, is_block: bool
) -> str:
    """Return a text with a key after the one that comes before it in the usual order."""
    *table, key = path
    before = KEY_ORDER[: KEY_ORDER.index(str(key))]
    own = {known: place for known in before if (place := places.get((*table, known))) and not place.header}
    if is_block:
        at = max((place.end for place in own.values()), default=places[tuple(table)].start)
        if own:
            line_end = text.find("\n", at)
            at = line_end + 1 if line_end >= 0 else len(text)
        gap = "" if at == 0 or text[at - 1] == "\n" else newline_of(text)
        return f"{text[:at]}{gap}{member}{newline_of(text)}{text[at:]}"
    if own:
        at = max(place.end for place in own.values())
        return f"{text[:at]}, {member}{text[at:]}"
    at = places[tuple(table)].start + 1
    return f"{text[:at]} {member},{text[at:]}"


def _cut_line(text: str, place: Place) -> str:
    """Remove the lines of a key."""
    first = sum(map(len, lines_of(text)[: place.line - 1]))
    end = text.find("\n", place.end)
    return text[:first] + (text[end + 1 :] if end >= 0 else "")


def _cut_member(text: str, place: Place) -> str:
    """Remove a member of a table in one line, with a comma."""
    start = max(text.rfind(mark, 0, place.start) for mark in ",{")
    rest = text[place.end :]
    if rest.lstrip().startswith(","):
        return text[: start + 1] + rest.lstrip()[1:]
    return text[: start if text[start] == "," else start + 1] + rest


def _by_tomlkit(text: str, path: KeyPath, written: str) -> Iterator[str]:
    """Yield the text with a value changed that has tables of its own; its own comments may be lost."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    with suppress(TOMLKitError, ValueError, LookupError, TypeError, AttributeError):
        document: Any = tomlkit.parse(text)
        table = document
        for step in path[:-1]:
            table = table[step]
        if path[-1] in table:
            del table[path[-1]]
        if written:
            table[path[-1]] = tomlkit.parse(f"k = {written}\n")["k"]
        yield tomlkit.dumps(document)


def _taken(tree: Any, path: KeyPath) -> Any:
    """Remove a value from a tree, and return it; `_REMOVED` if there is none."""
    for step in path[:-1]:
        tree = tree[step]
    return tree.pop(path[-1], _REMOVED)


def _without(tree: Mapping[str, Any], path: KeyPath) -> Any:
    rest = copy.deepcopy(tree)
    _taken(rest, path)
    return rest


def _meaning(path: KeyPath, value: Any) -> Any:
    return loads(value) if path[-1] == "result" and isinstance(value, str) else value


def _meant(case: Case) -> Any:
    """Return what a case says, wherever it is, as JSON."""
    name, then = case.name or default_name(case.request), [_meant(one) for one in case.then]
    return loads(json_text({**asdict(case), "name": name, "line": 0, "then": then}))


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
