"""A server found in a registry or a bundle: the prompts for its settings, and where its secrets go."""

import asyncio
import getpass
import re
import secrets
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tui.core.errors import ConfigError, UsageError
from tui.core.text import clean_line
from tui.settings.config_secrets import MASK
from tui.settings.packages.bundle_file import SERVICE
from tui.settings.packages.registry_entry import variable_name
from tui.settings.packages.server_inputs import Ask, ServerInput, Values
from tui.settings.references import KEYCHAIN, NAME, escaped

_REFERENCE = re.compile(rf"\$\{{{NAME}\}}|{KEYCHAIN}.+/[^/]+")


@dataclass(frozen=True, slots=True)
class FoundServer:
    """A server described by a third party. It is added only after confirmation.

    Attributes:
        table: as under `[servers.NAME]`.
        name: the proposed name.
        source: who described it: "registry" or "bundle".
        lines: what it is and where it comes from, cleaned.
        shown: the table with `***` for each secret that the user gave.
        folder: the folder that `install` creates, or "".
        install: installs its files, after confirmation.
        store: stores secrets in the keychain, after confirmation; takes table and name, returns the table.
    """

    table: dict[str, Any]
    name: str
    source: str
    shown: dict[str, Any]
    lines: tuple[str, ...] = ()
    folder: str = ""
    install: Callable[[], None] | None = None
    store: Callable[[dict[str, Any], str], dict[str, Any]] | None = field(default=None, repr=False)


def is_terminal() -> bool:
    """Return whether there is a terminal to ask on."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def confirm(question: str, *, yes: bool) -> bool:
    """Return whether the user confirms; raises UsageError if there is no terminal to ask on."""
    if yes:
        return True
    if not is_terminal():
        raise UsageError("nothing written: no terminal to confirm on.", next_step="Use --yes to confirm.")
    from tui.commands.terminal_approver import is_yes

    return is_yes(f"{question} [y/N] ")


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
                return tuple(map(escaped, texts)) if wanted.choices else texts
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
        shown: dict[str, Any] = _replaced(dict(self.marked), dict.fromkeys(self.marks.values(), MASK))
        return shown

    def stored(self, table: Mapping[str, Any], name: str, *, in_file: bool) -> dict[str, Any]:
        """Move the secrets to the keychain, and return the table with references to them.

        Without a keychain, or where a reference to it cannot be, the table has a reference to a variable, or
        with `in_file` the secret itself.
        """
        instead = {}
        for key, mark in self.marks.items():
            place = f"{name}.{key}"
            if mark not in str(self.marked):
                print(f"note: {clean_line(key, 60)} is not used, so it was not stored", file=sys.stderr)
            elif (
                self._fits_keychain(mark)
                and "/" not in key
                and _keep(place, self.values[key].replace("$${", "${"), in_file)
            ):
                instead[mark] = f"{KEYCHAIN}{SERVICE}/{place}"
            elif in_file:
                if not self._fits_keychain(mark):
                    print(_in_file(f"{clean_line(key, 60)} is part of a longer text", place), file=sys.stderr)
                instead[mark] = self.values[key]
            else:
                instead[mark] = f"${{{variable_name(key)}}}"
                print(
                    f"note: {clean_line(key, 60)} is not written to the configuration file. Set the "
                    f"environment variable {variable_name(key)}",
                    file=sys.stderr,
                )
        return {**table, **_replaced(dict(self.marked), instead)} if instead else dict(table)

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
    given = {
        one.name: found[-1]
        for one in inputs
        if one.secret and (found := values.get(one.name)) and not _REFERENCE.fullmatch(found[-1])
    }
    marks = {name: f"SECRET{secrets.token_hex(12)}" for name in given}
    return SecretPlaces(given, marks, table({**values, **{name: (mark,) for name, mark in marks.items()}}))


def _replaced(value: Any, instead: Mapping[str, str]) -> Any:
    match value:
        case dict():
            return {key: _replaced(inner, instead) for key, inner in value.items()}
        case list():
            return [_replaced(inner, instead) for inner in value]
        case str():
            for mark, text in instead.items():
                value = value.replace(mark, text)
    return value


def _in_file(why: str, place: str) -> str:
    shown = clean_line(place, 80)
    return f"note: {why}, so {shown} is stored in the configuration file, which only you can read"


def _keep(place: str, value: str, in_file: bool) -> bool:
    from tui.core.secrets.keychain import store

    try:
        asyncio.run(store(SERVICE, place, value))
    except ConfigError as error:
        if in_file:
            print(_in_file(clean_line(error.message, 200), place), file=sys.stderr)
        return False
    return True
