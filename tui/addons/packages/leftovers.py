"""Deletes what a removed server leaves behind: the unpacked files of its bundle, and its stored secrets."""

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tui.core.errors import ConfigError
from tui.core.secrets import keychain
from tui.core.text import clean_line
from tui.core.units import plural
from tui.settings.config_secrets import leaves
from tui.settings.locations import bundles_dir, secrets_dir, server_folder
from tui.settings.references import KEYCHAIN, files_in

SERVICE = "mcptui"
"""Service name in the keychain for secrets of bundles, stored as SERVER.INPUT."""

UNPACKING_SECONDS = 60.0
"""A file that is newer than the manifest by more than this was written by the server."""

MAX_FILES = 200_000


async def delete_leftovers(name: str, present: Mapping[str, Any]) -> list[str]:
    """Delete the files and secrets that only the server `name` of `present` uses.

    Return a sentence for each that was deleted, or why it was not.
    """
    table = present.get(name)
    others = [other for known, other in present.items() if known != name]
    taken = {_folder(other) for other in others} | {place for other in others for place in _places(other)}
    places = [place for place in _places(table) if place.startswith(f"{name}.") and place not in taken]
    begin = f"{server_folder(name).name}."
    used = {path for other in others for path in _secret_files(other)}
    files = [
        path
        for path in _secret_files(table)
        if path.parent == secrets_dir().absolute() and path.name.startswith(begin) and path not in used
    ]
    folder = _folder(table)
    said = [await _delete_secrets(places)] if places else []
    if files:
        said.append(_delete_secret_files(files))
    if folder not in taken and _is_in(bundles_dir(), folder):
        said.append(_delete_folder(Path(folder)))
    return said


async def _delete_secrets(places: Sequence[str]) -> str:
    try:
        for place in places:
            await keychain.remove(SERVICE, place)
    except ConfigError as error:
        left = ", ".join(clean_line(f"{SERVICE}/{place}", 80) for place in places[:4])
        return f"its secrets are still in the keychain ({left}): {clean_line(error.message, 200)}"
    return f"{plural(len(places), 'secret')} deleted from the keychain"


def _folder(table: Any) -> str:
    folder = table.get("cwd") if isinstance(table, Mapping) else None
    return folder.replace("$${", "${") if isinstance(folder, str) else ""


def _places(table: Any) -> list[str]:
    prefix = f"{KEYCHAIN}{SERVICE}/"
    tables = [table.get(key) for key in ("env", "headers")] if isinstance(table, Mapping) else []
    values = [value for one in tables if isinstance(one, Mapping) for value in one.values()]
    found = [value for value in values if isinstance(value, str) and prefix in value]
    return list(dict.fromkeys(value.partition(prefix)[2] for value in found))


def _secret_files(table: Any) -> list[Path]:
    texts = (value for _, value in leaves(table) if isinstance(value, str))
    return list(dict.fromkeys(Path(name) for text in texts for name in files_in(text)))


def _delete_secret_files(paths: Sequence[Path]) -> str:
    shown = clean_line(str(paths[0].parent), 4096)
    try:
        for path in paths:
            path.unlink(missing_ok=True)
    except OSError as error:
        return f"its secrets are still in {shown}: {error.strerror}"
    return f"{plural(len(paths), 'secret')} deleted from {shown}"


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
