"""Fills in the fields of a form, and returns the resulting value. Pure."""

from collections.abc import Mapping
from typing import Any

from tui.core.comparison.placeholders import same
from tui.core.forms.checks import json_text, parse_json, read_text, shown_text, size_problem
from tui.core.forms.schema import SchemaReader
from tui.core.forms.spec import (
    HOLDERS,
    MAX_FIELDS,
    MISSING,
    FieldKind,
    FieldSpec,
    FieldState,
    FormField,
    Path,
)


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
            problems[node.path] = "is required"
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
            problems[child.path] = "is empty"
        elif child.extra and child.whole.forbidden:
            problems.setdefault(child.path, "is not in the schema")
    return whole


def _duplicate_problem(node: FormField, whole: Any) -> str:
    if not (node.spec.bounds.unique and isinstance(whole, list) and len(whole) <= 100):
        return ""
    for number, one in enumerate(whole):
        if any(same(one, other) for other in whole[:number]):
            return f"contains item {number} twice"
    return ""


def text_spec(node: FormField) -> FieldSpec:
    """Return the spec for reading the text of a field: raw JSON where it is nested too deeply."""
    return node.spec if node.kind is node.spec.kind else FieldSpec(node.kind)


def _kind_problem(node: FormField, value: Any) -> str:
    own = node.spec
    if own.kind is FieldKind.JSON or (value is None and node.whole.nullable):
        return ""
    if own.kind in HOLDERS:
        wanted, name = (list, "an array") if own.kind is FieldKind.ARRAY else (dict, "an object")
        return "" if isinstance(value, wanted) else f"is not {name}"
    text = shown_text(own, value)
    if text is not None:
        return read_text(own, text)[1]
    return {
        FieldKind.TEXT: "is not a string",
        FieldKind.INTEGER: "is not an integer",
        FieldKind.NUMBER: "is not a number",
        FieldKind.BOOLEAN: "is not true or false",
    }.get(own.kind, "is not an allowed value")


MAX_STEPS = 4_000
"""Maximum nodes that filling in one value may try, including alternatives of unions."""


class FormBuilder:
    """Creates nodes and fills them in, within the limits of one form."""

    def __init__(self, reader: SchemaReader) -> None:
        self._reader = reader
        self._steps = 0
        self.left = MAX_FIELDS

    def recount(self, root: FormField) -> None:
        self._steps = 0
        self.left = MAX_FIELDS - sum(1 for _ in root.fields())

    def blank(self, spec: FieldSpec, path: Path, *, required: bool = False, extra: bool = False) -> FormField:
        """Return a field in its initial state: with only required objects, constants and defaults."""
        node = FormField(spec, path, required, extra)
        self.left -= 1
        if required or extra:
            self.begin(node)
        return node

    def begin(self, node: FormField) -> None:
        """Fill in the required content of a present field."""
        own = node.spec
        if node.required and own.default is None and node.whole.nullable:
            node.state = FieldState.NULL
        elif node.required and self._preset(node):
            pass
        elif own.kind is FieldKind.CONST:
            write(node, own.choices[0].label)
        elif node.kind is FieldKind.OBJECT or (node.kind in HOLDERS and (not node.path or node.extra)):
            self.open(node)

    def present(self, node: FormField, *, keep_arm: bool = False) -> None:
        """Give a field its default, or content to fill in; `keep_arm`: no default that is of another arm."""
        node.clear()
        if self._preset(node, keep_arm=keep_arm):
            return
        if node.kind in HOLDERS:
            self.open(node)
        elif node.kind is FieldKind.TEXT:
            write(node, "")
        else:
            self.begin(node)

    def _preset(self, node: FormField, *, keep_arm: bool = False) -> bool:
        """Fill in the default; return False if there is none, or it is null, which fills in nothing."""
        default, arm = node.spec.default, node.arm
        if default is MISSING:
            return False
        if default is None and not any(choice.value is None for choice in node.spec.choices):
            return False
        left = self.left
        self.fill(node, default)
        if keep_arm and node.arm != arm:
            node.clear()
            node.arm, self.left = arm, left
            return False
        return True

    def open(self, node: FormField) -> None:
        """Make an object, map or array present, with blank fields for properties and the items of a tuple."""
        node.clear()
        node.state = FieldState.SET
        if node.kind is FieldKind.ARRAY:
            for number in range(min(self._reader.tuple_length(node.spec), self.left)):
                self.add(node, number)
        elif node.kind is FieldKind.OBJECT:
            for name, required in self._reader.properties(node.spec).items():
                if self.left <= 0:
                    break
                node.children[name] = self.blank(
                    self._reader.child(node.spec, name), (*node.path, name), required=required
                )

    def add(self, node: FormField, name: str | int) -> FormField:
        node.children[name] = self.blank(self._reader.child(node.spec, name), (*node.path, name), extra=True)
        return node.children[name]

    def fill(self, node: FormField, value: Any) -> bool:
        """Fill in a value, as raw JSON if it does not fit; return whether it fits."""
        try:
            self._fill(node, value)
        except RecursionError:
            raw(node, value)
        return not node.is_raw

    def carry_over(self, node: FormField, value: Any) -> bool:
        """Fill in the fitting part of another arm's value; return whether any part may fit."""
        if node.kind is FieldKind.OBJECT and isinstance(value, dict):
            self.open(node)
            for name in value.keys() & node.children.keys():
                child = node.children[name]
                if child.spec.kind is not FieldKind.CONST and not self.fill(child, value[name]):
                    child.clear()
            return True
        if value is MISSING or node.kind in HOLDERS or shown_text(text_spec(node), value) is None:
            return False
        self._fill_own(node, value)
        return True

    def _fill(self, node: FormField, value: Any) -> None:
        node.clear()
        self._steps += 1
        if value is None and node.whole.nullable:
            node.state = FieldState.NULL
        elif self._steps > MAX_STEPS:
            raw(node, value)
        elif node.whole.arms:
            self._fill_best_arm(node, value)
        else:
            self._fill_own(node, value)

    def _fill_best_arm(self, node: FormField, value: Any) -> None:
        best, chosen = (2, 0, 0), 0
        for number in range(len(node.whole.arms)):
            left, trial = self.left, FormField(node.whole, node.path, arm=number)
            self._fill_own(trial, value)
            self.left = left
            found = _misfit(trial)
            if found < best:
                best, chosen = found, number
            if best == (0, 0, 0):
                break
        node.arm = chosen
        self._fill_own(node, value)

    def _fill_own(self, node: FormField, value: Any) -> None:
        kind = node.kind
        if kind in (FieldKind.OBJECT, FieldKind.MAP) and isinstance(value, Mapping):
            self._fill_object(node, value)
        elif kind is FieldKind.ARRAY and isinstance(value, list) and len(value) <= self.left:
            node.state = FieldState.SET
            for number, item in enumerate(value):
                self._add_child(node, number, item, extra=True)
        elif kind not in HOLDERS and (text := shown_text(text_spec(node), value)) is not None:
            write(node, text)
        else:
            raw(node, value)

    def _fill_object(self, node: FormField, value: Mapping[str, Any]) -> None:
        known = self._reader.properties(node.spec) if node.kind is FieldKind.OBJECT else {}
        if len(value.keys() | known.keys()) > self.left or not all(isinstance(key, str) for key in value):
            raw(node, value)
            return
        node.state = FieldState.SET
        for name, required in known.items():
            self._add_child(node, name, value.get(name, MISSING), required=required)
        for name in value:
            if name not in known:
                self._add_child(node, name, value[name], extra=True)

    def _add_child(
        self, node: FormField, name: str | int, value: Any, *, required: bool = False, extra: bool = False
    ) -> None:
        child = FormField(self._reader.child(node.spec, name), (*node.path, name), required, extra)
        self._steps += 1
        self.left -= 1
        node.children[name] = child
        if value is not MISSING:
            self._fill(child, value)


def _misfit(node: FormField) -> tuple[int, int, int]:
    """Return how badly a value fits an arm; (0, 0, 0) is a perfect fit."""
    if node.is_raw and node.kind is not node.spec.kind:
        return 1, 0, 0
    problems: dict[Path, str] = {}
    gathered(node, problems)
    raws = sum(each.state is FieldState.RAW for each in node.fields())
    return 0, raws, len(problems)
