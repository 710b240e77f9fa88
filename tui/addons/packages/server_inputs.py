"""The settings that a packaged server requires before it can be configured, and their secrets.

All texts are the publisher's, not cleaned. Removing the server deletes its secrets and files.
"""

import asyncio
import json
import os
import re
import secrets
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tui.commands.add import FoundServer
from tui.commands.permission.terminal_approver import is_terminal, typed_answer
from tui.core.errors import ConfigError, UsageError, reason_of
from tui.core.files import write_private
from tui.core.programs import find_program
from tui.core.secrets import keychain
from tui.core.secrets.keychain import name_of, private_place
from tui.core.text import clean_line, mapping, quoted_name, text_in
from tui.core.units import plural
from tui.settings.config_secrets import MASK, leaves
from tui.settings.locations import bundles_dir, secrets_dir, server_folder
from tui.settings.problems import hinted
from tui.settings.references import FILE, KEYCHAIN, escaped, files_in, is_reference

_NUMBER = re.compile(r"[-+]?\d{1,300}(\.\d{1,300})?")


@dataclass(frozen=True, slots=True)
class ServerInput:
    """One value, which `--set NAME=VALUE` sets. It may have `several`.

    `kind` is "string", "number", "boolean", "file" or "directory". `default` is as in a configuration.
    """

    name: str
    description: str = ""
    kind: str = "string"
    required: bool = False
    secret: bool = False
    default: tuple[str, ...] | None = None
    choices: tuple[str, ...] = ()
    several: bool = False
    minimum: float | None = None
    maximum: float | None = None

    def problem(self, text: str) -> str:
        """Return what is wrong with a value, or ""."""
        if "\0" in text or (self.required and not text):
            return "must not be empty" if not text else "must not contain a null character"
        if self.choices and text not in self.choices:
            shown = ", ".join(clean_line(choice, 40) for choice in self.choices[:12])
            return f"must be one of {shown}"
        if self.kind == "boolean" and text not in ("true", "false"):
            return "must be true or false"
        if self.kind == "number":
            if not _NUMBER.fullmatch(text):
                return "must be a number"
            if self.minimum is not None and float(text) < self.minimum:
                return f"must be at least {self.minimum:g}"
            if self.maximum is not None and float(text) > self.maximum:
                return f"must be at most {self.maximum:g}"
        return ""

    def literal(self, text: str) -> str:
        """Return a value for the configuration, without references in a secret or in text of a publisher.

        A secret may be one reference as a whole, but a password with `${` in it is no reference.
        """
        is_literal = bool(self.choices) or (self.secret and not is_reference(text))
        return escaped(text) if is_literal else text

    @property
    def about(self) -> str:
        """Its description on one line."""
        what = clean_line(self.description, 160)
        facts = [word for word, holds in (("required", self.required), ("secret", self.secret)) if holds]
        if self.default is not None and not self.secret:
            facts.append(f"default {clean_line(' '.join(self.default), 60) or 'empty'}")
        return f"{what} ({', '.join(facts)})" if facts else what


Values = Mapping[str, tuple[str, ...]]
"""The values of each input that has at least one."""


def values_of(
    inputs: Iterable[ServerInput], given: Iterable[tuple[str, str]], *, every: bool = False
) -> dict[str, tuple[str, ...]]:
    """Return the values: from `--set`, then from the user, then defaults.

    The user is asked for required values without secrets; with `every`, for all values. Raises UsageError for
    an unknown, invalid or missing value.
    """
    known = {one.name: one for one in inputs}
    found: dict[str, tuple[str, ...]] = {}
    for name, text in given:
        if (wanted := known.get(name)) is None:
            names = ", ".join(clean_line(one, 60) for one in known) or "nothing"
            raise UsageError(
                hinted(f"the server has no value {quoted_name(name, 60)}", name, known),
                next_step=f"Its values: {names}.",
            )
        if problem := wanted.problem(text):
            raise UsageError(f"{clean_line(name, 60)} {problem}.", where="--set")
        if name in found and not wanted.several:
            raise UsageError(f"{clean_line(name, 60)} is set twice.", where="--set")
        found[name] = (*found.get(name, ()), wanted.literal(text))
    missing = []
    for name, wanted in known.items():
        if name in found:
            continue
        values = _asked(wanted) if every or (wanted.required and not wanted.secret) else None
        values = wanted.default if values is None else values
        if values:
            found[name] = values
        elif wanted.required:
            missing.append(wanted)
    if missing:
        lines = "".join(f"\n  --set {clean_line(one.name, 60)}=…  {one.about}" for one in missing)
        raise UsageError(f"missing values:{lines}")
    return found


MAX_TEXT = 8192
"""Maximum characters of one text of a publisher, before its values are filled in."""

MAX_TABLE = 64 * 1024
"""Maximum characters of all texts of a server, after that. Systems limit a command line to little more."""


def checked_text(text: str, where: str) -> str:
    """Return a text of a publisher that can be filled in; raises UsageError for any other."""
    if len(text) > MAX_TEXT:
        shown = quoted_name(text, 60)
        raise UsageError(f"a text has {len(text):,} characters, more than {MAX_TEXT:,}: {shown}.")
    if text and not text.isprintable():
        raise UsageError(f"{where} contains invalid characters: {quoted_name(text, 80)}.")
    return text


def refuse_long_table(table: Mapping[str, Any]) -> None:
    """Raise UsageError if the command line and environment of a server are too long to be started."""
    values = [*table.get("args", ()), *table.get("env", {}).items(), *table.get("headers", {}).items()]
    length = sum(len(text) for value in values for text in (value if isinstance(value, tuple) else (value,)))
    if length + len(table.get("url", "")) > MAX_TABLE:
        raise UsageError(f"its arguments and variables have {length:,} characters, more than {MAX_TABLE:,}.")


def fill_template(
    pattern: re.Pattern[str],
    text: str,
    value_of: Callable[[str], str | None],
    literal: Callable[[str], str],
) -> str:
    """Return a text of a publisher with the variables that `pattern` finds filled in.

    `value_of` returns the value for a name, None if that is no variable. Everything else goes through
    `literal`. Raises UsageError if a value and the text around it would form a reference.
    """
    pieces: list[str] = []
    end = 0
    for found in pattern.finditer(text):
        if (value := value_of(found[1])) is not None:
            pieces += [literal(text[end : found.start()]), value]
            end = found.end()
    kept = [piece for piece in (*pieces, literal(text[end:])) if piece]
    for before, after in pairwise(kept):
        if before.endswith("$") and after.startswith(("{", "${")):
            raise UsageError("a $ before a value would turn it into a variable reference.")
    return "".join(kept)


def refuse_borrowed_secrets(table: Mapping[str, Any], given: Iterable[tuple[str, str]]) -> None:
    """Raise UsageError if a server reads a keychain entry that the user did not name.

    An entry named by the publisher could be the secret of another server.
    """
    named = [text for _, text in given if KEYCHAIN in text]
    for part in ("env", "headers"):
        for name, value in table.get(part, {}).items():
            if KEYCHAIN in value and not any(text in value for text in named):
                raise UsageError(
                    f"the server requests {clean_line(name, 60)} from your keychain: "
                    f"{quoted_name(value, 80)}.",
                    next_step="It was not added, because the secret may belong to another server.",
                )


def _asked(wanted: ServerInput) -> tuple[str, ...] | None:
    """Ask for the values of an input on the terminal. None if there is none, or for its default."""
    several = " (separate several with :)" if wanted.several else ""
    prompt = f"{clean_line(wanted.name, 60)}: {wanted.about}{several}\n> "
    while is_terminal():
        text = typed_answer(prompt, hidden=wanted.secret)
        if text is None:
            return None
        if not text and (wanted.default is not None or not wanted.required):
            return None
        texts = tuple(part for part in text.split(":") if part) if wanted.several else (text,)
        problem = next(filter(None, map(wanted.problem, texts)), "")
        if not problem:
            return tuple(map(wanted.literal, texts))
        print(f"  {clean_line(wanted.name, 60)} {problem}")
    return None


def entry_text(entry: Mapping[str, Any], key: str, limit: int = 200) -> str:
    """Return a text of an entry as one clean line, or ""."""
    return clean_line(text_in(entry, key), limit)


_PART_OF = {"npx": "Node.js", "bunx": "Bun", "uvx": "uv", "docker": "Docker", "podman": "Podman"}


def found_server(
    inputs: Iterable[ServerInput],
    given: Iterable[tuple[str, str]],
    values: Values,
    table_of: Callable[[Values], dict[str, Any]],
    lines: Iterable[str],
) -> FoundServer:
    """Return the server that `table_of` makes of values; `lines` say what is not set yet.

    Raises UsageError if it cannot be started, or reads a secret that the user did not name.
    """
    table = table_of(values)
    refuse_long_table(table)
    refuse_borrowed_secrets(table, given)
    marked, store = masked_table(inputs, values, table_of)
    command = table.get("command", "")
    told = list(lines)
    if command and "/" not in command and find_program(command) is None:
        comes = f": it comes with {_PART_OF[command]}" if command in _PART_OF else ""
        told.append(f"  {clean_line(command, 80)} is not installed{comes}")
    return FoundServer(table, shown=marked, lines=tuple(told), store=store)


# ---- secrets and files

SERVICE = "mcptui"
"""Service name in the keychain for secrets of bundles, stored as SERVER.INPUT."""

UNPACKING_SECONDS = 60.0
"""A file that is newer than the manifest by more than this was written by the server."""

MAX_FILES = 200_000


def masked_table(
    inputs: Iterable[ServerInput], values: Values, table: Callable[[Values], dict[str, Any]]
) -> tuple[dict[str, Any], Callable[[dict[str, Any], str, Path], dict[str, Any]]]:
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
            reason = _no_keychain(marked, key, mark)
            if not reason:
                try:
                    asyncio.run(keychain.store(SERVICE, place, value))
                    made = _replaced(made, {mark: f"{KEYCHAIN}{SERVICE}/{place}"})
                    continue
                except ConfigError as error:
                    reason = clean_line(error.message, 200)
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


def _no_keychain(table: Mapping[str, Any], key: str, mark: str) -> str:
    """Return why a reference to the keychain cannot be in place of a mark, or ""."""
    others = {key: value for key, value in table.items() if key not in ("env", "headers")}
    values = [*table.get("env", {}).values(), *table.get("headers", {}).values()]
    used = [value for value in values if mark in value]
    if "/" in key:
        return "its name contains a slash"
    if mark in str(others) or not all(re.fullmatch(rf"(?:\w+ )?{mark}", value) for value in used):
        return "the keychain is only for whole variables and headers"
    return ""


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
    except (OSError, UnicodeError) as error:
        raise ConfigError(f"cannot store a secret: {reason_of(error)}", where=str(path)) from error
    return reference


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
        shown = clean_line(str(files[0].parent), 4096)
        try:
            for path in files:
                path.unlink(missing_ok=True)
            said.append(f"{plural(len(files), 'secret')} deleted from {shown}")
        except OSError as error:
            said.append(f"its secrets are still in {shown}: {reason_of(error)}")
    if folder not in taken:
        said.append(_delete_folder(Path(folder)))
    return [sentence for sentence in said if sentence]


async def _delete_secrets(places: Sequence[str]) -> str:
    try:
        for place in places:
            await keychain.remove(SERVICE, place)
    except ConfigError as error:
        left = ", ".join(clean_line(f"{SERVICE}/{place}", 80) for place in places[:4])
        return f"its secrets are still in the keychain ({left}): {clean_line(error.message, 200)}"
    return f"{plural(len(places), 'secret')} deleted from the keychain"


def _folder(table: Any) -> str:
    return text_in(mapping(table), "cwd").replace("$${", "${")


def _places(table: Any) -> list[str]:
    prefix = f"{KEYCHAIN}{SERVICE}/"
    found = (str(value) for path, value in leaves(table) if path[:1] in (("env",), ("headers",)))
    return list(dict.fromkeys(value.partition(prefix)[2] for value in found if prefix in value))


def _secret_files(table: Any) -> list[Path]:
    texts = (value for _, value in leaves(table) if isinstance(value, str))
    return list(dict.fromkeys(Path(name) for text in texts for name in files_in(text)))


def _delete_folder(folder: Path) -> str:
    is_named = folder.name not in ("", ".", "..") and folder.parent == bundles_dir()
    if not is_named or not folder.is_dir() or folder.is_symlink():
        return ""
    shown = clean_line(str(folder), 4096)
    try:
        if any(_written_later(folder)):
            return f"the server has written files to {shown}, so the folder was kept"
        shutil.rmtree(folder)
    except OSError as error:
        return f"the files of its bundle are still in {shown}: {reason_of(error)}"
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
