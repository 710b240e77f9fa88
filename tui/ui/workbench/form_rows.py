"""The rows of the form of one item: what the server says of it, its fields, and the line that calls it.

All rows are drawn by the pane itself, so four hundred fields cost what forty do.
"""

from collections.abc import Callable
from dataclasses import dataclass

from tui.core.forms.forms import Field, FieldKind, Form, Path, form_of
from tui.ui.widgets.line_edit import LineEdit
from tui.ui.widgets.lines import LinePane
from tui.ui.widgets.rows import EMPTY, Row
from tui.ui.widgets.symbols import UNICODE, Symbols
from tui.ui.workbench.about import about_rows
from tui.ui.workbench.field_rows import (
    FormLook,
    field_row,
    is_typed,
    label_cells,
    under_rows,
)
from tui.ui.workbench.items import Doing, Item

WIDEST = 92
"""A form is not wider than this: what a field takes would stand far from its value."""

CALL: Path = ("\x00call",)
MORE: Path = ("\x00more",)
"""Places of the lines that are no fields: the one that calls, and the one that unfolds the description."""


@dataclass(frozen=True, slots=True)
class Line:
    """A row of the pane, and the place that it belongs to; None for rows that the cursor passes over."""

    row: Row
    path: Path | None = None


class FormRows(LinePane, inherit_bindings=False):
    """Shows a form.

    Attributes:
        item: whose form it is; None before there is one.
        form: what is filled in.
        strict: a call was asked for, so required fields that are empty are shown as wrong.
    """

    CURSOR = True

    FOLLOWS = False

    def __init__(self, signs: Symbols = UNICODE, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.item: Item | None = None
        self.form: Form = form_of({})
        self.strict = False
        self.empty: tuple[Row, ...] = ()
        self._signs = signs
        self._promise = False
        self._unfolded = False
        self._where: Path = CALL
        self._edit = LineEdit()
        self._fields: dict[Path, Field] = {}
        self._lines: list[Line] = []
        self._call_key: Callable[[], str] = lambda: ""

    # ---- what the bench uses ----

    def show(self, item: Item | None, form: Form, *, promise: bool = False) -> None:
        """Show the form of an item, from its first field on.

        Args:
            item: whose.
            form: as far as it is filled in.
            promise: the tool has an output schema.
        """
        self.item, self.form, self._promise = item, form, promise
        self.strict = self._unfolded = False
        fields = self._shown_fields()
        self._where = fields[0].path if fields else CALL
        self._begin_edit()
        self.rebuild()
        self.scroll_to(y=0, animate=False)

    @property
    def current(self) -> Field | None:
        """The field under the cursor."""
        return self._fields.get(self._where)

    def go_to_problem(self) -> None:
        """Put the cursor on the first field that is wrong."""
        self.strict = True
        path = next((path for path, field in self._fields.items() if field.problem), None)
        self.rebuild()
        if path is not None:
            self._go(path)

    # ---- rows ----

    def rebuild(self) -> None:
        """Lay out all rows again."""
        if not self.is_mounted:
            return
        fields = self._shown_fields()
        self._fields = {one.path: one for one in fields}
        if self._where not in self._fields and self._where not in (CALL, MORE):
            self._where = self._nearest(fields)
            self._begin_edit()
        self._lines = [Line(row) for row in self.empty] if self.item is None else self._lay_out(fields)
        self.cursor = next((n for n, line in enumerate(self._lines) if line.path == self._where), 0)
        self.rows_changed()

    def _shown_fields(self) -> tuple[Field, ...]:
        """Return the fields; of a tool that says nothing of its arguments those that a person gave."""
        if self.item is None:
            return ()
        fields = self.form.fields()
        schema = self.item.schema
        said_nothing = not schema.get("additionalProperties") and not schema.get("properties")
        if said_nothing and fields and not fields[0].path and fields[0].kind is FieldKind.MAP:
            return fields[1:]
        return fields

    def _lay_out(self, fields: tuple[Field, ...]) -> list[Line]:
        assert self.item is not None
        columns = min(self.columns, WIDEST)
        look = FormLook(columns, label_cells(fields, columns), self._signs, self.strict, self.has_focus)
        about, more = about_rows(self.item, columns, unfolded=self._unfolded, promise=self._promise)
        lines = [Line(row) for row in about]
        if more:
            lines.append(Line(((f"  {more}", "accent"),), MORE))
        lines.append(Line(EMPTY))
        for field in fields:
            current = field.path == self._where
            lines.append(Line(field_row(field, look, self._edit if current else None), field.path))
            lines += [Line(row) for row in under_rows(field, look, is_current=current and self.has_focus)]
        if fields:
            lines.append(Line(EMPTY))
        elif self.item.doing is not Doing.READ:
            lines += [Line((("  It takes no arguments.", "dim"),)), Line(EMPTY)]
        return [*lines, Line(self._call_row(), CALL)]

    def _call_row(self) -> Row:
        assert self.item is not None
        here = self._where == CALL and self.has_focus
        lead = self._signs.cursor if here else " "
        style = "accent bold reverse" if here else "accent"
        row: Row = ((f"{lead} ", "accent"), (f" {self.item.doing} {self.item.label} ", style))
        return (*row, (f"   {self._call_key()}", "dim"))

    def call_key(self, words: Callable[[], str]) -> None:
        """Say which key calls from everywhere."""
        self._call_key = words

    def row_count(self) -> int:
        """Return how many rows there are."""
        return len(self._lines)

    def row(self, index: int) -> Row:
        """Return a row."""
        return self._lines[index].row

    def row_selectable(self, index: int) -> bool:
        """The cursor stands on fields, and on the line that calls."""
        return index < len(self._lines) and self._lines[index].path is not None

    def row_ground(self, index: int) -> str:
        """Paint the field that keys act on."""
        return "cursor" if index == self.cursor and self.has_focus and self.row_selectable(index) else ""

    def rewrap(self) -> None:
        """The width changed."""
        self.rebuild()

    def on_focus(self) -> None:
        """Show the cursor, and the field under it."""
        self.call_later(self._reveal)

    def _reveal(self) -> None:
        self.rebuild()
        if self._where != CALL:
            self.show_row(self.cursor, 2)

    def on_blur(self) -> None:
        """Hide the cursor."""
        self.call_later(self.rebuild)

    # ---- going about ----

    def _nearest(self, fields: tuple[Field, ...]) -> Path:
        for end in range(len(self._where), 0, -1):
            if any(one.path == self._where[:end] for one in fields):
                return self._where[:end]
        return fields[0].path if fields else CALL

    def _go(self, path: Path) -> None:
        self._where = path
        self._begin_edit()
        self.rebuild()
        below = sum(1 for line in self._lines[self.cursor + 1 : self.cursor + 5] if line.path is None)
        self.show_row(self.cursor, 1 + below)

    def _begin_edit(self) -> None:
        field = self.form.field(self._where) if self._where not in (CALL, MORE) else None
        self._edit = LineEdit.at_end(field.text if field is not None and is_typed(field) else "")

    def cursor_moved(self, index: int) -> None:
        """Another field is edited."""
        path = self._lines[index].path
        if path is not None and path != self._where:
            self._go(path)
