"""Arguments of `mcptui call`, `read`, `prompt` and `list`: the server, the request, and its values.

Schemas and names come from the server and are not cleaned. All displayed text is cleaned.
"""

import argparse
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tui.commands.run_input import read_bounded
from tui.commands.shared_options import usage
from tui.core.addons import every, missing
from tui.core.errors import UsageError, reason_of
from tui.core.files import NotText, read_limited, text_of
from tui.core.forms.checks import parse_json, read_text
from tui.core.forms.schema import SchemaReader
from tui.core.forms.spec import FieldKind, FieldSpec
from tui.core.servers import ServerSpec
from tui.core.text import clean_line, quoted_name
from tui.settings.host_server import host_server
from tui.settings.new_server import is_address, pairs, unconfigured_server
from tui.settings.problems import did_you_mean

KINDS = ("tools", "resources", "prompts")
MAX_ARGUMENT_BYTES = 16 * 1024 * 1024
"""Maximum bytes of a file or of stdin for `--args`, and characters of its text."""


def kinds() -> tuple[str, ...]:
    """Return what can be listed: kinds of the house, and those of add-ons."""
    return (*KINDS, *(name for name, _ in every("listing")))


def request_of(args: argparse.Namespace) -> tuple[str | None, tuple[str, ...]]:
    """Return the server (None: the command after `--`) and the other words. Raises UsageError."""
    least, most = {"call": (1, None), "read": (1, 1), "prompt": (1, None), "list": (0, 1)}[args.command]
    what = {"call": "the tool", "read": "the URI", "prompt": "the name of the prompt"}
    named, rest = server_and_words(args, usage(args.command), least, most, what.get(args.command, ""))
    if args.command == "list" and rest and rest[0] not in kinds():
        if absent := missing("listing", rest[0]):
            raise UsageError(f"{absent}.")
        step = f"Choose one of {', '.join(kinds())}."
        raise UsageError(f"cannot list {quoted_name(rest[0], 80)}.", next_step=step)
    return named, rest


def server_and_words(
    args: argparse.Namespace, usage: str, least: int, most: int | None, what: str = ""
) -> tuple[str | None, tuple[str, ...]]:
    """Return the server (None: the command after `--`) and the other words, `least` to `most`.

    Raises UsageError with the `usage`; `what` names the first of these words.
    """
    words, named = tuple(args.words), not args.live_command
    rest = words[1:] if named else words
    if named and not words and vars(args).get("search") is not None:
        return None, ()
    if named and not words:
        raise _misused(usage, "SERVER is required")
    if len(rest) < least:
        raise _misused(usage, f"{what} is required")
    if most is not None and len(rest) > most:
        raise _misused(usage, f"unexpected argument: {quoted_name(rest[most], 80)}")
    return words[0] if named else None, rest


def _misused(usage: str, problem: str) -> UsageError:
    forms = " or ".join(line.strip() for line in usage.splitlines())
    return UsageError(f"{problem}.", next_step=f"Usage: {forms}")


def given_json(args: argparse.Namespace) -> str | None:
    """Return the text of `--args`; raises UsageError if it cannot be read."""
    text: str | None = args.args
    if text is None:
        if vars(args).get("unchecked"):
            raise UsageError("--unchecked requires --args.")
        return None
    try:
        if text == "-":
            data = read_limited(sys.stdin.buffer, MAX_ARGUMENT_BYTES)
        elif text.startswith("@"):
            data = read_bounded(text[1:], MAX_ARGUMENT_BYTES)
        else:
            return text
        return text_of(data)
    except NotText as error:
        reason = f"it {error}"
    except (OSError, ValueError) as error:
        reason = reason_of(error)
    raise UsageError(f"cannot read the arguments: {reason}.", where=f"--args {clean_line(text, 400)}")


def unconfigured(args: argparse.Namespace, server: str | None) -> tuple[ServerSpec, Mapping[str, str]] | None:
    """Return the server of a URL, a command or another host, with its secrets.

    None for a configured one, or all of them.
    """
    if (server is not None and not is_address(server)) or (server is None and not args.live_command):
        if args.header or args.env or args.transport:
            raise UsageError(
                "--header, --env and --transport require a URL or a command.",
                next_step="For a configured server, set them in the configuration.",
            )
        if args.era:
            raise UsageError(
                "--era requires a URL or a command.",
                next_step="For a configured server, set era in the configuration.",
            )
        return None if server is None else host_server(vars(args).get("config"), server)
    if server is None and is_address(args.live_command[0]):
        address = clean_line(args.live_command[0], 200)
        raise UsageError(
            "expected a command after --, not a URL.",
            next_step=f"Put the URL first: mcptui {args.command} {address}",
        )
    return unconfigured_server(
        args.live_command if server is None else [server],
        dict(pairs(args.env)),
        dict(pairs(args.header, colon=True)),
        args.transport or "",
        args.era or "",
    )


_SHOWN_ARGUMENTS = 24
_SHOWN_CHOICES = 8
_HOLDERS = {FieldKind.ARRAY: list, FieldKind.OBJECT: dict, FieldKind.MAP: dict}
_EXAMPLES = {
    FieldKind.ARRAY: '["a", "b"]',
    FieldKind.JSON: '"text"',
    **dict.fromkeys((FieldKind.OBJECT, FieldKind.MAP), '{"a": 1}'),
}
_KIND_WORDS = {
    FieldKind.TEXT: "TEXT",
    FieldKind.INTEGER: "INTEGER",
    FieldKind.NUMBER: "NUMBER",
    FieldKind.BOOLEAN: "true|false",
    FieldKind.ARRAY: "[JSON]",
    FieldKind.OBJECT: "{JSON}",
    FieldKind.MAP: "{JSON}",
    FieldKind.JSON: "JSON",
}


class Arguments:
    """The arguments that a tool or a prompt accepts."""

    def __init__(self, name: str, schema: Mapping[str, Any]) -> None:
        self._name = clean_line(name, 80)
        self._reader = SchemaReader(schema)
        self._root = self._reader.spec(schema)
        self._specs: dict[str, FieldSpec] = {}
        self._required: set[str] = set()
        for part in (self._root, *self._root.arms):
            for one, needed in self._reader.properties(part).items():
                self._specs.setdefault(one, self._reader.child(part, one))
                if needed and part is self._root:
                    self._required.add(one)
        source = self._root.source
        others = source.get("additionalProperties", "properties" not in source and not self._specs)
        self._open = others is not False or bool(source.get("patternProperties"))

    def from_pairs(self, words: Sequence[str]) -> dict[str, Any]:
        """Return the arguments of `NAME=VALUE` words; raises UsageError."""
        texts: dict[str, str] = {}
        for word in words:
            name, mark, text = word.partition("=")
            if not mark or not name:
                hint = self.usage()
                if len(self._required) == 1:
                    (only,) = self._required
                    hint = f"Write {clean_line(only, 60)}={shlex.quote(clean_line(word, 80))}"
                raise UsageError(f"{quoted_name(word, 80)} is not NAME=VALUE.", next_step=hint)
            if name in texts:
                hint = "Use a JSON array for several values."
                raise UsageError(f"{clean_line(name, 60)} is set twice.", next_step=hint)
            texts[name] = text
        self._refuse_unknown(texts)
        return {name: self._value(name, text) for name, text in texts.items()}

    def from_json(self, text: str) -> dict[str, Any]:
        """Return the arguments of a JSON object; raises UsageError."""
        value = json_object(text)
        self._refuse_unknown(value)
        return value

    def require(self, given: Mapping[str, Any]) -> None:
        """Raise UsageError if a required argument is not given."""
        if missing := [name for name in self._specs if name in self._required and name not in given]:
            names = ", ".join(clean_line(name, 60) for name in missing[:_SHOWN_ARGUMENTS])
            raise UsageError(f"{self._name} needs {names}.", next_step=self.usage())

    def _refuse_unknown(self, given: Iterable[str]) -> None:
        for name in given:
            if name not in self._specs and not self._open:
                hint = did_you_mean(name, self._specs)
                raise UsageError(
                    f"{self._name} has no argument {quoted_name(name, 60)}{f', {hint}' if hint else '.'}",
                    next_step=self.usage(),
                )

    def _value(self, name: str, text: str) -> Any:
        spec = self._specs.get(name) or self._reader.child(self._root, name)
        value, problem = value_of(spec, text)
        if problem:
            shown = clean_line(name, 60)
            example = "" if spec.arms else _EXAMPLES.get(spec.kind, "")
            hint = f"Write JSON, such as {shown}='{example}'" if example else self.usage()
            raise UsageError(f"{shown} {problem}: {quoted_name(text, 80)}.", next_step=hint)
        return value

    def usage(self) -> str:
        """Return a sentence about the accepted arguments."""
        if self._open and not self._specs:
            return "It accepts any arguments."
        return f"Its arguments: {self.signature}" if self._specs else "It takes no arguments."

    @property
    def signature(self) -> str:
        """The arguments as the user writes them, required ones first: `location=TEXT [days=INTEGER]`."""
        words = []
        for name in sorted(self._specs, key=lambda name: name not in self._required)[:_SHOWN_ARGUMENTS]:
            word = f"{clean_line(name, 60)}={_kind_word(self._specs[name])}"
            words.append(word if name in self._required else f"[{word}]")
        return " ".join(words) + (" …" if len(self._specs) > _SHOWN_ARGUMENTS else "")


def value_of(spec: FieldSpec, text: str) -> tuple[Any, str]:
    """Return the value of a text for a field, and its problem, or "".

    With several types, the first match wins. Text comes last, because it always matches.
    """
    arms = sorted(spec.arms or (spec,), key=lambda arm: arm.kind is FieldKind.TEXT)
    if spec.nullable and text == "null" and arms[-1].kind is not FieldKind.TEXT:
        return None, ""
    problems = []
    for arm in arms:
        value, problem = _arm_value(arm, text)
        if not problem:
            return value, ""
        problems.append(problem)
    return text, problems[0] if len(problems) == 1 else f"matches none of its types ({'; '.join(problems)})"


def _arm_value(spec: FieldSpec, text: str) -> tuple[Any, str]:
    if (holder := _HOLDERS.get(spec.kind)) is None:
        value, problem = read_text(spec, text)
        if spec.kind in (FieldKind.CHOICE, FieldKind.CONST) and problem:
            problem = f"must be one of {_kind_word(spec)}"
        return value, problem
    value, problem = parse_json(text)
    if not problem and not isinstance(value, holder):
        problem = f"is not a JSON {'array' if holder is list else 'object'}"
    return value, problem


def _kind_word(spec: FieldSpec) -> str:
    if spec.arms:
        return "|".join(dict.fromkeys(_kind_word(arm) for arm in spec.arms[:_SHOWN_CHOICES]))
    if spec.kind in (FieldKind.CHOICE, FieldKind.CONST):
        shown = [shlex.quote(clean_line(choice.label, 40)) for choice in spec.choices[:_SHOWN_CHOICES]]
        return "|".join(shown) + ("|…" if len(spec.choices) > _SHOWN_CHOICES else "")
    return _KIND_WORDS[spec.kind]


def json_object(text: str) -> dict[str, Any]:
    """Return the JSON object of `--args`; raises UsageError with its line and column."""
    value, problem = parse_json(text, MAX_ARGUMENT_BYTES)
    if not problem and not isinstance(value, dict):
        problem = "is not a JSON object"
    if problem:
        hint = """Use an object, such as '{"name": "value"}'"""
        raise UsageError(f"the string {problem}.", where="--args", next_step=hint)
    return dict(value)
