"""The settings that a packaged server requires before it can be configured, and the prompts for them.

All texts are the publisher's, not cleaned.
"""

import getpass
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from tui.commands.permission.terminal_approver import is_terminal
from tui.core.errors import UsageError
from tui.core.text import clean_line, quoted_name
from tui.settings.problems import did_you_mean
from tui.settings.references import KEYCHAIN, escaped, is_reference

_NUMBER = re.compile(r"[-+]?\d{1,300}(\.\d{1,300})?")


@dataclass(frozen=True, slots=True)
class ServerInput:
    """One value.

    Attributes:
        name: how `--set NAME=VALUE` names it.
        kind: "string", "number", "boolean", "file" or "directory".
        default: the value if no other is set, as in a configuration, or None.
        several: whether it may have several values.
    """

    name: str
    title: str = ""
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
        what = clean_line(self.description or self.title, 160)
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
            hint = did_you_mean(name, known)
            names = ", ".join(clean_line(one, 60) for one in known) or "nothing"
            raise UsageError(
                f"the server has no value {quoted_name(name, 60)}{f', {hint}' if hint else '.'}",
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


def refuse_long_text(text: str) -> None:
    """Raise UsageError if a text of a publisher is too long to be filled in."""
    if len(text) > MAX_TEXT:
        shown = quoted_name(text, 60)
        raise UsageError(f"a text has {len(text):,} characters, more than {MAX_TEXT:,}: {shown}.")


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


def object_in(value: Any) -> Mapping[str, Any]:
    """Return a value if it is an object, otherwise an empty one."""
    return value if isinstance(value, Mapping) else {}


def text_in(holder: Mapping[str, Any], key: str) -> str:
    """Return a member if it is a text, otherwise ""."""
    value = holder.get(key)
    return value if isinstance(value, str) else ""


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
    while is_terminal():
        text = _line(wanted)
        if text is None or (not text and (wanted.default is not None or not wanted.required)):
            return None
        texts = tuple(part for part in text.split(":") if part) if wanted.several else (text,)
        problem = next(filter(None, map(wanted.problem, texts)), "")
        if not problem:
            return tuple(map(wanted.literal, texts))
        print(f"  {clean_line(wanted.name, 60)} {problem}")
    return None


def _line(wanted: ServerInput) -> str | None:
    several = " (separate several with :)" if wanted.several else ""
    prompt = f"{clean_line(wanted.name, 60)}: {wanted.about}{several}\n> "
    try:
        return getpass.getpass(prompt) if wanted.secret else input(prompt).strip()
    except EOFError:
        return None


def entry_text(entry: Mapping[str, Any], key: str, limit: int = 200) -> str:
    """Return a text of an entry as one clean line, or ""."""
    return clean_line(text_in(entry, key), limit)
