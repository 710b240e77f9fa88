"""Arguments for a first call of a tool, from its schema and the examples in its descriptions. Pure.

Nothing is invented: an argument that the schema gives no value for is named, and the tool is not called.
"""

import json
import re
from collections.abc import Iterator, Mapping
from itertools import chain, islice
from typing import Any

from tui.core.forms.checks import json_text, shown_text
from tui.core.forms.form import Form
from tui.core.forms.spec import HOLDERS, MAX_DESCRIPTION, FieldKind, FieldSpec, FormField, Path
from tui.core.text import clean_line, list_in

MOST_ROUNDS = 40
"""Maximum fields to fill in, which may each bring further required ones."""

MOST_EXAMPLES = 5
"""Maximum examples to read from a description."""

_EXAMPLES = re.compile(r"(?i)\b(?:e\.\s?g\.|for example|for instance|examples?:|such as|like)")
_QUOTED = re.compile(r"[\"“]([^\"“”\n]{1,80})[\"”]|'([^'\n]{1,80})'|`([^`\n]{1,80})`")
_OBJECT = re.compile(r"(?i)\b(?:e\.\s?g\.|examples?|such as)[^{]{0,60}(?P<object>\{)")
_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,9})?\b")


def example_arguments(schema: Mapping[str, Any], description: str = "") -> tuple[dict[str, Any], str]:
    """Return arguments for a call, and "" or the name of the argument that has no example.

    Optional arguments are left out: the server uses its own default. Of the `description` of the tool, these
    count: a JSON object, and an example in the line about an argument or for the only required one.
    """
    description = description[:MAX_DESCRIPTION]
    wholes = [*list_in(schema, "examples")[:MOST_EXAMPLES], *_objects_in(description)]
    for whole in wholes:
        form = Form(schema)
        form.load(whole)
        value, problems = form.value()
        if isinstance(value, dict) and not problems:
            return value, ""
    form = Form(schema)
    is_only = len(form.problems()) == 1
    for _ in range(MOST_ROUNDS):
        value, problems = form.value()
        if not problems:
            break
        path = min(problems, key=len)
        if not _filled(form, path, _about(path, description, is_only=is_only)):
            return {}, _named(path)
    else:
        return {}, "the arguments"
    return (value, "") if isinstance(value, dict) else ({}, "the arguments")


def _named(path: Path) -> str:
    return clean_line(".".join(str(part) for part in path), 80) or "the arguments"


def _objects_in(description: str) -> Iterator[Any]:
    """Yield the objects that a description gives as examples, as in `Example: {"city": "Rome"}`."""
    for found in islice(_OBJECT.finditer(description), MOST_EXAMPLES):
        try:
            yield json.JSONDecoder().raw_decode(description, found.start("object"))[0]
        except (ValueError, RecursionError):
            continue


def _about(path: Path, description: str, *, is_only: bool) -> str:
    """Return what the description of a tool says about an argument."""
    name = re.escape(str(path[-1])) if path else ""
    line = re.search(rf"(?m)^[\s*`-]*{name}\b[`*]*(?: ?\([^)\n]*\))?:(.*)", description)
    return line[1] if line is not None else description if is_only else ""


def _filled(form: Form, path: Path, about: str) -> bool:
    """Fill in a field that has a problem; return whether that is solved. `about` may have examples."""
    node = form.field(path)
    if node is None or node.spec.secret or node.whole.secret:
        return False
    for value in chain(_values(node), described_examples(node.spec, about)):
        if _set(form, node, value):
            return True
    if node.kind is FieldKind.ARRAY:
        item = form.add(path)
        return item is not None and (item not in form.problems() or _filled(form, item, about))
    if node.kind in HOLDERS:
        form.include(path)
        return path not in form.problems()
    return False


def _set(form: Form, node: FormField, value: Any) -> bool:
    text = shown_text(node.spec, value)
    if text is None and node.kind in HOLDERS and isinstance(value, dict | list):
        text = json_text(value)
    if text is None:
        return False
    form.set(node.path, text)
    if node.path not in form.problems():
        return True
    form.clear(node.path)
    return False


def _values(node: FormField) -> Iterator[Any]:
    """Yield values that the schema suggests, best first."""
    for spec in (node.whole, node.spec) if node.whole is not node.spec else (node.spec,):
        yield from spec.examples
        if "example" in spec.source:
            yield spec.source["example"]
    spec = node.spec
    yield from (choice.value for choice in spec.choices)
    yield from described_examples(spec, spec.description)
    if spec.kind is FieldKind.BOOLEAN:
        yield False
    least = spec.limit("minimum")
    if spec.kind in (FieldKind.INTEGER, FieldKind.NUMBER) and least is not None:
        yield least


def described_examples(spec: FieldSpec, description: str) -> list[Any]:
    """Return the examples that a description names, as in `IANA timezone (e.g., 'Asia/Tokyo')`."""
    description = description[:MAX_DESCRIPTION]
    if (start := _EXAMPLES.search(description)) is None:
        return []
    rest = description[start.end() :]
    if spec.kind in (FieldKind.INTEGER, FieldKind.NUMBER):
        found = [float(one) if "." in one else int(one) for one in _NUMBER.findall(rest)]
        return [one for one in found if spec.kind is FieldKind.NUMBER or isinstance(one, int)][:MOST_EXAMPLES]
    if spec.kind is not FieldKind.TEXT:
        return []
    return ["".join(one) for one in _QUOTED.findall(rest)][:MOST_EXAMPLES]
