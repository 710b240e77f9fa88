"""The form of one item: shows its fields and fills them in, typing in place.

All rows are drawn by the pane itself, so four hundred fields cost what forty do.
"""

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message

from tui.core.forms.form import Form
from tui.core.forms.spec import FieldKind, FieldState, FormField, Path
from tui.ui.keys.action_table import Context, of_context
from tui.ui.keys.bindings import bindings_of
from tui.ui.keys.key_overrides import KeyOverrides
from tui.ui.widgets.lines import LinePane
from tui.ui.widgets.rows import Row
from tui.ui.widgets.symbols import Symbols
from tui.ui.workbench.field_rows import HOLDERS, FormLook, is_typed, label_cells
from tui.ui.workbench.form_rows import CALL, MORE, WIDEST, FormLine, FormState, form_lines, shown_fields
from tui.ui.workbench.items import Item
from tui.ui.workbench.line_edit import LineEdit
from tui.ui.workbench.value_suggestions import AskValues, ValueSuggestions


class FormPane(LinePane, inherit_bindings=False):
    """Shows a form and fills it in.

    Attributes:
        item: whose form it is; None before there is one.
        form: what is filled in.
        strict: a call was tried, so required fields that are empty are shown as wrong.
    """

    CURSOR = True
    FOLLOWS = False
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of(Context.BENCH_FORM),
        Binding("pageup", "pane_page_up", show=False),
        Binding("pagedown", "pane_page_down", show=False),
    ]

    class Changed(Message):
        """The arguments have changed."""

    class Wanted(Message):
        """The person wants to "call", to "choose" a value or to "name" an entry of a field."""

        def __init__(self, what: str, field: FormField | None = None) -> None:
            super().__init__()
            self.what = what
            self.field = field

    def __init__(self, keys: KeyOverrides, signs: Symbols, *, call: str = "bench.call") -> None:
        super().__init__()
        self.item: Item | None = None
        self.form: Form = Form({})
        self.strict = False
        self._keys = keys
        self._signs = signs
        self._call = call
        self._has_output_schema = False
        self._unfolded = False
        self._where: Path = CALL
        self._edit = LineEdit()
        self._fields: dict[Path, FormField] = {}
        self._lines: list[FormLine] = []
        self._suggestions = ValueSuggestions(self.rebuild)
        self._actions = {
            key: found.method
            for context in (Context.BENCH_FORM, Context.WORKBENCH)
            for found in of_context(context)
            for key in keys.keys_of(found).split(",")
        }

    def show(
        self,
        item: Item | None,
        form: Form,
        *,
        has_output_schema: bool = False,
        ask_values: AskValues | None = None,
    ) -> None:
        """Show the form of an item, filled in so far, with the cursor on its first field.

        `ask_values` asks for values to suggest for a field.
        """
        self._suggestions.forget()
        self._suggestions.ask = ask_values
        self.item, self.form, self._has_output_schema = item, form, has_output_schema
        self.strict = self._unfolded = False
        fields = shown_fields(item, form)
        self._where = fields[0].path if fields else CALL
        self._begin_edit()
        self.rebuild()
        self._suggest()
        self.scroll_to(y=0, animate=False)

    @property
    def current(self) -> FormField | None:
        """The field under the cursor."""
        return self._fields.get(self._where)

    def go_to_problem(self) -> None:
        """Put the cursor on the first field that is wrong."""
        self.strict = True
        path = next((path for path, field in self._fields.items() if field.problem), None)
        self.rebuild()
        if path is not None:
            self._go(path)

    def rebuild(self) -> None:
        """Lay out all rows again."""
        if not self.is_mounted:
            return
        fields = shown_fields(self.item, self.form)
        self._fields = {one.path: one for one in fields}
        if self._where not in self._fields and self._where not in (CALL, MORE):
            self._where = self._nearest(fields)
            self._begin_edit()
        count = len(self._lines)
        self._lines = [] if self.item is None else self._lay_out(self.item, fields)
        if len(self._lines) != count and self.styles.is_auto_height:
            self.refresh(layout=True)
        self.cursor = next((n for n, line in enumerate(self._lines) if line.path == self._where), 0)
        self.rows_changed()

    def _lay_out(self, item: Item, fields: tuple[FormField, ...]) -> list[FormLine]:
        columns = min(self.columns, WIDEST)
        look = FormLook(columns, label_cells(fields, columns), self._signs, self.strict, self.has_focus)
        call_key = self._keys.first_of(self._call)
        state = FormState(
            self._where, self._edit, self._unfolded, self._has_output_schema, call_key, self._suggestions
        )
        return form_lines(item, fields, look, state)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._lines) + 1

    def row_count(self) -> int:
        return len(self._lines)

    def row(self, index: int) -> Row:
        return self._lines[index].row

    def row_selectable(self, index: int) -> bool:
        return index < len(self._lines) and self._lines[index].path is not None

    def row_ground(self, index: int) -> str:
        return "cursor" if index == self.cursor and self.has_focus and self.row_selectable(index) else ""

    def rewrap(self) -> None:
        self.rebuild()

    def on_focus(self) -> None:
        self.call_later(self._reveal)

    def _reveal(self) -> None:
        self.rebuild()
        self._suggest()
        if self._where != CALL:
            self.show_row(self.cursor, 2)

    def on_blur(self) -> None:
        self._suggestions.forget()
        self.call_later(self.rebuild)

    def on_unmount(self) -> None:
        self._suggestions.forget()

    def _suggest(self) -> None:
        """Have values suggested for the current field."""
        field = self.form.field(self._where) if self._where not in (CALL, MORE) else None
        if field is None or not is_typed(field) or not self.has_focus:
            self._suggestions.forget()
            return
        arguments, _ = self.form.value()
        given = arguments if isinstance(arguments, dict) else {}
        others = {name: text for name, text in given.items() if name != field.name and isinstance(text, str)}
        self._suggestions.look(field.name, field.text, others)

    def _take_suggestion(self, value: str) -> None:
        self.form.set(self._where, value)
        self._begin_edit()
        self._suggestions.close()
        self._changed()

    def close_suggestions(self) -> bool:
        """Close the list of suggested values; return whether it was open."""
        was_open = self._suggestions.close()
        if was_open:
            self.rebuild()
        return was_open

    def _nearest(self, fields: tuple[FormField, ...]) -> Path:
        for end in range(len(self._where), 0, -1):
            if any(one.path == self._where[:end] for one in fields):
                return self._where[:end]
        return fields[0].path if fields else CALL

    def _go(self, path: Path) -> None:
        self._where = path
        self._begin_edit()
        self._suggest()
        self.rebuild()
        below = sum(1 for line in self._lines[self.cursor + 1 : self.cursor + 5] if line.path is None)
        self.show_row(self.cursor, 1 + below)

    def _begin_edit(self) -> None:
        field = self.form.field(self._where) if self._where not in (CALL, MORE) else None
        self._edit = LineEdit.at_end(field.text if field is not None and is_typed(field) else "")

    def cursor_moved(self, index: int) -> None:
        path = self._lines[index].path
        if path is not None and path != self._where:
            self._go(path)

    def set_text(self, path: Path, text: str) -> None:
        """Put text into a field."""
        self.form.set(path, text)
        self._changed()

    def row_clicked(self, index: int, x: int) -> None:
        """Go to the clicked field; a second click, or one on the line that calls, acts like enter."""
        suggested = self._suggestions.at(self._lines[index].suggestion) if index < len(self._lines) else None
        if suggested is not None:
            self._take_suggestion(suggested)
            return
        if not self.row_selectable(index):
            return
        again = index == self.cursor or self._lines[index].path in (CALL, MORE)
        self.move_cursor(index)
        if again:
            self.action_form_choose()

    def action_form_next(self) -> None:
        """Go to the next field, or after the last one to the next pane."""
        if not self._step(1):
            self.screen.focus_next()

    def action_form_previous(self) -> None:
        if not self._step(-1):
            self.screen.focus_previous()

    async def _on_key(self, event: events.Key) -> None:
        """Handle a key at once, so that keys of one burst act in order."""
        field = self.current
        typed = field is not None and is_typed(field) and field.state is not FieldState.NULL
        action = self._actions.get(event.key)
        letter = event.character if event.is_printable and event.character else ""
        if self._suggestions.is_open and self._suggestion_key(event.key, action):
            pass
        elif letter and field is not None:
            self._type(field, letter)
        elif typed and action is None and self._edit.key(event.key):
            self._typed(was_empty=event.key == "backspace")
        elif field is not None and not typed and event.key in ("left", "right", "backspace", "delete"):
            self._turn(field, event.key)
        elif action is None or not await self.app.run_action(action, self):
            return
        event.stop()
        event.prevent_default()

    def _suggestion_key(self, key: str, action: str | None) -> bool:
        """Handle a key of the list of suggested values; return False for any other key."""
        if key in ("up", "down"):
            self._suggestions.step(1 if key == "down" else -1)
            self.rebuild()
            return True
        value = self._suggestions.marked if action == "form_choose" else None
        if action == "form_next":
            value = self._suggestions.best
        if value is not None:
            self._take_suggestion(value)
        return value is not None

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        if self.current is not None and is_typed(self.current):
            self._edit.insert(event.text.replace("\r\n", "\n").replace("\r", "\n"))
            self._typed()

    def _type(self, field: FormField, letter: str) -> None:
        if is_typed(field):
            self._edit.insert(letter)
            self._typed()
        elif field.kind is FieldKind.BOOLEAN and letter in "tfyn10":
            self.set_text(field.path, "true" if letter in "ty1" else "false")
        elif letter == " ":
            self._turn(field, "right")
        elif field.kind is FieldKind.CHOICE:
            labels = [choice.label for choice in field.spec.choices]
            start = (field.choice if field.choice is not None else -1) + 1
            for label in (*labels[start:], *labels[:start]):
                if label[:1].lower() == letter.lower():
                    self.set_text(field.path, label)
                    return

    def _typed(self, *, was_empty: bool = False) -> None:
        field = self.current
        if field is None:
            return
        if was_empty and not self._edit.text and not field.text:
            self.form.clear(field.path)
        else:
            self.form.set(field.path, self._edit.text)
        self._changed()

    def _turn(self, field: FormField, key: str) -> None:
        if key in ("backspace", "delete"):
            self.form.clear(field.path)
            self._changed()
            return
        labels = [choice.label for choice in field.spec.choices]
        if field.kind is FieldKind.BOOLEAN:
            labels = ["true", "false"]
        if not labels or field.kind in HOLDERS:
            if field.arms:
                self._next_arm(field, 1 if key == "right" else -1)
            return
        now = labels.index(field.text) if field.text in labels else (-1 if key == "right" else 0)
        self.set_text(field.path, labels[(now + (1 if key == "right" else -1)) % len(labels)])

    def action_form_choose(self) -> None:
        """Do what fits the current line: choose, unfold, add, go to the next field, call."""
        field = self.current
        if self._where == MORE:
            self._unfolded = True
            self._where = next(iter(self._fields), CALL)
            self._begin_edit()
            self.rebuild()
        elif field is None:
            self.post_message(self.Wanted("call"))
        elif field.kind is FieldKind.CHOICE:
            self.post_message(self.Wanted("choose", field))
        elif field.kind is FieldKind.BOOLEAN:
            self._turn(field, "right")
        elif field.kind in HOLDERS and field.state is not FieldState.SET:
            self.form.include(field.path)
            self._changed()
        elif field.kind in (FieldKind.ARRAY, FieldKind.MAP):
            self._add_to(field)
        else:
            self.action_form_next()

    def action_form_add(self) -> None:
        """Add an item or entry to the nearest list or object."""
        field = self.current
        path = self._where
        while field is not None:
            if field.kind in (FieldKind.ARRAY, FieldKind.MAP) or (
                field.kind is FieldKind.OBJECT and field.spec.open
            ):
                self._add_to(field)
                return
            if not path:
                return
            path = path[:-1]
            field = self.form.field(path)

    def _add_to(self, field: FormField) -> None:
        if field.kind is FieldKind.ARRAY:
            self.added(self.form.add(field.path))
        else:
            self.post_message(self.Wanted("name", field))

    def added(self, path: Path | None) -> None:
        """Go to what was added."""
        if path is None:
            self.app.notify("Nothing more can be added here.", timeout=3)
            return
        self._changed()
        first = next((one for one in self._fields if one[: len(path)] == path and len(one) > len(path)), path)
        self._go(first)

    def action_form_remove(self) -> None:
        if self.current is not None:
            self.form.remove(self._where)
            self._begin_edit()
            self._changed()

    def action_form_cycle(self) -> None:
        field = self.current
        if field is None:
            return
        if field.arms:
            self._next_arm(field, 1)
        elif field.nullable:
            if field.state is FieldState.NULL:
                self.form.clear(field.path)
            else:
                self.form.null(field.path)
            self._begin_edit()
            self._changed()
        else:
            self._turn(field, "right")

    def _next_arm(self, field: FormField, direction: int) -> None:
        is_last = field.arm + direction == len(field.arms)
        if is_last and field.nullable and field.state is not FieldState.NULL:
            self.form.null(field.path)
        else:
            self.form.choose_arm(field.path, (field.arm + direction) % len(field.arms))
        self._begin_edit()
        self._changed()

    def _changed(self) -> None:
        field = self.form.field(self._where) if self._where not in (CALL, MORE) else None
        if field is not None and is_typed(field) and field.text != self._edit.text:
            self._begin_edit()
        self._suggest()
        self.rebuild()
        self.post_message(self.Changed())
