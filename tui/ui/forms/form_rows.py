"""The rows of a form: its head, and of each field label and type, input, description, an error. Pure.

The number of rows does not depend on the cursor or an error of one line, so neither moves the fields below.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tui.core import units
from tui.core.comparison.placeholders import same
from tui.core.forms.form import Form
from tui.core.forms.spec import (
    BOOLEANS,
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
from tui.core.language.translate import _, localized, n_
from tui.core.text import clean_line, preview
from tui.ui.forms.field_input import LineEdit, ValueSuggestions, shown_text
from tui.ui.widgets.bar import part_at, spread
from tui.ui.widgets.inputs import choice
from tui.ui.widgets.rows import EMPTY, Row, crop, pad, width_of, wrap
from tui.ui.widgets.symbols import ASCII, symbols_for

MOST_LABEL = 40
DESCRIPTION_ROWS = 3
ERROR_CELLS = 16
"""Minimum room for the error of a list item, which is next to its value."""


@dataclass(frozen=True, slots=True)
class FormLook:
    """Settings for the rows of all fields; `key` returns the key of an action, as displayed."""

    columns: int
    key: Callable[[str], str] = str
    strict: bool = False  # a call was attempted, so that empty required fields are errors
    focused: bool = True
    types: bool = True  # show the types of fields


@dataclass(frozen=True, slots=True)
class FieldNote:
    """What the owner of a form says about a field besides its schema, each or "".

    `about` follows the description, `problem` is below the field, `label` in place of its name.
    """

    about: str = ""
    problem: str = ""
    is_error: bool = True
    placeholder: str = ""
    label: str = ""


NO_NOTE = FieldNote()


@dataclass(frozen=True, slots=True)
class FormLine:
    """A row of the form."""

    row: Row
    path: Path | None = None  # the field, on its input; None for rows that the cursor skips
    owner: Path | None = None  # the field that a click selects
    suggestion: int = -1  # the index of the suggested value in this row


@dataclass(frozen=True, slots=True)
class FieldRows:
    """Draws a field; `edit` is its text if it has the cursor."""

    field: FormField
    look: FormLook
    edit: LineEdit | None = None
    note: FieldNote = NO_NOTE

    def lines(self) -> Iterator[FormLine]:
        field, path = self.field, self.field.path
        if self.is_compact:
            yield FormLine(self._switch() if self.is_switch else self._item(), path, path)
            return
        is_group = field.kind is FieldKind.OBJECT and field.state is FieldState.SET and not field.arms
        head, *rest = self._head(is_group=is_group)
        yield FormLine(head, path if is_group else None, path)
        yield from (FormLine(row, None, path) for row in rest)
        if not is_group:
            yield FormLine(self._surface(self._indent), path, path)
        yield from (FormLine(row, None, path) for row in self._about())
        if not is_group:
            yield from (FormLine(row, None, path) for row in self._problems())

    @property
    def is_compact(self) -> bool:
        """Whether it has one row: a value in a list, whose type and description the list shows."""
        is_item = bool(self.field.path) and isinstance(self.field.path[-1], int)
        return self.is_switch or (is_item and self.field.kind not in HOLDERS and not self.field.arms)

    @property
    def is_switch(self) -> bool:
        return self.field.spec.format == SWITCH

    def _switch(self) -> Row:
        """Return a boolean in one row: whether it is on, its name, and what is said of it."""
        field, symbols = self.field, symbols_for()
        is_on = field.text == BOOLEANS[0]
        edge = (symbols.edge if self.is_here else " ", "accent")
        sign = (f" {symbols.running if is_on else symbols.stopped} ", "ok" if is_on else "dim")
        name = ((self.own(clean_line(field.name, 40)), "accent bold" if self.is_here else "text"),)
        about = ((clean_line(self.note.about, 200), "text" if is_on else "dim"),)
        more = (f" {clean_line(self.note.placeholder, 200)}", "dim")
        row: Row = ((" ", ""), edge, sign, *pad(name, SWITCH_CELLS), *pad(about, SWITCH_CELLS + 4), more)
        return crop(row, self.look.columns)

    @property
    def options(self) -> Sequence[str]:
        """The labels to show next to each other in the input, () if there are too many for its width."""
        labels, room = self.field.labels, self.look.columns - self._indent - 5
        return labels if sum(width_of(self._option(label)) for label in labels) <= room else ()

    def option_at(self, x: int) -> str | None:
        start = self._indent + 4
        parts = ((label, self._option(label)) for label in self.options)
        return part_at(parts, x - start) if x >= start else None

    def _option(self, label: str, *, chosen: bool = False) -> Row:
        return choice(self.own(clean_line(label, 40)) or '""', chosen, self.is_here, symbols_for().chosen)

    def own(self, name: str) -> str:
        """Return a name of a form of ours, which shows no types, in the user's language."""
        return name if self.look.types else _(name)

    @property
    def is_here(self) -> bool:
        return self.edit is not None and self.look.focused

    @property
    def _indent(self) -> int:
        return 2 * min(max(0, self.field.depth - 1), 8)

    @property
    def _problem(self) -> str:
        """The problem to show: none for an empty field until a call is attempted."""
        is_empty = self.field.state is FieldState.ABSENT
        return "" if is_empty and not self.look.strict else self.field.problem

    def _head(self, *, is_group: bool) -> list[Row]:
        field, look = self.field, self.look
        words = [type_words(field)] if look.types else []
        if field.required and not field.extra:
            words.append(_("required"))
        if field.spec.default is not MISSING:
            words.append(_("default {value}", value=self._default))
        types = ((f"  {' · '.join(words)}", "dim"),) if words else ()
        name = self.own(clean_line(field.name, 60)) or (_("arguments") if not field.path else '""')
        if field.path and isinstance(field.path[-1], int):
            name = str(field.path[-1] + 1)
        style = "accent bold" if self.is_here and is_group else "text bold"
        label = crop(((self.note.label or name, style),), MOST_LABEL)
        row: Row = ((" " * (self._indent + 2), ""), *label, *types)
        if is_group and self._problem:
            row = (*row, (f"   ! {clean_line(localized(self._problem), 200)}", "bad"))
        keys = [f"{look.key('form.add')} {_('add')}"] if field.takes_more or field.extra else []
        if field.arms or field.nullable:
            keys.append(f"{look.key('form.cycle')} {_('next choice') if field.arms else 'null'}")
        if field.extra:
            keys.append(f"{look.key('form.remove')} {_('remove')}")
        ends: Row = (("  ".join(keys), "dim"),)
        first, *rest = wrap(row[1:], look.columns - width_of(ends) - 1, row[:1])
        return [spread(first, ends if self.is_here else EMPTY, look.columns), *rest]

    def _surface(self, indent: int, taken: int = 0) -> Row:
        """Return the input: an edge if keys go there, then the value on a shaded background up to the end."""
        edge = (f"{symbols_for().edge} ", "accent") if self.is_here else ("  ", "")
        room = max(4, self.look.columns - indent - 4 - taken)
        inner = pad(crop(self._value(room - 1), room), room)
        row = (edge, *inner)
        return ((" " * (indent + 2), ""), *((text, f"{style} on field") for text, style in row))

    def _item(self) -> Row:
        number = f"{int(self.field.path[-1]) + 1:>{self._indent + 2}} "
        shown = f"  ! {clean_line(localized(self._problem), 200)}" if self._problem else ""
        taken = min(width_of(((shown, ""),)), max(ERROR_CELLS, self.look.columns // 2)) if shown else 0
        return ((number, "dim"), *self._surface(len(number) - 2, taken)[1:], *crop(((shown, "bad"),), taken))

    def _about(self) -> list[Row]:
        words = ""
        for one in filter(None, (*self._details(), clean_line(self.note.about, 600))):
            words = _("{text}. {next_step}", text=words, next_step=one) if words else one
        if not words:
            return []
        rows = wrap(((words, "dim"),), self.look.columns, first=((" " * (self._indent + 4), ""),))
        if len(rows) > DESCRIPTION_ROWS:
            rows[DESCRIPTION_ROWS - 1 :] = [
                crop((*rows[DESCRIPTION_ROWS - 1], ("…", "dim")), self.look.columns)
            ]
        return rows

    def _details(self) -> Iterator[str]:
        field, spec = self.field, self.field.spec
        title, name = (text.replace("_", " ").lower() for text in (spec.title, field.name))
        if spec.title and not field.arms and title != name:  # schema generators make titles of names
            yield clean_line(spec.title, MAX_TITLE)
        if spec.description:
            yield clean_line(spec.description, MAX_DESCRIPTION).rstrip(".")
        if spec.note:
            yield clean_line(localized(spec.note), 200)
        if field.arms and field.kind not in HOLDERS:
            yield _("one of {names}", names=clean_line(", ".join(map(self.own, field.arms)), 200))
        if spec.examples:
            yield _("e.g. {values}", values=", ".join(brief(one) for one in spec.examples[:3]))

    def _problems(self) -> list[Row]:
        """Return the row for an error, blank if there is none; a note has a blank row below it."""
        indent: Row = ((" " * (self._indent + 4), ""),)
        note, columns = self.note, self.look.columns
        if note.problem:
            style = "bad" if note.is_error else "warn"
            rows = wrap(((f"! {clean_line(note.problem, 400)}", style),), columns, first=indent)
            return rows if note.is_error else [*rows, EMPTY]
        problem = clean_line(localized(self._problem), 300)
        return [crop((*indent, (f"! {problem}", "bad")), columns) if problem else EMPTY]

    def _value(self, room: int) -> Row:
        field, look = self.field, self.look
        has_value = field.state not in (FieldState.ABSENT, FieldState.NULL)
        if options := self.options:
            now = field.arms[field.arm] if field.kind in HOLDERS else field.text
            null: Row = (("  null", "warn"),) if field.state is FieldState.NULL else ()
            parts = (self._option(label, chosen=has_value and label == now) for label in options)
            return (*(span for part in parts for span in part), *null)
        arm: Row = ()
        if field.arms:
            left, right = ("<", "> ") if symbols_for() is ASCII else ("‹", "› ")
            arm = ((left, "dim"), (self.own(clean_line(field.arms[field.arm], 24)), "tool"), (right, "dim"))
        if field.state is FieldState.NULL:
            return (*arm, ("null", "warn"))
        if field.kind in HOLDERS:
            count = len(field.children)
            held = n_("{n} item", "{n} items", count) if field.kind is FieldKind.ARRAY else ""
            held = n_("{n} entry", "{n} entries", count) if field.kind is FieldKind.MAP else held
            return (*arm, (held if has_value else self._placeholder, "text" if has_value else "dim"))
        if field.kind in PICKED:
            return (*arm, *self._picked(room - width_of(arm)))
        if self.edit is not None and look.focused:
            edit = self.edit
            shown = LineEdit("•" * len(edit.text), edit.cursor) if field.spec.secret else edit
            before, under, after = shown.window(max(2, room - width_of(arm) - 1))
            hint: Row = ((" " + self._placeholder, "dim"),) if not edit.text else ()
            return (*arm, (before, "text"), (under, "text reverse"), (after, "text"), *hint)
        if not has_value or not field.text:
            return (*arm, (self._placeholder, "dim"))
        hidden = "•" * min(len(field.text), 12) if field.spec.secret else ""
        return (*arm, (hidden or shown_text(field.text), "text"))

    def _picked(self, room: int) -> Row:
        """Return the value of a list that is too long to be shown side by side, with a sign for the list."""
        value: Row = ((self._placeholder, "dim"),)
        if self.field.state is not FieldState.ABSENT:
            value = ((shown_text(self.own(self.field.text)), "text bold" if self.is_here else "text"),)
        sign: Row = ((symbols_for().unfolded, "accent" if self.is_here else "dim"),)
        return value if self.field.kind is FieldKind.CONST else spread(value, sign, room)

    @property
    def _placeholder(self) -> str:
        field = self.field
        if self.note.placeholder or (self.is_compact and not self.look.types):
            return self.note.placeholder
        if field.state is FieldState.SET and not field.text:
            return _("empty text")
        if field.spec.default is not MISSING and field.spec.default is not None:
            return self._default
        if self.is_compact:
            return type_words(field)
        return "" if field.required else _("not set")

    @property
    def _default(self) -> str:
        """The displayed default: for a choice, its label."""
        spec = self.field.spec
        label = next((one.label for one in spec.choices if same(one.value, spec.default)), None)
        return brief(spec.default if label is None else label)


SWITCH = "switch"
"""Format of a boolean that is shown in one row, beside others."""

SWITCH_CELLS = 18
"""Cells of the name of a switch, and of what is said of it before its placeholder."""

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
        return rows + lines[:FOLDED_ROWS], n_("… {n} more line", "… {n} more lines", len(lines) - FOLDED_ROWS)


def prose(text: str, width: int, indent: str) -> list[Row]:
    """Return untrusted text as wrapped rows, cleaned and truncated, with a note of what is omitted."""
    seen = preview(text)
    rows: list[Row] = []
    for line in seen.text.rstrip("\n").split("\n"):
        rows += wrap(((line.expandtabs(4).rstrip(), "text"),), max(10, width), first=((indent, ""),))
    if seen.omitted:
        more = _("… {count} more characters", count=units.count(seen.omitted))
        rows.append(((indent + more, "dim"),))
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
    fields: Sequence[FieldRows],
    suggestions: ValueSuggestions,
    empty: Iterable[Row],
) -> list[FormLine]:
    """Return all rows of a form.

    `head` has the rows above the fields, and the text of the row that unfolds the rest of them. The values of
    `suggestions` are for the field with the cursor. `empty` is shown if there are no fields.
    """
    rows, more = head
    lines = [FormLine(row) for row in rows]
    if more:
        lines.append(FormLine(((f"  {more}", "accent"),), MORE))
    if lines:
        lines.append(FormLine(EMPTY))
    compact = False
    for one in fields:
        if compact and not one.is_compact:
            lines.append(FormLine(EMPTY))
        compact = one.is_compact
        for line in one.lines():
            lines.append(line)
            if line.path is not None and one.is_here:
                look = one.look
                found = suggestions.rows(2 * one.field.depth, look.columns, symbols_for().cursor)
                lines += [FormLine(row, suggestion=index) for index, row in found]
    if not fields:
        lines += map(FormLine, empty)
    return lines
