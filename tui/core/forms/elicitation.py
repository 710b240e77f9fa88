"""The forms that servers ask the user to fill in: flat objects. Pure; schemas and contents are raw."""

from collections.abc import Iterator, Mapping
from typing import Any

from tui.core.comparison.placeholders import same
from tui.core.forms.form import Form
from tui.core.forms.schema import SchemaReader, choices_of, required_of
from tui.core.forms.spec import (
    HOLDERS,
    MAX_DESCRIPTION,
    MAX_TITLE,
    MISSING,
    FieldChoice,
    FieldKind,
    FieldSpec,
    FieldState,
    Path,
)
from tui.core.language.translate import N_, _, message
from tui.core.secrets.secret_names import asks_for_a_secret
from tui.core.text import clean_line, mapping, object_in, quoted_name

MAX_FIELDS = 200
"""Maximum fields of a form that the user can be expected to fill in."""


def schema_problem(schema: Any) -> str:
    """Return why a server may not ask for a form with this schema, or ""."""
    if not isinstance(schema, Mapping):
        return message("requestedSchema must be an object")
    if schema.get("type", "object") != "object" or not isinstance(schema.get("properties", {}), Mapping):
        return message('requestedSchema must have "type": "object" and properties')
    if (fields := len(schema.get("properties", {}))) > MAX_FIELDS:
        return message(
            "requestedSchema has {count:,} fields (limit: {limit})", count=fields, limit=MAX_FIELDS
        )
    for name, spec in _specs(schema):
        items = spec.source.get("items")
        is_list = spec.kind is FieldKind.ARRAY and (
            _several(spec) or mapping(items).get("type", "string") == "string"
        )
        if spec.kind in (*HOLDERS, FieldKind.JSON) and not is_list:
            words = N_("requestedSchema: the field {name} may not be of type {type}")
            if spec.kind in (FieldKind.OBJECT, FieldKind.MAP):
                words = N_("requestedSchema: the field {name} may not be an object")
            return message(words, name=quoted_name(name, 60), type=spec.kind)
    return ""


def content_problem(schema: Mapping[str, Any], content: Mapping[str, Any]) -> str:
    """Return the first problem of an answer, with its field, or ""."""
    known = object_in(schema, "properties")
    for name in content:
        if name not in known:
            fields = ", ".join(clean_line(one, 40) for one in list(known)[:8]) or message("none")
            return message(
                "{name} is not a field of the form. Fields: {fields}",
                name=quoted_name(str(name), 60),
                fields=fields,
            )
    form = Form(schema)
    form.load(dict(content))
    return problem_of(form.problems())


def problem_of(problems: Mapping[Path, str]) -> str:
    """Return the first of the problems of a form as one text, or ""."""
    for path, problem in problems.items():
        name = " ".join(str(part + 1) if isinstance(part, int) else part for part in path)
        return message("{where} {problem}", where=clean_line(name, 60), problem=problem) if name else problem
    return ""


def blank_form(schema: Mapping[str, Any]) -> Form:
    """Return the form to fill in: every default in place, one boolean per value of a multiple choice."""
    shown = {}
    for name, spec in _specs(schema):
        choices = _several(spec)
        shown[name] = _as_switches(spec, choices) if choices else mapping(schema["properties"])[name]
    form = Form({**schema, "type": "object", "properties": shown, "additionalProperties": False})
    for field in form.fields():
        if field.state is FieldState.ABSENT and (_has_default(field.spec) or field.children):
            form.include(field.path)
    for name, spec in _specs(schema):
        for choice in _several(spec):
            form.include((name, choice.label))
    return form


def content_of(schema: Mapping[str, Any], value: Any) -> dict[str, Any]:
    """Return the answer for the server from the value of the form that is shown."""
    content = dict(value) if isinstance(value, Mapping) else {}
    required = required_of(schema)
    for name, spec in _specs(schema):
        if choices := _several(spec):
            switches = mapping(content.pop(name, None))
            chosen = [choice.value for choice in choices if switches.get(choice.label) is True]
            if chosen or name in required or _has_default(spec):
                content[name] = chosen
    return content


def default_content(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer that consists of the defaults of the schema."""
    return content_of(schema, blank_form(schema).value()[0])


def secret_warning(schema: Mapping[str, Any]) -> str:
    """Return a warning in the user's language if fields seem to ask for a secret, or ""."""
    names = ", ".join(clean_line(name, 40) for name in secret_fields(schema)[:4])
    return _("{names}: servers must not request secrets in a form.", names=names) if names else ""


def secret_fields(schema: Mapping[str, Any]) -> list[str]:
    """Return the fields that seem to ask for a secret, which a server must not.

    Only the part of their texts that a form shows is searched: text that is not shown cannot ask the user for
    anything.
    """
    found = []
    for name, spec in _specs(schema):
        description = clean_line(spec.description, MAX_DESCRIPTION)
        asks = asks_for_a_secret(f"{clean_line(name, MAX_TITLE)} {clean_line(spec.title, MAX_TITLE)}")
        if asks or (asks_for_a_secret(description) and " not " not in description):
            found.append(name)
    return found


def _specs(schema: Mapping[str, Any]) -> Iterator[tuple[str, FieldSpec]]:
    reader = SchemaReader(schema)
    for name in reader.properties(reader.spec(schema)):
        yield name, reader.child(reader.spec(schema), name)


def _has_default(spec: FieldSpec) -> bool:
    """Return whether a default is filled in. Null is not: answers have no null, the field is left out."""
    return spec.default is not MISSING and spec.default is not None


def _several(spec: FieldSpec) -> tuple[FieldChoice, ...]:
    """Return the values of a multiple choice, or ()."""
    items = spec.source.get("items")
    if spec.kind is not FieldKind.ARRAY or not isinstance(items, Mapping):
        return ()
    return choices_of(items) or ()


def _as_switches(spec: FieldSpec, choices: tuple[FieldChoice, ...]) -> dict[str, Any]:
    default = spec.default if isinstance(spec.default, list) else []
    source = spec.source
    words = {word: source[word] for word in ("title", "description") if word in source}
    return {
        **words,
        "type": "object",
        "format": f"any of {len(choices)}",
        "properties": {
            choice.label: {"type": "boolean", "default": any(same(choice.value, one) for one in default)}
            for choice in choices
        },
        "additionalProperties": False,
    }
