"""Writes the configuration atomically, privately, and with the user's comments intact."""

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tui.core.errors import ConfigError, reason_of
from tui.core.files import LinkError, atomic_write, make_folder
from tui.settings.files import Unreadable, locked, read_bounded
from tui.settings.locations import is_codex, is_foreign, shipped_dir
from tui.settings.toml_edits import Change, Document, edited, table_at

UNCHANGED = "It was not changed. See `mcptui config check`."


def write_private(path: Path, text: str, *, links: bool = True) -> None:
    """Replace a file as `atomic_write` does, or raise `ConfigError`. New directories get mode 0700.

    Without `links`, a symbolic link is not replaced, as in mcptui's own folders.
    """
    folder = Path(os.path.realpath(path)).parent if links else path.parent
    try:
        make_folder(folder)
        atomic_write(path, [text], errors="strict", wait=False, links=links)
        _sync_directory(folder)
    except LinkError as error:
        raise ConfigError(f"{reason_of(error)}.") from error
    except (OSError, UnicodeError) as error:
        raise ConfigError(
            f"cannot be written: {reason_of(error)}.",
            where=str(path),
            next_step="Nothing was changed. Check free space and permissions.",
        ) from error


def _sync_directory(folder: Path) -> None:
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def change_config(path: Path, change: Change, *, next_step: str = UNCHANGED) -> None:
    """Change the values of a configuration file, which is created if it is missing.

    Raises:
        ConfigError: the file cannot be read, is not ours or is damaged, or the change does not apply. It is
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
                f"cannot be changed: {reason_of(error)}.", where=str(path), next_step=next_step
            ) from error
        if new != old:
            write_private(path, new)


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


# ---- changes -----------------------------------------------------------------------------------------------


def add_tables(document: Document, kind: str, tables: Mapping[str, Mapping[str, Any]]) -> None:
    """Add servers or models (`kind`). Raises ValueError if a name is taken."""
    present = table_at(document, kind)
    if present.keys() & tables.keys():
        raise ValueError(f"one of the new names in [{kind}] is already in use")
    present |= {name: dict(table) for name, table in tables.items()}


def server_at(document: Document, name: str) -> dict[str, Any]:
    """Return the table of a server. Raises ValueError if there is none."""
    servers = document.get("servers")
    table = servers.get(name) if isinstance(servers, dict) else None
    if not isinstance(table, dict):
        raise ValueError(f"server {name!r} not found")
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
                f"`{key}` has changed in the file. Nothing was saved.",
                next_step="Open the form again.",
            )
        if key in after:
            table[key] = after[key]
        else:
            del table[key]


def remove_server(document: Document, name: str) -> None:
    """Remove a server. Raises ValueError if there is none."""
    server_at(document, name)
    del document["servers"][name]
