"""The rows of a form: its head, and of each field label and type, input, description, an error. Pure.

The number of rows does not depend on the cursor or an error of one line, so neither moves the fields below.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tui.core import units
from tui.core.forms.form import Form
from tui.core.forms.spec import (
    HOLDERS,
    MAX_DESCRIPTION,
    MAX_TITLE,
    MISSING,
    PICKED,
    FieldKind,
    FieldState,
    FormField,
    Path,
    brief,
    type_words,
)
from tui.core.text import clean_line, preview
from tui.ui.forms.field_input import LineEdit, ValueSuggestions, shown_text
from tui.ui.widgets.bar import part_at, spread
from tui.ui.widgets.inputs import choice
from tui.ui.widgets.rows import EMPTY, Row, crop, pad, width_of, wrap
from tui.ui.widgets.symbols import Symbols

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
        types: whether to show the types of fields.
    """

    columns: int
    signs: Symbols
    add_key: str = ""
    cycle_key: str = ""
    remove_key: str = ""
    strict: bool = False
    focused: bool = True
    types: bool = True


@dataclass(frozen=True, slots=True)
class FieldNote:
    """What the owner of a form says about a field besides its schema, each or "".

    Attributes:
        about: shown after the description.
        problem: shown below the field, in full.
        is_error: whether the problem is an error of the value, not a note.
        placeholder: shown in the empty input.
        label: shown in place of the name.
    """

    about: str = ""
    problem: str = ""
    is_error: bool = True
    placeholder: str = ""
    label: str = ""

    def with_problem(self, problem: str, *, is_error: bool) -> "FieldNote":
        return replace(self, problem=problem, is_error=is_error)


NO_NOTE = FieldNote()


@dataclass(frozen=True, slots=True)
class FormLine:
    """A row of the form.

    Attributes:
        path: the path of its field, on its input; None for rows that the cursor skips.
        owner: the path of the field that a click selects.
        suggestion: the index of the suggested value in this row, or -1.
    """

    row: Row
    path: Path | None = None
    owner: Path | None = None
    suggestion: int = -1


def problem_of(field: FormField, *, strict: bool) -> str:
    """Return the problem to show for a field: none for an empty one until a call is attempted."""
    empty = field.state is FieldState.ABSENT
    return "" if empty and not strict else field.problem


def field_rows(
    field: FormField, look: FormLook, edit: LineEdit | None, note: FieldNote = NO_NOTE
) -> Iterator[FormLine]:
    """Yield the rows of a field; `edit` is its text if it has the cursor."""
    path = field.path
    if is_compact(field):
        yield FormLine(_item_row(field, look, edit), path, path)
        return
    is_group = field.kind is FieldKind.OBJECT and field.state is FieldState.SET and not field.arms
    yield FormLine(
        _head(field, look, edit, note.label, with_problem=is_group), path if is_group else None, path
    )
    if not is_group:
        is_wrong = bool(note.problem) and note.is_error
        yield FormLine(_surface(field, look, edit, _indent(field), note=note, is_wrong=is_wrong), path, path)
    yield from (FormLine(row, None, path) for row in _about_rows(field, look, note))
    if not is_group:
        yield from (FormLine(row, None, path) for row in _problem_rows(field, look, note))


def is_compact(field: FormField) -> bool:
    """Return whether a field has one row: a value in a list, whose type and description the list shows."""
    is_item = bool(field.path) and isinstance(field.path[-1], int)
    return is_item and field.kind not in HOLDERS and not field.arms


def _head(field: FormField, look: FormLook, edit: LineEdit | None, name: str, *, with_problem: bool) -> Row:
    here = edit is not None and look.focused
    words = [type_words(field)] if look.types else []
    if field.required and not field.extra:
        words.append("required")
    if field.spec.default is not MISSING:
        words.append(f"default {_default(field)}")
    types = ((f"  {' · '.join(words)}", "dim"),) if words else ()
    label = crop(
        ((name or _name(field), "accent bold" if here and with_problem else "text bold"),), MOST_LABEL
    )
    row: Row = ((" " * (_indent(field) + 2), ""), *label, *types)
    if with_problem and (problem := problem_of(field, strict=look.strict)):
        row = (*row, (f"   ! {clean_line(problem, 200)}", "bad"))
    return spread(row, ((_key_words(field, look), "dim"),) if here else EMPTY, look.columns)


def _key_words(field: FormField, look: FormLook) -> str:
    """Return the keys that only this kind of field has."""
    words = [f"{look.add_key} add"] if field.takes_more or field.extra else []
    if field.arms or field.nullable:
        words.append(f"{look.cycle_key} {'next variant' if field.arms else 'null'}")
    if field.extra:
        words.append(f"{look.remove_key} remove")
    return "  ".join(words)


def _surface(
    field: FormField,
    look: FormLook,
    edit: LineEdit | None,
    indent: int,
    most: int = 0,
    *,
    note: FieldNote = NO_NOTE,
    is_wrong: bool = False,
) -> Row:
    """Return the input: an edge, then the value on a shaded background up to the right end."""
    here = edit is not None and look.focused
    is_wrong = is_wrong or bool(problem_of(field, strict=look.strict))
    edge = "accent" if here else "bad" if is_wrong else "rule"
    room = max(4, look.columns - indent - 4 - most)
    inner = pad(crop(_value(field, look, edit, room - 1, note.placeholder), room), room)
    row = ((f"{look.signs.edge} ", edge), *inner)
    return ((" " * (indent + 2), ""), *((text, f"{style} on field") for text, style in row))


def _item_row(field: FormField, look: FormLook, edit: LineEdit | None) -> Row:
    number = f"{int(field.path[-1]) + 1:>{_indent(field) + 2}} "
    problem = problem_of(field, strict=look.strict)
    shown = f"  ! {clean_line(problem, 200)}" if problem else ""
    taken = min(width_of(((shown, ""),)), max(ERROR_CELLS, look.columns // 2)) if shown else 0
    surface = _surface(field, look, edit, len(number) - 2, taken)[1:]
    return ((number, "dim"), *surface, *crop(((shown, "bad"),), taken))


def _about_rows(field: FormField, look: FormLook, note: FieldNote) -> list[Row]:
    words = ". ".join((*_details(field), *filter(None, (clean_line(note.about, 600),))))
    if not words:
        return []
    rows = wrap(((words, "dim"),), look.columns, first=((" " * (_indent(field) + 4), ""),))
    if len(rows) > DESCRIPTION_ROWS:
        last = crop((*rows[DESCRIPTION_ROWS - 1], ("…", "dim")), look.columns)
        rows = [*rows[: DESCRIPTION_ROWS - 1], last]
    return rows


def _problem_rows(field: FormField, look: FormLook, note: FieldNote) -> list[Row]:
    """Return the row for an error, blank if there is none; a note has a blank row below it."""
    indent: Row = ((" " * (_indent(field) + 4), ""),)
    if note.problem:
        style = "bad" if note.is_error else "warn"
        rows = wrap(((f"! {clean_line(note.problem, 400)}", style),), look.columns, first=indent)
        return rows if note.is_error else [*rows, EMPTY]
    problem = problem_of(field, strict=look.strict)
    return [crop((*indent, (f"! {clean_line(problem, 300)}", "bad")), look.columns) if problem else EMPTY]


def options_of(field: FormField, look: FormLook) -> Sequence[str]:
    """Return the labels to show next to each other in the input, () if there are too many for its width."""
    labels = field.labels
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


def _value(field: FormField, look: FormLook, edit: LineEdit | None, room: int, placeholder: str = "") -> Row:
    here = edit is not None and look.focused
    placeholder = placeholder or (_placeholder(field) if look.types or not is_compact(field) else "")
    if options := options_of(field, look):
        null: Row = (("  null", "warn"),) if field.state is FieldState.NULL else ()
        now = field.arms[field.arm] if field.kind in HOLDERS else field.text
        has_value = field.state not in (FieldState.ABSENT, FieldState.NULL)
        parts = (_option(label, has_value and label == now, look, here) for label in options)
        return (*(span for part in parts for span in part), *null)
    arm: Row = ()
    if field.arms:
        left, right = ("‹", "› ") if look.signs.rule != "-" else ("<", "> ")
        arm = ((left, "dim"), (clean_line(field.arms[field.arm], 24), "tool"), (right, "dim"))
    if field.state is FieldState.NULL:
        return (*arm, ("null", "warn"))
    if field.kind in HOLDERS:
        return (*arm, (_holder(field, placeholder), "dim" if field.state is FieldState.ABSENT else "text"))
    if field.kind in PICKED:
        return (*arm, *_picked(field, look, room - width_of(arm), here=here))
    hide = field.spec.secret
    if edit is not None and here:
        shown = LineEdit("•" * len(edit.text), edit.cursor) if hide else edit
        before, under, after = shown.window(max(2, room - width_of(arm) - 1))
        hint: Row = ((" " + placeholder, "dim"),) if not edit.text else ()
        return (*arm, (before, "text"), (under, "text reverse"), (after, "text"), *hint)
    if field.state is FieldState.ABSENT or not field.text:
        return (*arm, (placeholder, "dim"))
    return (*arm, ("•" * min(len(field.text), 12) if hide else shown_text(field.text), "text"))


def _holder(field: FormField, placeholder: str) -> str:
    if field.state is FieldState.ABSENT:
        return placeholder
    if field.kind is FieldKind.ARRAY:
        return units.plural(len(field.children), "item")
    if field.kind is FieldKind.MAP:
        return f"{len(field.children)} {'entry' if len(field.children) == 1 else 'entries'}"
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


LINES = "lines"
"""Format of a list of texts that are entered as lines: enter in one begins the next."""

FOLDED_ROWS = 4
"""Rows of a description that are shown above a form; the others are folded."""

WIDEST = 92
"""Columns of the widest form. In a wider form, a value would be too far from its label."""

MORE: Path = ("\x00more",)
"""Path of the row that unfolds the description, which is not a field."""

NONE: Path = ("\x00none",)
"""Path of the cursor in a form without fields."""


@dataclass(frozen=True, slots=True, eq=False)
class FormHead:
    """What is shown above the fields: the title, facts laid out for a width, the foreign description.

    `empty` is shown in place of fields if there are none and the form takes no others.
    """

    title: Row = EMPTY
    facts: Callable[[int], Sequence[Row]] = lambda columns: ()
    description: str = ""
    empty: str = ""

    def rows(self, columns: int, *, unfolded: bool) -> tuple[list[Row], str]:
        """Return the rows, and the text of the row that unfolds the rest of them, or ""."""
        rows = [self.title, *self.facts(columns)] if self.title else []
        description = self.description.strip()
        if not description:
            return rows, ""
        lines = prose(description, columns, "  ")
        if unfolded or len(lines) <= FOLDED_ROWS + 1:
            return rows + lines, ""
        return rows + lines[:FOLDED_ROWS], f"… {units.plural(len(lines) - FOLDED_ROWS, 'more line')}"


def prose(text: str, width: int, indent: str) -> list[Row]:
    """Return untrusted text as wrapped rows, cleaned and truncated, with a note of what is omitted."""
    seen = preview(text)
    rows: list[Row] = []
    for line in seen.text.rstrip("\n").split("\n"):
        rows += wrap(((line.expandtabs(4).rstrip(), "text"),), max(10, width), first=((indent, ""),))
    if seen.omitted:
        rows.append(((f"{indent}… {units.count(seen.omitted)} more characters", "dim"),))
    return rows


def shown_fields(form: Form) -> tuple[FormField, ...]:
    """Return the fields. For a tool that does not describe its arguments, the fields that the user added."""
    fields, whole = form.fields(), form.field(())
    schema = whole.spec.source if whole is not None else {}
    says_nothing = not schema.get("additionalProperties") and not schema.get("properties")
    if says_nothing and fields and not fields[0].path and fields[0].kind is FieldKind.MAP:
        return fields[1:]
    return fields


def below(fields: Mapping[Path, FormField], path: Path) -> Iterator[FormField]:
    """Yield the fields within the field at a path."""
    return (one for where, one in fields.items() if where[: len(path)] == path != where)


def form_lines(
    head: tuple[Sequence[Row], str],
    fields: Sequence[FormField],
    look: FormLook,
    where: Path,
    edit: LineEdit,
    suggestions: ValueSuggestions,
    notes: Mapping[Path, FieldNote],
    empty: str,
) -> list[FormLine]:
    """Return all rows of a form.

    `head` has the rows above the fields, and the text of the row that unfolds the rest of them. `where` is
    the path of the row with the cursor, `edit` the text there. `empty` is shown if there are no fields.
    """
    rows, more = head
    lines = [FormLine(row) for row in rows]
    if more:
        lines.append(FormLine(((f"  {more}", "accent"),), MORE))
    if lines:
        lines.append(FormLine(EMPTY))
    compact = False
    for one in fields:
        if compact and not is_compact(one):
            lines.append(FormLine(EMPTY))
        compact = is_compact(one)
        current = one.path == where
        note = notes.get(one.path, NO_NOTE)
        for line in field_rows(one, look, edit if current else None, note):
            lines.append(line)
            if line.path is not None and current and look.focused:
                found = suggestions.rows(2 * one.depth, look.columns, look.signs.cursor)
                lines += [FormLine(row, suggestion=index) for index, row in found]
    if not fields and empty:
        lines += [FormLine(((f"  {empty}", "dim"),)), FormLine(EMPTY)]
    return lines
