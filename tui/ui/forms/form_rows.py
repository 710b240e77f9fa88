"""The rows of the form of an item: its description and its fields. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tui.core import units
from tui.core.forms.form import Form
from tui.core.forms.spec import FieldKind, FormField, Path
from tui.core.tasks import Task
from tui.core.text import clean_line
from tui.core.tools import Tool
from tui.core.workbench import ResourceInfo
from tui.ui.forms.field_input import LineEdit, ValueSuggestions
from tui.ui.forms.field_rows import FormLook, field_rows, is_compact
from tui.ui.widgets.rows import EMPTY, Row, joined, wrap
from tui.ui.workbench.items import UNALARMING, Item, ItemVerb
from tui.ui.workbench.overview import prose

FOLDED_ROWS = 4
"""Rows of a description that are shown above a form; the others are folded."""

WIDEST = 92
"""Columns of the widest form. In a wider form, a value would be too far from its label."""

MORE: Path = ("\x00more",)
"""Path of the row that unfolds the description, which is not a field."""

NONE: Path = ("\x00none",)
"""Path of the cursor in a form without fields."""


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


@dataclass(frozen=True, slots=True)
class FormState:
    """State of a form besides its fields: the row with the cursor and its text.

    `suggestions` are the suggested values of the current field. A form that `is_open` accepts arguments of
    any name.
    """

    where: Path
    edit: LineEdit
    is_open: bool
    suggestions: ValueSuggestions


def shown_fields(item: Item | None, form: Form) -> tuple[FormField, ...]:
    """Return the fields. For a tool that does not describe its arguments, the fields that the user added."""
    if item is None:
        return ()
    fields = form.fields()
    schema = item.schema
    says_nothing = not schema.get("additionalProperties") and not schema.get("properties")
    if says_nothing and fields and not fields[0].path and fields[0].kind is FieldKind.MAP:
        return fields[1:]
    return fields


def below(fields: Mapping[Path, FormField], path: Path) -> Iterator[FormField]:
    """Yield the fields within the field at a path."""
    return (one for where, one in fields.items() if where[: len(path)] == path != where)


def form_lines(
    item: Item,
    fields: tuple[FormField, ...],
    look: FormLook,
    state: FormState,
    about: tuple[Sequence[Row], str],
) -> list[FormLine]:
    """Return all rows of a form, starting with those of `about_rows`."""
    rows, more = about
    lines = [FormLine(row) for row in rows]
    if more:
        lines.append(FormLine(((f"  {more}", "accent"),), MORE))
    lines.append(FormLine(EMPTY))
    compact = False
    for field in fields:
        if compact and not is_compact(field):
            lines.append(FormLine(EMPTY))
        compact = is_compact(field)
        current = field.path == state.where
        for one in field_rows(field, look, state.edit if current else None):
            lines.append(FormLine(one.row, field.path if one.is_input else None, field.path))
            if one.is_input and current and look.focused:
                found = state.suggestions.rows(2 * field.depth, look.columns, look.signs.cursor)
                lines += [FormLine(row, suggestion=index) for index, row in found]
    if not fields and item.verb in (ItemVerb.CALL, ItemVerb.GET):
        words = f"No arguments declared   {look.add_key} add one" if state.is_open else "No arguments"
        lines += [FormLine(((f"  {words}", "dim"),)), FormLine(EMPTY)]
    return lines


def about_rows(item: Item, columns: int, *, unfolded: bool, has_output_schema: bool) -> tuple[list[Row], str]:
    """Return the description, and the text of the row that unfolds the rest of it, or ""."""
    title = clean_line(item.about.title, 120)
    head: Row = ((f"  {item.label}", "text bold"),)
    if title and title != item.label:
        head = (*head, (f"   {title}", "dim"))
    rows = [head]
    hints = tuple(_hints(item, has_output_schema))
    if hints:
        room = max(8, columns - 2)
        rows.append((("  ", ""), *joined(((hint,) for hint in hints), ((" · ", "dim"),), room)))
    if item.mark:
        style = "dim" if item.mark.partition(":")[0] in UNALARMING else "warn"
        rows += wrap(((f"For the model   {item.mark}", style),), max(8, columns - 2), first=(("  ", ""),))
    for one in () if isinstance(item.about, Task) else item.about.hidden:
        words = f"{clean_line(one.place, 80)}: {one.sign}   "
        rows += wrap(
            ((words, "warn"), (clean_line(one.excerpt), "dim")),
            max(8, columns - 2),
            first=(("  ! ", "warn"),),
        )
    description = item.description.strip()
    if not description:
        return rows, ""
    lines = prose(description, columns, "  ")
    if unfolded or len(lines) <= FOLDED_ROWS + 1:
        return rows + lines, ""
    return rows + lines[:FOLDED_ROWS], f"… {units.plural(len(lines) - FOLDED_ROWS, 'more line')}"


def _hints(item: Item, has_output_schema: bool) -> Iterator[tuple[str, str]]:
    about = item.about
    match about:
        case Tool():
            yield from _tool_hints(about, item.tokens)
            if has_output_schema:
                yield "structured result", "dim"
            if about.has_icon:
                yield "has an icon", "dim"
        case Task():
            yield "running on the server. Fetch waits for its result", "dim"
        case ResourceInfo():
            yield clean_line(about.uri, 400), "tool"
            if about.mime:
                yield clean_line(about.mime, 60), "dim"
            if about.size is not None:
                yield units.size(about.size), "dim"


def _tool_hints(tool: Tool, tokens: str) -> Iterator[tuple[str, str]]:
    """Yield hints on a tool's effects and costs, the most important first: a narrow pane omits the last."""
    if tool.destructive:
        yield "! destructive", "warn"
    if tool.read_only and tool.trusted:
        yield "read-only", "ok"
    if tokens:
        yield tokens, "dim"
    if tool.read_only and not tool.trusted:
        yield "marked read-only by the server", "dim"
    if tool.destructive is False and not tool.read_only:
        yield ("non-destructive", "ok") if tool.trusted else ("marked non-destructive by the server", "dim")
    if tool.idempotent:
        yield "idempotent" if tool.trusted else "marked idempotent by the server", "dim"
