"""The rows of a field of a form: label, value, type; problem and description below. Pure."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tui.core import units
from tui.core.forms.spec import MISSING, Bounds, FieldKind, FieldState, FormField
from tui.core.text import clean_line
from tui.ui.widgets.rows import Row, crop, pad, width_of, wrap
from tui.ui.widgets.symbols import Symbols
from tui.ui.workbench.line_edit import LineEdit, shown_text

HOLDERS = (FieldKind.OBJECT, FieldKind.MAP, FieldKind.ARRAY)
PICKED = (FieldKind.CHOICE, FieldKind.CONST, FieldKind.BOOLEAN)
"""Kinds that are chosen, not typed."""

MOST_LABEL = 30
LEAST_VALUE = 12
DESCRIPTION_ROWS = 4


@dataclass(frozen=True, slots=True)
class FormLook:
    """Settings for the rows of all fields.

    Attributes:
        columns: cells in a row.
        label: width of the label column, indentation included.
        signs: what the terminal can show.
        strict: a call was tried, so empty required fields are shown as wrong.
        focused: the form has the focus, so the cursor is shown.
    """

    columns: int
    label: int
    signs: Symbols
    strict: bool = False
    focused: bool = True


def label_cells(fields: tuple[FormField, ...], columns: int) -> int:
    """Return the width of the label column."""
    longest = max((_indent(one) + width_of(_label(one)) for one in fields), default=0)
    return max(8, min(longest, MOST_LABEL, columns * 2 // 5))


def is_typed(field: FormField) -> bool:
    """Return whether a field is typed into."""
    return field.kind not in HOLDERS and field.kind not in PICKED


def problem_of(field: FormField, *, strict: bool) -> str:
    """Return the problem to show for a field: none for an empty one until a call was tried."""
    empty = field.state is FieldState.ABSENT
    return "" if empty and not strict else field.problem


def field_row(field: FormField, look: FormLook, edit: LineEdit | None) -> Row:
    """Return the line of a field; `edit` is its text while it is edited."""
    problem = problem_of(field, strict=look.strict)
    lead = look.signs.cursor if edit is not None else "!" if problem else " "
    label: Row = ((f"{lead} ", "bad" if problem else "accent"), (" " * _indent(field), ""), *_label(field))
    left = pad(crop(label, look.label + 2), look.label + 2)
    kind = crop(((type_words(field), "dim"),), max(0, look.columns // 3))
    room = look.columns - look.label - 2 - 2 - width_of(kind) - 2
    if room < LEAST_VALUE:
        kind, room = (), look.columns - look.label - 4
    value = crop(_value(field, look, edit, max(4, room)), max(4, room))
    gap = look.columns - look.label - 4 - width_of(value) - width_of(kind) - 1
    return (*left, ("  ", ""), *value, (" " * max(1, gap), ""), *kind)


def under_rows(field: FormField, look: FormLook, *, is_current: bool) -> Iterator[Row]:
    """Yield the rows below a field: its problem, and for the current one its description."""
    first: Row = ((" " * (look.label + 4), ""),)
    if problem := problem_of(field, strict=look.strict):
        yield from wrap(((f"! {clean_line(problem, 300)}", "bad"),), look.columns, first=first)
    if not is_current:
        return
    words = ". ".join(_details(field))
    if words:
        yield from wrap(((words, "dim"),), look.columns, first=first)[:DESCRIPTION_ROWS]


def _details(field: FormField) -> Iterator[str]:
    spec = field.spec
    if spec.title and _plain(spec.title) != _plain(field.name):
        yield clean_line(spec.title, 120)
    if spec.description:
        yield clean_line(spec.description, 600).rstrip(".")
    if spec.note:
        yield clean_line(spec.note, 200)
    if field.arms:
        yield f"one of {clean_line(', '.join(field.arms), 200)}"
    if spec.examples and field.state is FieldState.ABSENT:
        yield "for example " + ", ".join(brief(one) for one in spec.examples[:3])


def _plain(name: str) -> str:
    """Return a name in the way schema generators turn it into a title."""
    return name.replace("_", " ").lower()


def _indent(field: FormField) -> int:
    return 2 * min(max(0, field.depth - 1), 8)


def _label(field: FormField) -> Row:
    name = clean_line(field.name, 60) or ("all" if not field.path else '""')
    if field.path and isinstance(field.path[-1], int):
        name = f"{field.path[-1] + 1}."
    return ((name, "text"), (" *", "accent")) if field.required and not field.extra else ((name, "text"),)


def _value(field: FormField, look: FormLook, edit: LineEdit | None, room: int) -> Row:
    arm: Row = ()
    if field.arms:
        arm = (
            ("‹" if look.signs.rule != "-" else "<", "accent"),
            (clean_line(field.arms[field.arm], 24), "tool"),
        )
        arm = (*arm, ("› " if look.signs.rule != "-" else "> ", "accent"))
    if field.state is FieldState.NULL:
        return (*arm, ("null", "warn"))
    if field.kind in HOLDERS:
        return (*arm, *_holder(field, current=edit is not None and look.focused))
    if field.kind in PICKED:
        return (*arm, *_picked(field, look, current=edit is not None))
    hide = field.spec.secret
    if edit is not None and look.focused:
        shown = LineEdit("•" * len(edit.text), edit.cursor) if hide else edit
        before, under, after = shown.window(max(2, room - width_of(arm) - 1))
        empty: Row = ()
        if not edit.text:
            empty = ((" " + _placeholder(field), "dim"),)
        return (*arm, (before, "text"), (under, "text reverse"), (after, "text"), *empty)
    if field.state is FieldState.ABSENT or not field.text:
        return (*arm, (_placeholder(field), "dim"))
    return (*arm, ("•" * min(len(field.text), 12) if hide else shown_text(field.text), "text"))


def _holder(field: FormField, *, current: bool) -> Row:
    if field.state is FieldState.ABSENT:
        hint = "   enter puts it in" if current else ""
        return ((_placeholder(field), "dim"), (hint, "accent"))
    hint = "   enter adds one" if current else ""
    if field.kind is FieldKind.ARRAY:
        return ((units.plural(field.children, "item"), "text"), (hint, "accent"))
    if field.kind is FieldKind.MAP:
        many = "entry" if field.children == 1 else "entries"
        return ((f"{field.children} {many}", "text"), (hint, "accent"))
    return ()


def _picked(field: FormField, look: FormLook, *, current: bool) -> Row:
    style = "text bold" if current and look.focused else "text"
    if field.state is FieldState.ABSENT:
        return ((_placeholder(field), "dim" if not (current and look.focused) else "dim bold"),)
    return ((shown_text(field.text), style),)


def _placeholder(field: FormField) -> str:
    if field.state is FieldState.SET and not field.text:
        return "empty text"
    if field.spec.default is not MISSING:
        return f"default {brief(field.spec.default)}"
    return "needed" if field.required else "left out"


def brief(value: Any) -> str:
    """Return a value of a schema, shortened and cleaned."""
    if isinstance(value, str):
        return clean_line(value, 40) or '""'
    try:
        return clean_line(json.dumps(value, ensure_ascii=False), 40)
    except (ValueError, TypeError, RecursionError):
        return "a value that cannot be shown"


def type_words(field: FormField) -> str:
    """Return the type of a field: "integer 1…7", "one of 4", "list, at most 3"."""
    spec, kind = field.spec, field.kind
    match kind:
        case FieldKind.CHOICE:
            words = f"one of {len(spec.choices)}"
        case FieldKind.CONST:
            words = "fixed"
        case FieldKind.BOOLEAN:
            words = "yes or no"
        case FieldKind.ARRAY:
            words = "list"
        case FieldKind.OBJECT | FieldKind.MAP:
            words = clean_line(spec.format, 20) or "object"
        case FieldKind.JSON:
            words = "JSON"
        case _:
            words = clean_line(spec.format, 20) if spec.format else str(kind)
    bounds = bound_words(spec.bounds, is_number=kind in (FieldKind.INTEGER, FieldKind.NUMBER))
    nullable = " or null" if field.nullable else ""
    joint = " " if kind in (FieldKind.INTEGER, FieldKind.NUMBER) or not bounds else ", "
    pattern = ", as a pattern" if kind is FieldKind.TEXT and spec.pattern else ""
    return f"{words}{joint}{bounds}".rstrip() + nullable + pattern


def bound_words(bounds: Bounds, *, is_number: bool) -> str:
    """Return bounds as short as possible."""
    if is_number:
        low, high = bounds.minimum, bounds.maximum
        low_sign, high_sign = "≥ ", "≤ "
        if low is None and bounds.above is not None:
            low, low_sign = bounds.above, "> "
        if high is None and bounds.below is not None:
            high, high_sign = bounds.below, "< "
    else:
        low, high = bounds.shortest or None, bounds.longest
        low_sign, high_sign = "at least ", "at most "
    if low is not None and high is not None and low_sign != "> " and high_sign != "< ":
        return f"{units.amount(low)}…{units.amount(high)}"
    words = [f"{low_sign}{units.amount(low)}"] if low is not None else []
    words += [f"{high_sign}{units.amount(high)}"] if high is not None else []
    return ", ".join(words)
