"""What a packaged server stores outside of the configuration: its secrets, and the files of its bundle.

Removing the server deletes them.
"""

import asyncio
import json
import os
import re
import secrets
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tui.addons.packages.server_inputs import ServerInput, Values
from tui.core.errors import ConfigError, reason_of
from tui.core.secrets import keychain
from tui.core.secrets.keychain import name_of, private_place, write_private
from tui.core.text import clean_line
from tui.core.units import plural
from tui.settings.config_secrets import MASK, leaves
from tui.settings.locations import bundles_dir, secrets_dir, server_folder
from tui.settings.references import FILE, KEYCHAIN, files_in, is_reference

SERVICE = "mcptui"
"""Service name in the keychain for secrets of bundles, stored as SERVER.INPUT."""

UNPACKING_SECONDS = 60.0
"""A file that is newer than the manifest by more than this was written by the server."""

MAX_FILES = 200_000


Store = Callable[[dict[str, Any], str, Path], dict[str, Any]]
"""Stores secrets: takes a server's table, its name and the configuration file, and returns the table."""


def without_secrets(
    inputs: Iterable[ServerInput], values: Values, table: Callable[[Values], dict[str, Any]]
) -> tuple[dict[str, Any], Store]:
    """Return a server's table with `***` for each secret that the user gave, and what stores them.

    `table` makes the server's table of values. Secrets go to the keychain. Without one, or where a reference
    to it cannot be, each goes to a private file. Storing raises ConfigError if that cannot be written.
    """
    given: dict[str, tuple[str, str]] = {}  # by the name of the input: a mark in its place, and the secret
    marked_values = dict(values)
    for one in inputs:
        texts = list(values.get(one.name, ())) if one.secret else []
        for number, text in enumerate(texts):
            if text and not is_reference(text):
                texts[number] = f"SECRET{secrets.token_hex(12)}"
                given[f"{one.name}.{number + 1}" if number else one.name] = texts[number], text
        if texts:
            marked_values[one.name] = tuple(texts)
    marked = table(marked_values)

    def store(table: dict[str, Any], name: str, config: Path) -> dict[str, Any]:
        made = marked
        for key, (mark, secret) in given.items():
            if mark not in str(made):
                print(f"note: {clean_line(key, 60)} is not used, so it was not stored", file=sys.stderr)
                continue
            place, value = f"{name}.{key}", secret.replace("$${", "${")
            reason = "its name contains a slash" if "/" in key else ""
            if not (reason or _fits_keychain(marked, mark)):
                reason = "the keychain is only for whole variables and headers"
            reason = reason or _why_not_kept(place, value)
            if not reason:
                made = _replaced(made, {mark: f"{KEYCHAIN}{SERVICE}/{place}"})
                continue
            for is_url in (True, False):
                part = {one: inner for one, inner in made.items() if (one == "url") is is_url}
                if mark in str(part):
                    entry = name_of(str(config.absolute()), name, key, "url" if is_url else "")
                    path = secrets_dir().absolute() / f"{server_folder(name).name}.{entry}"
                    made = made | _replaced(
                        part, {mark: _in_file(path, quote(value, "") if is_url else value)}
                    )
                    said = f"note: {place} is stored {private_place(path, reason)}"
                    print(clean_line(said, 4096), file=sys.stderr)
        return {**table, **made}

    return _replaced(marked, {mark: MASK for mark, _ in given.values()}), store


def _fits_keychain(table: Mapping[str, Any], mark: str) -> bool:
    """Return whether a secret is only a whole variable or header, if need be after its scheme."""
    others = {key: value for key, value in table.items() if key not in ("env", "headers")}
    values = [*table.get("env", {}).values(), *table.get("headers", {}).values()]
    used = [value for value in values if mark in value]
    whole = all(re.fullmatch(rf"(?:\w+ )?{mark}", value) for value in used)
    return bool(used) and whole and mark not in str(others)


def _replaced(table: Mapping[str, Any], instead: Mapping[str, str]) -> dict[str, Any]:
    """Return a table with texts in place of marks."""
    text = json.dumps(table)
    for mark, value in instead.items():
        text = text.replace(mark, json.dumps(value)[1:-1])
    made: dict[str, Any] = json.loads(text)
    return made


def _in_file(path: Path, value: str) -> str:
    """Write a secret to its file and return a reference to it. Raises ConfigError."""
    reference = f"${{{FILE}{path}}}"
    try:
        if files_in(reference) != [str(path)]:
            raise ConfigError("a configuration cannot refer to a file in this folder", where=str(path.parent))
        write_private(path, value)
    except OSError as error:
        raise ConfigError(f"cannot store a secret: {reason_of(error)}", where=str(path)) from error
    return reference


def _why_not_kept(place: str, value: str) -> str:
    """Store a secret in the keychain, or return why that failed."""
    from tui.core.secrets.keychain import store

    try:
        asyncio.run(store(SERVICE, place, value))
    except ConfigError as error:
        return clean_line(error.message, 200)
    return ""


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
