"""Arguments of a tool or a prompt on the command line, by their schema.

Schemas and names come from the server and are not cleaned. All displayed text is cleaned.
"""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tui.core.errors import UsageError
from tui.core.forms.checks import parse_json, read_text
from tui.core.forms.schema import SchemaReader
from tui.core.forms.spec import FieldKind, FieldSpec
from tui.core.language.translate import message
from tui.core.text import clean_line, quoted_name
from tui.settings.problems import hinted

MAX_ARGUMENT_TEXT = 16 * 1024 * 1024
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
                    written = f"{clean_line(only, 60)}={shlex.quote(clean_line(word, 80))}"
                    hint = message("Write {example}", example=written)
                raise UsageError(
                    message("{word} is not NAME=VALUE.", word=quoted_name(word, 80)), next_step=hint
                )
            if name in texts:
                hint = message("Use a JSON array for several values.")
                raise UsageError(message("{name} is set twice.", name=clean_line(name, 60)), next_step=hint)
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
            raise UsageError(
                message("{name} needs {names}.", name=self._name, names=names), next_step=self.usage()
            )

    def _refuse_unknown(self, given: Iterable[str]) -> None:
        for name in given:
            if name not in self._specs and not self._open:
                said = message("{tool} has no argument {name}", tool=self._name, name=quoted_name(name, 60))
                raise UsageError(hinted(said, name, self._specs), next_step=self.usage())

    def _value(self, name: str, text: str) -> Any:
        spec = self._specs.get(name) or self._reader.child(self._root, name)
        value, problem = value_of(spec, text)
        if problem:
            shown = clean_line(name, 60)
            example = "" if spec.arms else _EXAMPLES.get(spec.kind, "")
            hint = self.usage()
            if example:
                hint = message("Write JSON, such as {example}", example=f"{shown}='{example}'")
            problem = message("{name} {problem}", name=shown, problem=problem)
            raise UsageError(
                message("{problem}: {value}.", problem=problem, value=quoted_name(text, 80)), next_step=hint
            )
        return value

    def usage(self) -> str:
        """Return a sentence about the accepted arguments."""
        if self._open and not self._specs:
            return message("It accepts any arguments.")
        if not self._specs:
            return message("It takes no arguments.")
        return message("Its arguments: {names}", names=self.signature)

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
            problem = message("must be one of {names}", names=_kind_word(spec))
        return value, problem
    value, problem = parse_json(text)
    if not problem and not isinstance(value, holder):
        problem = message("is not a JSON array") if holder is list else message("is not a JSON object")
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
    value, problem = parse_json(text, MAX_ARGUMENT_TEXT)
    if not problem and not isinstance(value, dict):
        problem = "is not a JSON object"
    if problem:
        hint = """Use an object, such as '{"name": "value"}'"""
        raise UsageError(f"the string {problem}.", where="--args", next_step=hint)
    return dict(value)
