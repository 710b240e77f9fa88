"""Writes the configuration atomically, privately, and with the user's comments intact.

Each difference becomes one edit of the text, verified by parsing: the result must be exactly the old values
with the change. Where no small edit works, tomlkit edits the text, which keeps comments but may move lines.
If that also fails, the whole text is rewritten.
"""

import copy
import io
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from difflib import SequenceMatcher
from itertools import pairwise
from pathlib import Path
from typing import Any

import tomli_w

from tui.core.errors import ConfigError, reason_of
from tui.core.files import LinkError, write_private
from tui.core.language.translate import message
from tui.settings.files import Unreadable, locked, read_bounded
from tui.settings.key_positions import toml_places
from tui.settings.locations import is_codex, is_foreign, shipped_dir

Document = dict[str, Any]

Change = Callable[[Document], object]
"""Modifies a parsed document in place. Raises ValueError or McptuiError if it does not apply."""

UNCHANGED = message("It was not changed. See `mcptui config check`.")

Keys = tuple[str, ...]

_REMOVED = object()

_NAMED = ("servers", "models")
"""Tables of tables, which get a header each."""

MAX_EDITS = 100
"""Each edit parses the text a few times. More differences are left to tomlkit at once."""


def save_file(path: Path, text: str, *, links: bool = True) -> None:
    """Replace a file as `write_private` does, or raise `ConfigError`."""
    try:
        write_private(path, text, links=links)
    except LinkError as error:
        raise ConfigError(f"{reason_of(error)}.") from error
    except (OSError, UnicodeError) as error:
        raise ConfigError(
            message("cannot be written: {reason}.", reason=reason_of(error)),
            where=str(path),
            next_step=message("Nothing was changed. Check free space and permissions."),
        ) from error


def change_config(path: Path, change: Change, *, next_step: str = UNCHANGED) -> None:
    """Change the values of a configuration file, which is created if it is missing.

    Raises ConfigError if it cannot be read, is not ours or is damaged, or the change does not apply. It is
    then unchanged.
    """
    refuse_foreign(path)
    with locked(path):
        try:
            old = read_bounded(path)
        except FileNotFoundError:
            old = ""
        except Unreadable as error:
            raise ConfigError(f"{error}.", where=str(path), next_step=next_step) from error
        try:
            if "mcp_servers" in old and is_codex(tomllib.loads(old), path):
                raise _foreign(path)
            new = edited(old, change)
        except (ValueError, RecursionError) as error:
            raise ConfigError(
                message("cannot be changed: {reason}.", reason=reason_of(error)),
                where=str(path),
                next_step=next_step,
            ) from error
        if new != old:
            save_file(path, new)


def starter() -> str:
    """Return the starter configuration, in which everything is a comment."""
    return (shipped_dir("sample_config") / "config.toml").read_text(encoding="utf-8")


def refuse_foreign(path: Path) -> None:
    """Raise ConfigError if a file belongs to another program, by its suffix."""
    if is_foreign(path):
        raise _foreign(path)


def _foreign(path: Path) -> ConfigError:
    return ConfigError(
        message("belongs to another program. mcptui does not change it."),
        where=str(path),
        next_step=message("Import its servers with `mcptui config import FILE`."),
    )


# ---- changes -----------------------------------------------------------------------------------------------


def table_at(document: Document, *path: str) -> dict[str, Any]:
    """Return a table of a document, added if it is missing. Raises ValueError if it is anything else."""
    table = document
    for part in path:
        found = table.setdefault(part, {})
        if not isinstance(found, dict):
            raise ValueError(message("{name} is not a table", name=part))
        table = found
    return table


def set_value(document: Document, value: Any, *path: str) -> None:
    """Set one value, such as `ui.theme`. Raises ValueError if a parent is not a table."""
    table_at(document, *path[:-1])[path[-1]] = value


def texts_at(document: Document, *path: str) -> list[str]:
    """Return a copy of a list of strings, which may be one string or missing. Raises ValueError otherwise."""
    found: Any = document
    for part in path:
        found = found.get(part, []) if isinstance(found, dict) else []
    items = [found] if isinstance(found, str) else found
    if not isinstance(items, list) or not all(isinstance(one, str) for one in items):
        raise ValueError(message("{name} is not an array of strings", name=".".join(path)))
    return [*items]


def add_tables(document: Document, kind: str, tables: Mapping[str, Mapping[str, Any]]) -> None:
    """Add servers or models (`kind`). Raises ValueError if a name is taken."""
    present = table_at(document, kind)
    if present.keys() & tables.keys():
        raise ValueError(message("one of the new names in [{table}] is already in use", table=kind))
    present |= {name: dict(table) for name, table in tables.items()}


def server_at(document: Document, name: str) -> dict[str, Any]:
    """Return the table of a server. Raises ValueError if there is none."""
    servers = document.get("servers")
    table = servers.get(name) if isinstance(servers, dict) else None
    if not isinstance(table, dict):
        raise ValueError(message("server {name} not found", name=repr(name)))
    return table


def merge(table: dict[str, Any], before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    """Make the changes from `before` to `after` in a table, which may have changed since it was `before`.

    Raises ConfigError if the same keys have changed.
    """
    missing = object()
    for key in {**before, **after}:
        now, then, wanted = (one.get(key, missing) for one in (table, before, after))
        if wanted == then or wanted == now:
            continue
        if now != then:
            raise ConfigError(
                message("`{key}` has changed in the file. Nothing was saved.", key=key),
                next_step=message("Open the form again."),
            )
        if key in after:
            table[key] = after[key]
        else:
            del table[key]


def remove_server(document: Document, name: str) -> None:
    """Remove a server. Raises ValueError if there is none."""
    server_at(document, name)
    del document["servers"][name]


# ---- the text ----------------------------------------------------------------------------------------------


def edited(text: str, change: Change) -> str:
    """Return TOML with a change of its values. Raises what `change` raises, and ValueError for other text."""
    present = tomllib.loads(text)
    wanted = copy.deepcopy(present)
    change(wanted)
    steps = list(_differences(present, wanted, ()))
    if len(steps) > MAX_EDITS:
        return _rewritten(text, wanted)
    for path, value in steps:
        text = _changed(text, path, value)
    found = tomllib.loads(text)
    for name, value in wanted.items():
        if value == {} and name not in found:  # such as `servers`, whose last member is gone
            text = _appended(text, f"[{_name(name)}]\n")
    return text


def table_block(path: Keys, table: Mapping[str, Any]) -> str:
    """Return a table with its header as TOML, a line for each key."""
    lines = (f"{_name(key)} = {_literal(value, short=True)}\n" for key, value in table.items())
    return f"[{'.'.join(map(_name, path))}]\n{''.join(lines)}"


# ---- differences -------------------------------------------------------------------------------------------


def _differences(
    present: Mapping[str, Any], wanted: Mapping[str, Any], path: Keys
) -> Iterator[tuple[Keys, Any]]:
    """Yield path and new value of each difference, `_REMOVED` for what is gone."""
    for key, before in present.items():
        if key not in wanted or (isinstance(before, dict) and not isinstance(wanted[key], dict)):
            yield (*path, key), _REMOVED
    for key, after in wanted.items():
        here, before = (*path, key), present.get(key)
        if before is None and not path and isinstance(after, dict) and after:
            before = {} if all(isinstance(one, dict) for one in after.values()) else None
        if isinstance(before, dict) and isinstance(after, dict):
            yield from _differences(before, after, here)
        elif before != after or type(before) is not type(after):
            yield here, after


# ---- edits -------------------------------------------------------------------------------------------------


def _changed(text: str, path: Keys, value: Any) -> str:
    wanted: Any = tomllib.loads(text)
    table = wanted
    for part in path[:-1]:
        table = table.setdefault(part, {})
    if is_removed := value is _REMOVED:
        del table[path[-1]]
    else:
        table[path[-1]] = value
    for candidate in [_cut(text, path)] if is_removed else _candidates(text, path, value):
        with suppress(ValueError):
            found = tomllib.loads(candidate)
            if found == wanted:
                return candidate
            # A table that exists only through its members disappears with the last of them.
            if is_removed and candidate != text and _without_empty(found) == _without_empty(wanted):
                return candidate
    return _rewritten(text, wanted)


def _without_empty(tree: Any) -> Any:
    if not isinstance(tree, dict):
        return tree
    inner = {key: _without_empty(value) for key, value in tree.items()}
    return {key: value for key, value in inner.items() if value != {}}


def _candidates(text: str, path: Keys, value: Any) -> Iterator[str]:
    """Yield texts that may have the value at `path`, the smallest edit first."""
    places = toml_places(text)
    name = path[-1]
    literal = _literal(value, short=path[0] in _NAMED).replace("\n", newline_of(text))
    if (place := places.get(path)) is not None and not place.header:
        if isinstance(value, list) and (array := _array(text[place.start : place.end], value)):
            yield text[: place.start] + array + text[place.end :]
        yield text[: place.start] + literal + text[place.end :]
    line = f"{_name(name)} = {literal}"
    is_block = isinstance(value, dict) and (len(path) == 1 or (len(path) == 2 and path[0] in _NAMED))
    if (place := places.get(path[:-1])) is not None and not is_block:
        if place.header:
            yield _inserted(text, place.start, line)
        elif text[place.start : place.start + 1] == "{":
            behind = place.start + 1
            comma = "" if text[behind : place.end].strip() == "}" else ","
            yield f"{text[:behind]} {line}{comma}{text[behind:]}"
    if len(path) == 1 and not is_block:
        headers = [place.line for place in places.values() if place.header]
        lines = lines_of(text)
        yield _inserted(text, sum(map(len, lines[: min(headers) - 1])) if headers else len(text), line)
    if isinstance(value, dict):
        yield _appended(text, table_block(path, value))
    yield _appended(text, table_block(path[:-1], {name: value}))


def _array(literal: str, wanted: list[Any]) -> str:
    """Return an array with other items and with its comments, "" if tomlkit cannot edit it."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        items = tomllib.loads(f"k = {literal}")["k"]
        if not (isinstance(items, list) and items):
            return ""
        is_longer = len(wanted) > len(items)
        array: Any = tomlkit.parse(f"k = {_with_comma(literal) if is_longer else literal}")["k"]
        for kind, start, end, begin, stop in reversed(SequenceMatcher(None, items, wanted).get_opcodes()):
            if kind == "replace" and end - start == stop - begin:
                for number, item in enumerate(wanted[begin:stop], start):
                    array[number] = item
            elif kind != "equal":
                for number in reversed(range(start, end)):
                    del array[number]
                for number, item in enumerate(wanted[begin:stop], start):
                    array.insert(number, item)
        return _with_comma(array.as_string()) if is_longer else str(array.as_string())
    except (TOMLKitError, ValueError, TypeError, LookupError):
        return ""


def _with_comma(literal: str) -> str:
    """Return an array whose last item is followed by a comma if its bracket is on a line of its own."""
    ends = [place.end - 4 for path, place in toml_places(f"k = {literal}").items() if len(path) == 2]
    behind = literal[max(ends, default=0) : -1]
    if "\n" not in behind or behind.lstrip().startswith(","):
        return literal
    return f"{literal[: max(ends)]},{literal[max(ends) :]}"


def _cut(text: str, path: Keys) -> str:
    """Remove the lines of a key or table. Comments above it and after its last value stay."""
    lines = lines_of(text)
    places = toml_places(text)
    headers = sorted((place.line, known) for known, place in places.items() if place.header)
    gone: set[int] = set()
    for (line, known), (following, _) in pairwise([*headers, (len(lines) + 1, ())]):
        if known[: len(path)] == path:
            last = following - 1
            while last > line and lines[last - 1].strip()[:1] in ("", "#"):
                last -= 1
            gone |= set(range(line, last + 1))
    for known, place in places.items():
        if known[: len(path)] == path and not place.header and place.end > place.start:
            gone |= set(range(place.line, text.count("\n", 0, place.end) + 2))
    for last in [number for number in gone if number + 1 not in gone]:
        first = last
        while first - 1 in gone:
            first -= 1
        above = lines[first - 2].strip() if first > 1 else ""
        if not above and lines[last : last + 1] and not lines[last].strip():
            gone.add(last + 1)  # keep only one of two adjacent empty lines
    return "".join(line for number, line in enumerate(lines, 1) if number not in gone)


def _rewritten(text: str, wanted: Document) -> str:
    """Return `text` with the values `wanted`, with its comments if tomlkit can keep them."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    # tomlkit fails on tables that are defined in several places.
    with suppress(TOMLKitError, ValueError, TypeError, LookupError, AttributeError):
        document = tomlkit.parse(text)
        _update(document, wanted)
        found = tomlkit.dumps(document)
        if tomllib.loads(found) == wanted:
            return found
    return tomli_w.dumps(wanted)


def _update(table: Any, wanted: Mapping[str, Any]) -> None:
    for key in [key for key in table if key not in wanted]:
        del table[key]
    for key, value in wanted.items():
        if isinstance(value, Mapping) and isinstance(table.get(key), Mapping):
            _update(table[key], value)
        elif key not in table or table[key] != value:
            table[key] = value


# ---- text --------------------------------------------------------------------------------------------------


def lines_of(text: str) -> list[str]:
    r"""Split lines as TOML does: only at `\n`, not at the other separators that `str.splitlines` accepts."""
    return io.StringIO(text, newline="\n").readlines()


def _literal(value: Any, *, short: bool = False) -> str:
    """Return a value as TOML, with tables on one line, and with `short` also lists."""
    if isinstance(value, Mapping):
        members = (f"{_name(key)} = {_literal(inner)}" for key, inner in value.items())
        return f"{{ {', '.join(members)} }}" if value else "{}"
    if short and isinstance(value, list | tuple) and sum(len(str(item)) for item in value) < 200:
        return f"[{', '.join(map(_literal, value))}]"
    return tomli_w.dumps({"k": value}).removeprefix("k = ").rstrip("\n")


def _name(key: str) -> str:
    return tomli_w.dumps({key: 0}).removesuffix(" = 0\n")


def newline_of(text: str) -> str:
    """Return how the lines of a text end."""
    return "\r\n" if "\r\n" in text else "\n"


def _inserted(text: str, offset: int, line: str) -> str:
    newline = newline_of(text)
    before = text[:offset]
    gap = newline if before and not before.endswith("\n") else ""
    return f"{before}{gap}{line}{newline}{text[offset:]}"


def _appended(text: str, block: str) -> str:
    newline = newline_of(text)
    before = text.rstrip()
    return f"{before}{newline * 2 if before else ''}{block.replace(chr(10), newline)}"
