"""A server found in a registry or a bundle: the prompts for its settings, and where its secrets go."""

import asyncio
import getpass
import json
import re
import secrets
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tui.addons.packages.leftovers import SERVICE
from tui.addons.packages.server_inputs import Ask, ServerInput, Values
from tui.commands.terminal_approver import is_terminal
from tui.core.errors import ConfigError, reason_of
from tui.core.secrets.stored_secrets import name_of, private_place, write_private
from tui.core.text import clean_line
from tui.settings.config_secrets import MASK
from tui.settings.locations import secrets_dir, server_folder
from tui.settings.references import FILE, KEYCHAIN, files_in, is_reference


def ask_for(*, secrets: bool) -> Ask:
    """Return a function that asks for values on the terminal, if there is one; for secrets if `secrets`."""

    def ask(wanted: ServerInput) -> tuple[str, ...] | None:
        if not is_terminal() or (wanted.secret and not secrets):
            return None
        while True:
            text = _line(wanted)
            if text is None or (not text and (wanted.default is not None or not wanted.required)):
                return None
            texts = tuple(part for part in text.split(":") if part) if wanted.several else (text,)
            problem = next(filter(None, map(wanted.problem, texts)), "")
            if not problem:
                return tuple(map(wanted.literal, texts))
            print(f"  {clean_line(wanted.name, 60)} {problem}")

    return ask


def _line(wanted: ServerInput) -> str | None:
    several = " (separate several with :)" if wanted.several else ""
    prompt = f"{clean_line(wanted.name, 60)}: {wanted.about}{several}\n> "
    try:
        return getpass.getpass(prompt) if wanted.secret else input(prompt).strip()
    except EOFError:
        return None


def entry_text(entry: Mapping[str, Any], key: str, limit: int = 200) -> str:
    """Return a text of an entry as one clean line, or ""."""
    value = entry.get(key)
    return clean_line(value, limit) if isinstance(value, str) else ""


# ---- secrets ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SecretPlaces:
    """Where the secrets that the user gave are in a server's table, by the name of their input.

    Attributes:
        values: the secrets.
        marks: a text in place of each in `marked`, the table without secrets.
    """

    values: Mapping[str, str]
    marks: Mapping[str, str]
    marked: Mapping[str, Any]

    def shown(self) -> dict[str, Any]:
        """Return the table with `***` for each secret."""
        return _replaced(self.marked, dict.fromkeys(self.marks.values(), MASK))

    def stored(self, table: Mapping[str, Any], name: str, config: Path) -> dict[str, Any]:
        """Store the secrets of server `name`, and return the table for `config` with references to them.

        They go to the keychain. Without one, or where a reference to it cannot be, each goes to a private
        file. Raises ConfigError if that cannot be written.
        """
        made = dict(self.marked)
        for key, mark in self.marks.items():
            if mark not in str(made):
                print(f"note: {clean_line(key, 60)} is not used, so it was not stored", file=sys.stderr)
                continue
            place, value = f"{name}.{key}", self.values[key].replace("$${", "${")
            reason = self._why_in_file(key, mark) or _why_not_kept(place, value)
            if not reason:
                made = _replaced(made, {mark: f"{KEYCHAIN}{SERVICE}/{place}"})
                continue
            for is_url in (True, False):
                part = {one: inner for one, inner in made.items() if (one == "url") is is_url}
                if mark in str(part):
                    entry = name_of(str(config.absolute()), name, key, "url" if is_url else "")
                    path = secrets_dir().absolute() / f"{server_folder(name).name}.{entry}"
                    made |= _replaced(part, {mark: _in_file(path, quote(value, "") if is_url else value)})
                    said = f"note: {place} is stored {private_place(path, reason)}"
                    print(clean_line(said, 4096), file=sys.stderr)
        return {**table, **made}

    def _why_in_file(self, key: str, mark: str) -> str:
        """Return why a secret cannot be in the keychain even if there is one, or ""."""
        if "/" in key:
            return "its name contains a slash"
        return "" if self._fits_keychain(mark) else "the keychain is only for whole variables and headers"

    def _fits_keychain(self, mark: str) -> bool:
        """Return whether the secret is only a whole variable or header, if need be after its scheme."""
        others = {key: value for key, value in self.marked.items() if key not in ("env", "headers")}
        values = [*self.marked.get("env", {}).values(), *self.marked.get("headers", {}).values()]
        used = [value for value in values if mark in value]
        whole = all(re.fullmatch(rf"(?:\w+ )?{mark}", value) for value in used)
        return bool(used) and whole and mark not in str(others)


def secret_places(
    inputs: Iterable[ServerInput], values: Values, table: Callable[[Values], dict[str, Any]]
) -> SecretPlaces:
    """Return the places of secrets; `table` makes the server's table of values."""
    given: dict[str, str] = {}
    marks: dict[str, str] = {}
    marked = dict(values)
    for one in inputs:
        texts = list(values.get(one.name, ())) if one.secret else []
        for number, text in enumerate(texts):
            if text and not is_reference(text):
                key = f"{one.name}.{number + 1}" if number else one.name
                given[key], marks[key] = text, f"SECRET{secrets.token_hex(12)}"
                texts[number] = marks[key]
        if texts:
            marked[one.name] = tuple(texts)
    return SecretPlaces(given, marks, table(marked))


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
