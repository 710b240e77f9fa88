"""Deletes the unpacked files and keychain entries of a removed bundle."""

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tui.core.errors import ConfigError
from tui.core.secrets import keychain
from tui.core.text import clean_line
from tui.core.units import plural
from tui.settings.references import KEYCHAIN

SERVICE = "mcptui"
"""Service name in the keychain for secrets of bundles, stored as SERVER.INPUT."""

UNPACKING_SECONDS = 60.0
"""A file that is newer than the manifest by more than this was written by the server."""

MAX_FILES = 200_000


class Leftovers:
    """Files and secrets that only the server `name` of `present` uses; `bundles` is the folder of bundles."""

    def __init__(self, name: str, present: Mapping[str, Any], bundles: Path) -> None:
        table = present.get(name)
        others = [other for known, other in present.items() if known != name]
        taken = {_folder(other) for other in others} | {place for other in others for place in _places(other)}
        folder = _folder(table)
        is_ours = folder not in taken and _is_in(bundles, folder)
        self._folder = Path(folder) if is_ours else None
        self._places = [
            place for place in _places(table) if place.startswith(f"{name}.") and place not in taken
        ]

    async def delete(self) -> list[str]:
        """Delete them; return a sentence for each item that was deleted, or why it was not."""
        said = await self._delete_secrets() if self._places else []
        if self._folder is not None:
            said.append(_delete_folder(self._folder))
        return said

    async def _delete_secrets(self) -> list[str]:
        try:
            for place in self._places:
                await keychain.remove(SERVICE, place)
        except ConfigError as error:
            left = ", ".join(clean_line(f"{SERVICE}/{place}", 80) for place in self._places[:4])
            return [f"its secrets are still in the keychain ({left}): {clean_line(error.message, 200)}"]
        return [f"{plural(len(self._places), 'secret')} deleted from the keychain"]


def _folder(table: Any) -> str:
    folder = table.get("cwd") if isinstance(table, Mapping) else None
    return folder.replace("$${", "${") if isinstance(folder, str) else ""


def _places(table: Any) -> list[str]:
    env = table.get("env") if isinstance(table, Mapping) else None
    prefix = f"{KEYCHAIN}{SERVICE}/"
    values = env.values() if isinstance(env, Mapping) else ()
    found = [value for value in values if isinstance(value, str) and value.startswith(prefix)]
    return list(dict.fromkeys(value.removeprefix(prefix) for value in found))


def _is_in(bundles: Path, folder: str) -> bool:
    path = Path(folder)
    named = bool(folder) and path.name not in ("", ".", "..")
    return named and path.parent == bundles and path.is_dir() and not path.is_symlink()


def _delete_folder(folder: Path) -> str:
    shown = clean_line(str(folder), 4096)
    try:
        if any(_written_later(folder)):
            return f"the server has written files to {shown}, so the folder was kept"
        shutil.rmtree(folder)
    except OSError as error:
        return f"the files of its bundle are still in {shown}: {error.strerror}"
    return f"deleted the files of its bundle in {shown}"


def _written_later(folder: Path) -> Iterator[str]:
    """Yield the files that were not unpacked from the bundle, except compiled Python."""
    unpacked = (folder / "manifest.json").stat().st_mtime + UNPACKING_SECONDS
    count = 0
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__"]
        for name in files:
            count += 1
            path = os.path.join(place, name)
            if count > MAX_FILES or os.lstat(path).st_mtime > unpacked:
                yield path
