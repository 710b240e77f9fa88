"""Writes the configuration atomically, privately, and with the user's comments intact.

A TOML text is edited in one place. Every edit is verified by parsing: the result must be exactly the old
values with the change. If no small edit works, tomlkit edits the text, which keeps comments but may move
lines. If that also fails, the whole text is rewritten.
"""

import copy
import io
import os
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import tomli_w

from tui.core.atomic_write import atomic_write
from tui.core.errors import ConfigError
from tui.core.files.private_files import LinkError, make_folder
from tui.settings.files import Unreadable, locked, read_bounded
from tui.settings.foreign.formats import is_codex, is_foreign
from tui.settings.key_positions import toml_places
from tui.settings.locations import shipped_dir

Value = str | bool | int | float | Sequence[str] | Mapping[str, Any]


def write_private(path: Path, text: str) -> None:
    """Replace a file as `atomic_write` does, or raise `ConfigError`. New directories get mode 0700."""
    target = Path(os.path.realpath(path))
    try:
        make_folder(target.parent)
        atomic_write(path, [text], errors="strict", wait=False)
        _sync_directory(target.parent)
    except (OSError, UnicodeError) as error:
        raise _not_written(path, error) from error


def write_state(path: Path, text: str) -> None:
    """Replace one of mcptui's own files as `write_private` does; refuse to replace a link."""
    try:
        make_folder(path.parent)
        atomic_write(path, [text], errors="strict", wait=False, links=False)
        _sync_directory(path.parent)
    except (OSError, UnicodeError) as error:
        raise _not_written(path, error) from error


def _not_written(path: Path, error: OSError | UnicodeError) -> ConfigError:
    reason = getattr(error, "strerror", None) or str(error)
    if isinstance(error, LinkError):
        return ConfigError(f"{reason}.")
    return ConfigError(
        f"cannot be written: {reason}.",
        where=str(path),
        next_step="Nothing was changed. Check free space and permissions.",
    )


def _sync_directory(folder: Path) -> None:
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def set_value(path: Path, key: str | tuple[str, ...], value: Value) -> None:
    """Set one value of a configuration, such as `ui.theme`. The file is created if it is missing.

    A key whose parts may contain a dot is a tuple.

    Raises:
        ConfigError: the file cannot be read, is not ours or is damaged. It is then unchanged.
    """
    names = tuple(key.split(".")) if isinstance(key, str) else key
    change_text(path, lambda text: with_value(text, names, value))


def change_texts(path: Path, key: str, add: Iterable[str]) -> list[str]:
    """Add texts to a list of a configuration, such as `approvals.remembered`; return the sorted list.

    Concurrent changes to the file are kept. Raises like `set_value`, also if the value is not a list.
    """
    names = tuple(key.split("."))
    texts: list[str] = []

    def edit(text: str) -> str:
        found: Any = tomllib.loads(text)
        for name in names:
            found = found.get(name, {}) if isinstance(found, Mapping) else {}
        if found and not isinstance(found, list):
            raise ValueError(f"{key} is not an array")
        before = [one for one in found if isinstance(one, str)]
        texts[:] = sorted({*before, *add})
        return with_value(text, names, texts) if set(texts) != set(before) else text

    change_text(path, edit)
    return texts


def add_servers(path: Path, servers: Mapping[str, Mapping[str, Any]]) -> None:
    """Add tables `[servers.NAME]`, change nothing else. Raises like `set_value`, also if a name is taken."""
    change_text(path, lambda text: with_servers(text, servers))


def add_model(path: Path, name: str, table: Mapping[str, Any]) -> None:
    """Add a table `[models.NAME]` and change nothing else.

    Raises like `set_value`, also if the name is taken.
    """
    change_text(path, lambda text: with_tables(text, "models", {name: table}))


def change_server(path: Path, name: str, table: Mapping[str, Any], before: Mapping[str, Any]) -> None:
    """Change the table `[servers.NAME]` from `before` to `table`.

    Concurrent changes are kept. Raises like `set_value`, also if the table does not exist or the same value
    has changed.
    """
    change_text(path, lambda text: with_server(text, name, merged(_server(text, name), before, table)))


def set_in_server(path: Path, name: str, key: str, make: Callable[[Any], Value]) -> None:
    """Set a value in the table `[servers.NAME]` to what `make` returns for the present one, None if unset.

    Raises like `set_value`, also if the table does not exist.
    """

    def edit(text: str) -> str:
        return with_value(text, ("servers", name, key), make(_server(text, name).get(key)))

    change_text(path, edit)


def merged(
    present: Mapping[str, Any], before: Mapping[str, Any], after: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Return `present` with the changes from `before` to `after`.

    Raises `ConfigError` if `present` also changed the same keys.
    """
    missing = object()
    found = dict(present)
    for key in {**before, **after}:
        now, then, wanted = (table.get(key, missing) for table in (present, before, after))
        if wanted == then or wanted == now:
            continue
        if now != then:
            raise ConfigError(
                f"`{key}` has changed in the file. Nothing was saved.",
                next_step="Open the form again.",
            )
        if key in after:
            found[key] = after[key]
        else:
            del found[key]
    return found


def remove_server(path: Path, name: str) -> None:
    """Remove the table `[servers.NAME]`. Raises like `set_value`, also if it does not exist."""
    change_text(path, lambda text: without_server(text, name))


def starter() -> str:
    """Return the starter configuration, in which everything is a comment."""
    return (shipped_dir("sample_config") / "config.toml").read_text(encoding="utf-8")


def refuse_foreign(path: Path) -> None:
    """Raise ConfigError if a file belongs to another program, by its suffix."""
    if is_foreign(path):
        raise _foreign(path)


def _foreign(path: Path) -> ConfigError:
    return ConfigError(
        "belongs to another program. mcptui does not change it.",
        where=str(path),
        next_step="Import its servers with `mcptui config import FILE`.",
    )


def change_text(path: Path, edit: Callable[[str], str]) -> None:
    """Replace the text of a configuration with the result of `edit`. Raises like `set_value`."""
    next_step = "It was not changed. See `mcptui config check`."
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
            new = edit(old)
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"cannot be changed: {error}.", where=str(path), next_step=next_step) from error
        if new != old:
            write_private(path, new)


def with_value(text: str, key: tuple[str, ...], value: Value) -> str:
    """Return TOML with the value at `key` set, and missing tables added.

    Raises `ValueError` if a parent of the value is not a table.
    """
    if not isinstance(value, str | bool | int | float | Mapping):
        value = list(value)
    wanted = tomllib.loads(text)
    table: Any = wanted
    for part in key[:-1]:
        table = table.setdefault(part, {})
        if not isinstance(table, dict):
            raise ValueError(f"{part} is not a table")
    table[key[-1]] = value
    return _edited(text, wanted, _value_edits(text, key, value))


def with_servers(text: str, servers: Mapping[str, Mapping[str, Any]]) -> str:
    """Return TOML with tables `[servers.NAME]` added at its end; raises `ValueError` if a name is taken."""
    return with_tables(text, "servers", servers)


def with_tables(text: str, kind: str, tables: Mapping[str, Mapping[str, Any]]) -> str:
    """Return TOML with tables `[KIND.NAME]` added at its end; raises `ValueError` if a name is taken."""
    wanted = tomllib.loads(text)
    present = wanted.setdefault(kind, {})
    if not isinstance(present, dict) or present.keys() & tables.keys():
        raise ValueError(f"one of the new names in [{kind}] is already in use")
    present |= {name: copy.deepcopy(dict(table)) for name, table in tables.items()}
    block = "\n".join(table_block(kind, name, table) for name, table in tables.items())
    return _edited(text, wanted, iter([_appended(text, block)]))


def server_block(name: str, table: Mapping[str, Any]) -> str:
    """Return the table `[servers.NAME]` as TOML, a line for each key."""
    return table_block("servers", name, table)


def table_block(kind: str, name: str, table: Mapping[str, Any]) -> str:
    """Return the table `[KIND.NAME]` as TOML, a line for each key."""
    lines = (f"{_name(key)} = {_literal(value, short=True)}\n" for key, value in table.items())
    return f"[{kind}.{_name(name)}]\n{''.join(lines)}"


def with_server(text: str, name: str, table: Mapping[str, Any]) -> str:
    """Return TOML where `[servers.NAME]` has these values; raises `ValueError` if it does not exist."""
    return _with_table(text, ("servers", name), _server(text, name), table)


def _with_table(
    text: str, path: tuple[str, ...], present: Mapping[str, Any], table: Mapping[str, Any]
) -> str:
    kept = dict(present)
    for key, value in present.items():
        if key not in table or (isinstance(value, dict) and not (isinstance(table[key], Mapping) and value)):
            text = _without(text, (*path, key))
            del kept[key]
    for key, value in table.items():
        if isinstance(kept.get(key), dict):
            text = _with_table(text, (*path, key), kept[key], value)
        elif kept.get(key) != value:
            text = with_value(text, (*path, key), value)
    return text


def without_server(text: str, name: str) -> str:
    """Return TOML without `[servers.NAME]`; raises `ValueError` if it does not exist.

    After the last server, an empty `[servers]` keeps the samples from starting again.
    """
    _server(text, name)
    text = _without(text, ("servers", name))
    return text if "servers" in tomllib.loads(text) else _appended(text, "[servers]\n")


def _server(text: str, name: str) -> dict[str, Any]:
    servers = tomllib.loads(text).get("servers")
    table = servers.get(name) if isinstance(servers, dict) else None
    if not isinstance(table, dict):
        raise ValueError(f"server {name!r} not found")
    return table


def _without(text: str, path: tuple[str, ...]) -> str:
    """Return TOML without the value or table at `path`, which exists."""
    wanted = tomllib.loads(text)
    table: Any = wanted
    for part in path[:-1]:
        table = table[part]
    del table[path[-1]]
    cut = _cut(text, path)
    try:
        found = tomllib.loads(cut)
    except ValueError:
        return _rewritten(text, wanted)
    # A table that exists only through its members disappears with the last of them.
    same = _without_empty(found) == _without_empty(wanted) and not _contains(found, path)
    return cut if same else _rewritten(text, wanted)


def _contains(tree: Any, path: tuple[str, ...]) -> bool:
    for part in path:
        if not isinstance(tree, dict) or part not in tree:
            return False
        tree = tree[part]
    return True


def _lines(text: str) -> list[str]:
    r"""Split lines as TOML does: only at `\n`, not at the other separators that `str.splitlines` accepts."""
    return io.StringIO(text, newline="\n").readlines()


def _without_empty(tree: Any) -> Any:
    if not isinstance(tree, dict):
        return tree
    inner = {key: _without_empty(value) for key, value in tree.items()}
    return {key: value for key, value in inner.items() if value != {}}


def _cut(text: str, path: tuple[str, ...]) -> str:
    """Remove the lines of a key or table. Comments above it and after its last value stay."""
    lines = _lines(text)
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


def first_parsing_as(wanted: dict[str, Any], candidates: Iterator[str]) -> str | None:
    """Return the first candidate that parses as `wanted`, None if none does."""
    for candidate in candidates:
        try:
            if tomllib.loads(candidate) == wanted:
                return candidate
        except ValueError:
            continue
    return None


def _edited(text: str, wanted: dict[str, Any], candidates: Iterator[str]) -> str:
    found = first_parsing_as(wanted, candidates)
    return _rewritten(text, wanted) if found is None else found


def _rewritten(text: str, wanted: dict[str, Any]) -> str:
    """Return `text` with the values `wanted`, with its comments if tomlkit can keep them."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(text)
        _update(document, wanted)
        found = tomlkit.dumps(document)
        if tomllib.loads(found) == wanted:
            return found
    except (TOMLKitError, ValueError, TypeError, LookupError, AttributeError):
        pass  # tomlkit fails on tables that are defined in several places
    return tomli_w.dumps(wanted)


def _update(table: Any, wanted: Mapping[str, Any]) -> None:
    for key in [key for key in table if key not in wanted]:
        del table[key]
    for key, value in wanted.items():
        if isinstance(value, Mapping) and isinstance(table.get(key), Mapping):
            _update(table[key], value)
        elif key not in table or table[key] != value:
            table[key] = value


def _value_edits(text: str, key: tuple[str, ...], value: Value) -> Iterator[str]:
    places = toml_places(text)
    newline = _newline(text)
    literal = _literal(value, short=key[0] == "servers").replace("\n", newline)
    name = _name(key[-1])
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
        lines = _lines(text)
        offset = sum(map(len, lines[: min(headers) - 1])) if headers else len(text)
        yield _inserted(text, offset, f"{name} = {literal}")
    yield _appended(text, tomli_w.dumps(_nested(key, value)))


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
