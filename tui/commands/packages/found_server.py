"""A server found in a registry or a bundle, and the prompts for its settings and confirmation."""

import getpass
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tui.core.errors import UsageError
from tui.core.text import clean_line
from tui.settings.packages.server_inputs import Ask, ServerInput
from tui.settings.references import escaped


@dataclass(frozen=True, slots=True)
class FoundServer:
    """A server described by a third party. It is added only after confirmation.

    Attributes:
        table: as under `[servers.NAME]`.
        name: the proposed name.
        source: who described it: "registry" or "bundle".
        lines: what it is and where it comes from, cleaned.
        install: installs its files, after confirmation.
        store: stores secrets in the keychain, after confirmation; takes table and name, returns the table.
    """

    table: dict[str, Any]
    name: str
    source: str
    lines: tuple[str, ...] = ()
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
