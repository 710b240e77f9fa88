"""Fills in the fields of a form, and returns the resulting value. Pure."""

from typing import Any

from tui.core.comparison.placeholders import same
from tui.core.forms.checks import json_text, parse_json, read_text, shown_text, size_problem
from tui.core.forms.spec import HOLDERS, MISSING, FieldKind, FieldSpec, FieldState, FormField, Path
from tui.core.language.translate import N_, as_message, message


def write(node: FormField, text: str) -> None:
    """Set the text of a field that is not an object, map or array; "" makes it absent unless it is text."""
    node.clear()
    is_choice = any(choice.label == text for choice in node.spec.choices)
    if not text.strip() and node.kind is not FieldKind.TEXT and not is_choice:
        return
    node.state = FieldState.SET
    node.text = text
    node.value, node.misread = read_text(text_spec(node), text)


def raw(node: FormField, value: Any) -> None:
    """Set any value of a field, as JSON text."""
    write_raw(node, json_text(value, indent=2 if isinstance(value, dict | list) else None))


def write_raw(node: FormField, text: str) -> None:
    """Set JSON text in a field of any kind."""
    node.clear()
    node.state, node.text = FieldState.RAW, text
    node.value, node.misread = parse_json(text)
    if node.misread:
        node.value = text
    elif not node.whole.arms:
        node.misread = _kind_problem(node, node.value)


def gathered(node: FormField, problems: dict[Path, str]) -> Any:
    """Return the value of a field, MISSING if it is absent, and add the problems below it."""
    if node.state is FieldState.ABSENT:
        if node.required:
            problems[node.path] = message("is required")
        return MISSING
    if node.state is FieldState.NULL:
        return None
    if node.state is FieldState.RAW or node.kind not in HOLDERS:
        if node.misread:
            problems[node.path] = node.misread
        return node.value
    found = [(name, gathered(child, problems)) for name, child in node.children.items()]
    present = {name: value for name, value in found if value is not MISSING}
    whole = [value for _, value in found if value is not MISSING] if node.kind is FieldKind.ARRAY else present
    if problem := size_problem(node.spec, len(whole)) or _duplicate_problem(node, whole):
        problems[node.path] = problem
    for child in node.children.values():
        if child.extra and child.state is FieldState.ABSENT:
            problems[child.path] = message("is empty")
        elif child.extra and child.whole.forbidden:
            problems.setdefault(child.path, message("is not in the schema"))
    return whole


def _duplicate_problem(node: FormField, whole: Any) -> str:
    if not (node.spec.source.get("uniqueItems") is True and isinstance(whole, list) and len(whole) <= 100):
        return ""
    for number, one in enumerate(whole):
        if any(same(one, other) for other in whole[:number]):
            return message("contains item {number} twice", number=number)
    return ""


def text_spec(node: FormField) -> FieldSpec:
    """Return the spec for reading the text of a field: raw JSON where it is nested too deeply."""
    return node.spec if node.kind is node.spec.kind else FieldSpec(node.kind)


NOT_ALLOWED = N_("is not an allowed value")
_OF_KIND = {
    FieldKind.TEXT: N_("is not a string"),
    FieldKind.INTEGER: N_("is not an integer"),
    FieldKind.NUMBER: N_("is not a number"),
    FieldKind.BOOLEAN: N_("is not true or false"),
}


def _kind_problem(node: FormField, value: Any) -> str:
    own = node.spec
    if own.kind is FieldKind.JSON or (value is None and node.whole.nullable):
        return ""
    if own.kind in HOLDERS:
        if own.kind is FieldKind.ARRAY:
            return "" if isinstance(value, list) else message("is not an array")
        return "" if isinstance(value, dict) else message("is not an object")
    text = shown_text(own, value)
    if text is not None:
        return read_text(own, text)[1]
    return as_message(_OF_KIND.get(own.kind, NOT_ALLOWED))


def misfit(node: FormField) -> tuple[int, int, int]:
    """Return how badly a value fits an arm; (0, 0, 0) is a perfect fit."""
    if node.is_raw and node.kind is not node.spec.kind:
        return 1, 0, 0
    problems: dict[Path, str] = {}
    gathered(node, problems)
    raws = sum(each.state is FieldState.RAW for each in node.fields())
    return 0, raws, len(problems)
