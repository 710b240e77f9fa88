"""Writes the configuration: whole or not at all, readable by its owner only, comments kept."""

import os
import tomllib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from tui.core.atomic_write import atomic_write
from tui.core.errors import ConfigError
from tui.settings.edit import Value, with_servers, with_value
from tui.settings.file_lock import locked
from tui.settings.files import Unreadable, read_bounded


def write_private(path: Path, text: str) -> None:
    """Replace the content of `path` by `text` as `atomic_write` does; new directories get mode 0700.

    Raises:
        ConfigError: it cannot be written.
    """
    target = Path(os.path.realpath(path))
    try:
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        atomic_write(path, [text], errors="strict", wait=False)
        _sync_directory(target.parent)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError(
            f"could not be written: {reason}.",
            where=str(path),
            next_step="Nothing was changed. Is there room, and may you write there?",
        ) from error


def _sync_directory(folder: Path) -> None:
    """Make the new name itself durable, where directories can be opened."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def set_value(path: Path, key: str, value: Value) -> None:
    """Set one value of a configuration, like `ui.theme`; the file is made if there is none.

    Args:
        path: the TOML file.
        key: dotted path of plain names.
        value: what it is to be.

    Raises:
        ConfigError: the file cannot be read, is not ours or is damaged; it is then left as it is.
    """
    _change(path, lambda text: with_value(text, tuple(key.split(".")), value))


def change_texts(path: Path, key: str, add: Iterable[str]) -> list[str]:
    """Add texts to a list of a configuration, like `approvals.remembered`, and return the sorted list.

    What others added to the file or took away from it meanwhile stays so.

    Raises:
        ConfigError: as for `set_value`, or the value is no list.
    """
    names = tuple(key.split("."))
    texts: list[str] = []

    def edit(text: str) -> str:
        found: Any = tomllib.loads(text)
        for name in names:
            found = found.get(name, {}) if isinstance(found, Mapping) else {}
        if found and not isinstance(found, list):
            raise ValueError(f"{key} is not a list")
        before = [one for one in found if isinstance(one, str)]
        texts[:] = sorted({*before, *add})
        return with_value(text, names, texts) if set(texts) != set(before) else text

    _change(path, edit)
    return texts


def add_servers(path: Path, servers: Mapping[str, Mapping[str, Any]]) -> None:
    """Add tables `[servers.NAME]`; nothing that stands in the file is changed.

    Raises:
        ConfigError: as for `set_value`, or a name is taken.
    """
    _change(path, lambda text: with_servers(text, servers))


def _change(path: Path, edit: Callable[[str], str]) -> None:
    next_step = "It was left as it is; `mcptui config check` says what is wrong with it."
    if path.suffix.lower() in (".json", ".jsonc"):
        raise ConfigError(
            "belongs to another program and is not changed.",
            where=str(path),
            next_step="`mcptui config import FILE` takes its servers over into a file of our own.",
        )
    with locked(path):
        try:
            old = read_bounded(path)
        except FileNotFoundError:
            old = ""
        except Unreadable as error:
            raise ConfigError(f"{error}.", where=str(path), next_step=next_step) from error
        try:
            new = edit(old)
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"cannot be changed: {error}.", where=str(path), next_step=next_step) from error
        if new != old:
            write_private(path, new)
