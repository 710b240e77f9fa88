"""The rows of a form field: label and type, the input, description, a row for an error. Pure.

The number of rows does not depend on the cursor or an error, so neither moves the fields below.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tui.core import units
from tui.core.forms.spec import MAX_DESCRIPTION, MAX_TITLE, MISSING, Bounds, FieldKind, FieldState, FormField
from tui.core.text import clean_line
from tui.ui.forms.field_input import LineEdit, shown_text
from tui.ui.widgets.bar import part_at, spread
from tui.ui.widgets.inputs import choice
from tui.ui.widgets.rows import EMPTY, Row, crop, pad, width_of, wrap
from tui.ui.widgets.symbols import Symbols

HOLDERS = (FieldKind.OBJECT, FieldKind.MAP, FieldKind.ARRAY)
PICKED = (FieldKind.CHOICE, FieldKind.CONST, FieldKind.BOOLEAN)
"""Kinds of fields that are selected, not typed."""

BOOLEANS = ("true", "false")
MOST_LABEL = 40
DESCRIPTION_ROWS = 3
ERROR_CELLS = 16
"""Minimum room for the error of a list item, which is next to its value."""


@dataclass(frozen=True, slots=True)
class FormLook:
    """Settings for the rows of all fields.

    Attributes:
        columns: cells in a row.
        signs: the symbols for this terminal.
        add_key: key that adds an item to a list, as displayed.
        cycle_key: key that switches to the next variant of a union.
        remove_key: key that removes an item or entry.
        strict: whether a call was attempted, so that empty required fields are shown as errors.
        focused: whether the form has the focus, so that the cursor is shown.
    """

    columns: int
    signs: Symbols
    add_key: str = ""
    cycle_key: str = ""
    remove_key: str = ""
    strict: bool = False
    focused: bool = True


@dataclass(frozen=True, slots=True)
class FieldRow:
    """A row of a field; the cursor can be on the row with `is_input`."""

    row: Row
    is_input: bool = False


def is_typed(field: FormField) -> bool:
    """Return whether the user types into a field, rather than selects."""
    return field.kind not in HOLDERS and field.kind not in PICKED


def is_added_to(field: FormField) -> bool:
    """Return whether the key that adds has a use here: a list, a map, or an object that has none yet.

    That an object does not forbid other entries is no use: Pydantic's objects do not, and ignore them.
    """
    if field.kind is FieldKind.OBJECT:
        return field.state is not FieldState.SET or field.spec.asks_entries
    return field.kind in HOLDERS


def problem_of(field: FormField, *, strict: bool) -> str:
    """Return the problem to show for a field: none for an empty one until a call is attempted."""
    empty = field.state is FieldState.ABSENT
    return "" if empty and not strict else field.problem


def field_rows(field: FormField, look: FormLook, edit: LineEdit | None) -> Iterator[FieldRow]:
    """Yield the rows of a field; `edit` is its text if it has the cursor."""
    if is_compact(field):
        yield FieldRow(_item_row(field, look, edit), is_input=True)
        return
    is_group = field.kind is FieldKind.OBJECT and field.state is FieldState.SET and not field.arms
    yield FieldRow(_head(field, look, edit, with_problem=is_group), is_input=is_group)
    if not is_group:
        yield FieldRow(_surface(field, look, edit, _indent(field)), is_input=True)
    yield from (FieldRow(row) for row in _about_rows(field, look))
    if not is_group:
        yield FieldRow(_problem_row(field, look))


def is_compact(field: FormField) -> bool:
    """Return whether a field has one row: a value in a list, whose type and description the list shows."""
    is_item = bool(field.path) and isinstance(field.path[-1], int)
    return is_item and field.kind not in HOLDERS and not field.arms


def _head(field: FormField, look: FormLook, edit: LineEdit | None, *, with_problem: bool) -> Row:
    here = edit is not None and look.focused
    words = [type_words(field)]
    if field.required and not field.extra:
        words.append("required")
    if field.spec.default is not MISSING:
        words.append(f"default {_default(field)}")
    label = crop(((_name(field), "accent bold" if here and with_problem else "text bold"),), MOST_LABEL)
    row: Row = ((" " * (_indent(field) + 2), ""), *label, (f"  {' · '.join(words)}", "dim"))
    if with_problem and (problem := problem_of(field, strict=look.strict)):
        row = (*row, (f"   ! {clean_line(problem, 200)}", "bad"))
    return spread(row, ((_key_words(field, look), "dim"),) if here else EMPTY, look.columns)


def _key_words(field: FormField, look: FormLook) -> str:
    """Return the keys that only this kind of field has."""
    words = [f"{look.add_key} add"] if is_added_to(field) or field.extra else []
    if field.arms or field.nullable:
        words.append(f"{look.cycle_key} {'next variant' if field.arms else 'null'}")
    if field.extra:
        words.append(f"{look.remove_key} remove")
    return "  ".join(words)


def _surface(field: FormField, look: FormLook, edit: LineEdit | None, indent: int, most: int = 0) -> Row:
    """Return the input: an edge, then the value on a shaded background up to the right end."""
    here = edit is not None and look.focused
    edge = "accent" if here else "bad" if problem_of(field, strict=look.strict) else "rule"
    room = max(4, look.columns - indent - 4 - most)
    inner = pad(crop(_value(field, look, edit, room - 1), room), room)
    row = ((f"{look.signs.edge} ", edge), *inner)
    return ((" " * (indent + 2), ""), *((text, f"{style} on field") for text, style in row))


def _item_row(field: FormField, look: FormLook, edit: LineEdit | None) -> Row:
    number = f"{int(field.path[-1]) + 1:>{_indent(field) + 2}} "
    problem = problem_of(field, strict=look.strict)
    shown = f"  ! {clean_line(problem, 200)}" if problem else ""
    taken = min(width_of(((shown, ""),)), max(ERROR_CELLS, look.columns // 2)) if shown else 0
    surface = _surface(field, look, edit, len(number) - 2, taken)[1:]
    return ((number, "dim"), *surface, *crop(((shown, "bad"),), taken))


def _about_rows(field: FormField, look: FormLook) -> list[Row]:
    words = ". ".join(_details(field))
    if not words:
        return []
    rows = wrap(((words, "dim"),), look.columns, first=((" " * (_indent(field) + 4), ""),))
    if len(rows) > DESCRIPTION_ROWS:
        last = crop((*rows[DESCRIPTION_ROWS - 1], ("…", "dim")), look.columns)
        rows = [*rows[: DESCRIPTION_ROWS - 1], last]
    return rows


def _problem_row(field: FormField, look: FormLook) -> Row:
    problem = problem_of(field, strict=look.strict)
    if not problem:
        return EMPTY
    return crop(((" " * (_indent(field) + 4), ""), (f"! {clean_line(problem, 300)}", "bad")), look.columns)


def labels_of(field: FormField) -> Sequence[str]:
    """Return the labels of a value that is selected: of a boolean, a choice, or the variant of a heading."""
    if field.kind is FieldKind.BOOLEAN:
        return BOOLEANS
    return field.arms if field.kind in HOLDERS else [one.label for one in field.spec.choices]


def options_of(field: FormField, look: FormLook) -> Sequence[str]:
    """Return the labels to show next to each other in the input, () if there are too many for its width."""
    labels = field.arms if field.kind in HOLDERS else labels_of(field)
    room = look.columns - _indent(field) - 5
    return labels if sum(width_of(_option(label, False, look, False)) for label in labels) <= room else ()


def option_at(field: FormField, look: FormLook, x: int) -> str | None:
    """Return the label at cell `x` of the row of an input."""
    parts = [(label, _option(label, False, look, False)) for label in options_of(field, look)]
    start = _indent(field) + 4
    return part_at(parts, x - start) if x >= start else None


def _option(label: str, chosen: bool, look: FormLook, here: bool) -> Row:
    return choice(clean_line(label, 40) or '""', chosen, here, look.signs.chosen)


def _details(field: FormField) -> Iterator[str]:
    spec = field.spec
    if spec.title and not field.arms and _plain(spec.title) != _plain(field.name):
        yield clean_line(spec.title, MAX_TITLE)
    if spec.description:
        yield clean_line(spec.description, MAX_DESCRIPTION).rstrip(".")
    if spec.note:
        yield clean_line(spec.note, 200)
    if field.arms and field.kind not in HOLDERS:
        yield f"one of {clean_line(', '.join(field.arms), 200)}"
    if spec.examples:
        yield "e.g. " + ", ".join(brief(one) for one in spec.examples[:3])


def _plain(name: str) -> str:
    """Return a name in the form to which schema generators convert it for a title."""
    return name.replace("_", " ").lower()


def _indent(field: FormField) -> int:
    return 2 * min(max(0, field.depth - 1), 8)


def _name(field: FormField) -> str:
    if field.path and isinstance(field.path[-1], int):
        return str(field.path[-1] + 1)
    return clean_line(field.name, 60) or ("arguments" if not field.path else '""')


def _value(field: FormField, look: FormLook, edit: LineEdit | None, room: int) -> Row:
    here = edit is not None and look.focused
    if options := options_of(field, look):
        null: Row = (("  null", "warn"),) if field.state is FieldState.NULL else ()
        parts = (_option(label, _is_chosen(field, label), look, here) for label in options)
        return (*(span for part in parts for span in part), *null)
    arm: Row = ()
    if field.arms:
        left, right = ("‹", "› ") if look.signs.rule != "-" else ("<", "> ")
        arm = ((left, "dim"), (clean_line(field.arms[field.arm], 24), "tool"), (right, "dim"))
    if field.state is FieldState.NULL:
        return (*arm, ("null", "warn"))
    if field.kind in HOLDERS:
        return (*arm, (_holder(field), "dim" if field.state is FieldState.ABSENT else "text"))
    if field.kind in PICKED:
        return (*arm, *_picked(field, look, room - width_of(arm), here=here))
    hide = field.spec.secret
    if edit is not None and here:
        shown = LineEdit("•" * len(edit.text), edit.cursor) if hide else edit
        before, under, after = shown.window(max(2, room - width_of(arm) - 1))
        hint: Row = ((" " + _placeholder(field), "dim"),) if not edit.text else ()
        return (*arm, (before, "text"), (under, "text reverse"), (after, "text"), *hint)
    if field.state is FieldState.ABSENT or not field.text:
        return (*arm, (_placeholder(field), "dim"))
    return (*arm, ("•" * min(len(field.text), 12) if hide else shown_text(field.text), "text"))


def _is_chosen(field: FormField, label: str) -> bool:
    if field.state is FieldState.NULL:
        return False
    if field.kind in HOLDERS:
        return field.state is not FieldState.ABSENT and field.arms[field.arm] == label
    return field.state is not FieldState.ABSENT and field.text == label


def _holder(field: FormField) -> str:
    if field.state is FieldState.ABSENT:
        return _placeholder(field)
    if field.kind is FieldKind.ARRAY:
        return units.plural(field.children, "item")
    if field.kind is FieldKind.MAP:
        return f"{field.children} {'entry' if field.children == 1 else 'entries'}"
    return ""


def _picked(field: FormField, look: FormLook, room: int, *, here: bool) -> Row:
    """Return the value of a list that is too long to be shown side by side, with a sign for the list."""
    value: Row = ((_placeholder(field), "dim"),)
    if field.state is not FieldState.ABSENT:
        value = ((shown_text(field.text), "text bold" if here else "text"),)
    if field.kind is FieldKind.CONST:
        return value
    return spread(value, ((look.signs.unfolded, "accent" if here else "dim"),), room)


def _placeholder(field: FormField) -> str:
    if field.state is FieldState.SET and not field.text:
        return "empty text"
    if field.spec.default is not MISSING and field.spec.default is not None:
        return _default(field)
    if is_compact(field):
        return type_words(field)
    return "" if field.required else "not set"


def _default(field: FormField) -> str:
    """Return the displayed default: for a choice, its label."""
    default = field.spec.default
    label = next((one.label for one in field.spec.choices if one.value == default), None)
    return brief(default if label is None else label)


def brief(value: Any) -> str:
    """Return a value of a schema, shortened and cleaned."""
    if isinstance(value, str):
        return clean_line(value, 40) or '""'
    try:
        return clean_line(json.dumps(value, ensure_ascii=False), 40)
    except (ValueError, TypeError, RecursionError):
        return "an unsupported value"


def type_words(field: FormField) -> str:
    """Return the type of a field: "integer 1…7", "one of 4", "list, at most 3 items"."""
    spec, kind = field.spec, field.kind
    match kind:
        case FieldKind.CHOICE:
            words = f"one of {len(spec.choices)}"
        case FieldKind.CONST:
            words = "fixed"
        case FieldKind.BOOLEAN:
            words = "boolean"
        case FieldKind.ARRAY:
            words = "list"
        case FieldKind.OBJECT | FieldKind.MAP:
            words = clean_line(spec.format, 20) or "object"
        case FieldKind.JSON:
            words = "JSON"
        case _:
            words = clean_line(spec.format, 20) if spec.format else str(kind)
    bounds = bound_words(spec.bounds, is_number=kind in (FieldKind.INTEGER, FieldKind.NUMBER))
    if bounds and kind in (FieldKind.TEXT, FieldKind.ARRAY):
        one = spec.bounds.longest == 1 or (spec.bounds.longest is None and spec.bounds.shortest == 1)
        bounds += (" character" if kind is FieldKind.TEXT else " item") + ("" if one else "s")
    nullable = " or null" if field.nullable else ""
    joint = " " if kind in (FieldKind.INTEGER, FieldKind.NUMBER) or not bounds else ", "
    pattern = ", pattern" if kind is FieldKind.TEXT and spec.pattern else ""
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
        return units.amount(low) if low == high else f"{units.amount(low)}…{units.amount(high)}"
    words = [f"{low_sign}{units.amount(low)}"] if low is not None else []
    words += [f"{high_sign}{units.amount(high)}"] if high is not None else []
    return ", ".join(words)
