"""A form: shows and edits its fields in place; four hundred are as fast as forty."""

from collections.abc import Callable
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Size
from textual.message import Message

from tui.core.forms.checks import size_problem
from tui.core.forms.form import Form
from tui.core.forms.spec import HOLDERS, FieldKind, FieldState, FormField, Path
from tui.core.language.translate import _, localized
from tui.core.text import clean_line
from tui.ui.dialogs.picker import Picker
from tui.ui.forms.field_input import AskValues, LineEdit, TypeAhead, ValueSuggestions
from tui.ui.forms.form_rows import (
    LINES,
    MORE,
    NO_NOTE,
    NONE,
    WIDEST,
    FieldNote,
    FieldRows,
    FormHead,
    FormLine,
    FormLook,
    below,
    form_lines,
    shown_fields,
)
from tui.ui.keys.action_table import Context
from tui.ui.keys.bindings import KeyOverrides, bindings_of, methods_by_key
from tui.ui.widgets.lines import LinePane
from tui.ui.widgets.rows import EMPTY, Row, wrap


class FormPane(LinePane, inherit_bindings=False):
    """Shows and edits a form.

    `head` is shown above the fields. It is `strict` once a call was attempted: empty required fields are
    shown as errors.
    """

    CURSOR = True
    FOLLOWS = False
    EACH_CLICK = True

    # Textual adds the height of a horizontal scroll bar to a widget that is as tall as its content.
    DEFAULT_CSS = "FormPane { scrollbar-size-horizontal: 0; }"

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of(Context.BENCH_FORM),
        Binding("pageup", "pane_page_up", show=False),
        Binding("pagedown", "pane_page_down", show=False),
    ]

    class Changed(Message):
        """The arguments have changed."""

    class Moved(Message):
        """The cursor is on another field."""

    class NameWanted(Message):
        """The user wants to name an entry of a field; `text` is already typed."""

        def __init__(self, field: FormField, text: str = "") -> None:
            super().__init__()
            self.field, self.text = field, text

    def __init__(self, keys: KeyOverrides, *, types: bool = True) -> None:
        """Create an empty form; `types`: show the types of fields."""
        super().__init__()
        self.form: Form = Form({})
        self.strict = False
        self._keys, self._types = keys, types
        self.head: FormHead | None = None
        self._unfolded = False
        self._where, self._edit = NONE, LineEdit()
        self._suggestions = ValueSuggestions(self.rebuild)
        self._head_rows: tuple[list[Row], str] = ([], "")
        self._laid_out: object = None  # head and width of the rows above the fields
        self._fields: dict[Path, FormField] = {}
        self._lines: list[FormLine] = []
        self._notes: dict[Path, FieldNote] = {}
        self._type_ahead = TypeAhead()
        self._actions = methods_by_key(keys, Context.BENCH_FORM, Context.WORKBENCH)

    def show(self, form: Form, head: FormHead | None, *, ask_values: AskValues | None = None) -> None:
        """Show a form with its current values, with the cursor on the first field.

        Without a head, nothing is shown. `ask_values` returns values to suggest for a field.
        """
        self._suggestions.forget()
        self._suggestions.ask = ask_values
        self.form, self.head = form, head
        self.strict = self._unfolded = False
        fields = shown_fields(form) if head is not None else ()
        self._where = fields[0].path if fields else NONE
        self._begin_edit()
        self.rebuild()
        self._suggest()
        self.scroll_to(y=0, animate=False)

    def note(self, path: Path, note: FieldNote = NO_NOTE) -> None:
        """Say something about a field besides its schema."""
        if self._notes.get(path, NO_NOTE) != note:
            self._notes[path] = note
            self.rebuild()

    @property
    def current(self) -> FormField | None:
        return self._fields.get(self._where)

    @property
    def is_empty(self) -> bool:
        return not shown_fields(self.form)

    def go_to_problem(self) -> None:
        """Move the cursor to the first invalid field."""
        self.strict = True
        path = next((path for path, field in self._fields.items() if field.problem), None)
        self.rebuild()
        if path is not None:
            self.go_to(path)

    def rebuild(self) -> None:
        if not self.is_mounted:
            return
        fields = shown_fields(self.form) if self.head is not None else ()
        self._fields = {one.path: one for one in fields}
        if self._where not in self._fields and self._where not in (NONE, MORE):
            above = (self._where[:end] for end in range(len(self._where), 0, -1))
            self._where = next((path for path in (*above, *self._fields) if path in self._fields), NONE)
            self._begin_edit()
        self.can_focus = bool(fields) or self._is_open
        count = len(self._lines)
        self._lines = [] if self.head is None else self._lay_out(self.head, fields)
        if len(self._lines) != count and self.styles.is_auto_height:
            self.refresh(layout=True)
        self.cursor = next((n for n, line in enumerate(self._lines) if line.path == self._where), 0)
        self.rows_changed()

    @property
    def _is_open(self) -> bool:
        """Whether the user may add arguments of any name."""
        whole = self.form.field(())
        return self.head is not None and whole is not None and whole.kind is FieldKind.MAP

    def _lay_out(self, head: FormHead, fields: tuple[FormField, ...]) -> list[FormLine]:
        look = self._look
        laid_out = (head, look.columns, self._unfolded)
        if laid_out != self._laid_out:  # a long description takes time: not at each key
            self._laid_out = laid_out
            self._head_rows = head.rows(look.columns, unfolded=self._unfolded)
        empty = head.empty
        if self._is_open and empty:
            empty = _("The schema names no arguments. {key} adds one.", key=look.key("form.add"))
        edits, notes = {self._where: self._edit}, self._notes
        drawn = [FieldRows(one, look, edits.get(one.path), notes.get(one.path, NO_NOTE)) for one in fields]
        rows = (*wrap(((empty, "dim"),), look.columns, first=(("  ", ""),)), EMPTY) if empty else ()
        return form_lines(self._head_rows, drawn, self._suggestions, rows)

    @property
    def _look(self) -> FormLook:
        columns, key = min(self.columns, WIDEST), self._keys.first_of
        return FormLook(columns, key, self.strict, self.has_focus, self._types)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._lines)

    def row_count(self) -> int:
        return len(self._lines)

    def row(self, index: int) -> Row:
        return self._lines[index].row

    def row_selectable(self, index: int) -> bool:
        return index < len(self._lines) and self._lines[index].path is not None

    def row_ground(self, index: int) -> str:
        """Highlight only rows that are not fields: an input has an edge."""
        return "cursor" if self._where == MORE and index == self.cursor and self.has_focus else ""

    def rewrap(self) -> None:
        self.rebuild()

    def on_focus(self) -> None:
        def reveal() -> None:
            self.rebuild()
            self._suggest()
            if self._where != NONE:
                self._show_field()

        self.call_later(reveal)

    def on_resize(self, event: events.Resize) -> None:
        if self._where != NONE:
            self.call_later(self._show_field)

    def on_blur(self) -> None:
        self._suggestions.forget()
        self.call_later(self.rebuild)

    def on_unmount(self) -> None:
        self._suggestions.forget()

    def _suggest(self) -> None:
        """Request suggestions for the current field."""
        field = self.form.field(self._where)
        if field is None or not field.is_typed or not self.has_focus:
            self._suggestions.forget()
            return
        given, _ = self.form.value()
        members = given.items() if isinstance(given, dict) else ()
        others = {name: text for name, text in members if name != field.name and isinstance(text, str)}
        self._suggestions.look(field.name, field.text, others)

    def _take_suggestion(self, value: str) -> None:
        self._suggestions.close()
        self.set_text(self._where, value)

    def close_suggestions(self) -> bool:
        """Close the list of suggested values; return whether it was open."""
        if was_open := self._suggestions.close():
            self.rebuild()
        return was_open

    def go_to(self, path: Path, *, replace: bool = False) -> None:
        """Move the cursor to a field; with `replace`, typing replaces its text."""
        self._where = path
        self._begin_edit()
        self._edit.selected = replace
        self.post_message(self.Moved())
        self._suggest()
        self.rebuild()
        self._show_field()

    def _show_field(self) -> None:
        """Scroll to show all rows of the current field; for the first one, also the description."""
        mine = [n for n, line in enumerate(self._lines) if line.owner == self._where] or [self.cursor]
        first = min(mine[0], self.cursor)
        is_first = not any(line.path is not None for line in self._lines[:first])
        self.show_row(0 if is_first and self.cursor < self.page else first, mine[-1] - first + 1)
        self.show_row(self.cursor)

    def _begin_edit(self) -> None:
        field = self.form.field(self._where)
        self._edit = LineEdit.at_end(field.text if field is not None and field.is_typed else "")

    def cursor_moved(self, index: int) -> None:
        path = self._lines[index].path
        if path is not None and path != self._where:
            self.go_to(path)

    def set_text(self, path: Path, text: str) -> None:
        self._do(lambda form: form.set(path, text))

    def row_clicked(self, index: int, x: int) -> None:
        """Go to the clicked field. A click on a value selects it, a second click acts like enter."""
        line = self._lines[index] if index < len(self._lines) else FormLine(())
        if (suggested := self._suggestions.at(line.suggestion)) is not None:
            self._take_suggestion(suggested)
            return
        path = line.owner or line.path
        if path is None:
            return
        is_input, again = line.path is not None, path in (self._where, MORE)
        if path != self._where:
            self.go_to(path)
        field = self.current
        option = FieldRows(field, self._look).option_at(x) if field is not None and is_input else None
        if field is not None and option is not None:
            self._take_option(field, option)
        elif not again or not is_input:
            return
        elif field is not None and field.kind in HOLDERS and field.state is not FieldState.SET:
            self._do(lambda form: form.include(field.path))
        elif field is not None and field.kind is FieldKind.ARRAY:
            self._add_to(field)
        else:
            self.action_form_choose()

    def _take_option(self, field: FormField, label: str) -> None:
        if field.kind in HOLDERS:
            self._do(lambda form: form.choose_arm(field.path, field.arms.index(label)))
        else:
            self.set_text(field.path, label)

    def _do(self, change: Callable[[Form], object]) -> None:
        """Change the form with something else than typing."""
        change(self.form)
        self._begin_edit()
        self._changed()

    def action_form_next(self) -> None:
        """Go to the next field, or from the last one to the next pane."""
        if not self._step(1):
            self.screen.focus_next()

    def action_form_previous(self) -> None:
        if not self._step(-1):
            self.screen.focus_previous()

    async def _on_key(self, event: events.Key) -> None:
        """Handle a key at once, so that keys of one burst act in order."""
        field = self.current
        typed = field is not None and field.is_typed and field.state is not FieldState.NULL
        action = self._actions.get(event.key)
        letter = event.character if event.is_printable and event.character else ""
        suggested = self._suggestions.is_open and self._suggestion_key(event.key, action)
        if suggested or (letter and field is not None and self._type(field, letter)):
            pass
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
        text, field = event.text.replace("\r\n", "\n").replace("\r", "\n"), self.current
        lines = self._list_of_lines
        if lines is not None and "\n" in text.strip("\n"):
            event.stop()
            for line in filter(None, text.split("\n")):
                if (path := self.form.add(lines)) is not None:
                    self.form.set(path, line)
            self.added(self._where)
        elif field is not None and field.is_typed:
            event.stop()
            self._edit.insert(text.strip("\n") if lines is not None else text)
            self._typed()

    @property
    def _list_of_lines(self) -> Path | None:
        """The path of the current list of lines, on its heading or on a line."""
        found = (one for one in (self._where, self._where[:-1]) if one in self._fields)
        return next((path for path in found if self._fields[path].spec.format == LINES), None)

    def take(self, event: events.Key) -> None:
        """Type a letter that the dialog has received before the form had the focus."""
        if self.current is not None and event.is_printable and event.character:
            event.stop()
            self._type(self.current, event.character)

    def _type(self, field: FormField, letter: str) -> bool:
        """Type a letter into a field; return False if it is none for it."""
        if field.is_typed:
            self._edit.insert(letter)
            self._typed()
        elif letter == " ":
            self._turn(field, "right")
        elif label := self._type_ahead.choose(field.labels, field, letter):
            self._take_option(field, label)
        elif field.kind in HOLDERS:
            self._type_within(field, letter)
        elif letter.isalnum():
            self.app.notify(_("No choice starts with “{letter}”.", letter=clean_line(letter)), timeout=3)
        else:  # a key such as ?
            return False
        return True

    def _type_within(self, field: FormField, letter: str) -> None:
        """Type on the heading of a list, map or object: into a new item, a new name, or its first text."""
        if field.kind is not FieldKind.OBJECT:
            self._add_to(field, letter)
        elif field.state is not FieldState.SET:
            self._do(lambda form: form.include(field.path))
        within = below(self._fields, field.path) if field.kind is FieldKind.OBJECT else ()
        for found in (self.current, *within):
            if found is not None and found.is_typed:
                self.go_to(found.path)
                self._type(found, letter)
                return

    def _typed(self, *, was_empty: bool = False) -> None:
        if (field := self.current) is None:
            return
        if was_empty and not self._edit.text and not field.text:
            self.form.clear(field.path)
        else:
            self.form.set(field.path, self._edit.text)
        self._changed()

    def _turn(self, field: FormField, key: str) -> None:
        if key in ("left", "right"):
            self._do(lambda form: form.turn(field.path, 1 if key == "right" else -1))
        elif any(one.state is not FieldState.ABSENT for one in below(self._fields, field.path)):
            key = self._keys.first_of("form.remove")
            self.app.notify(_("Press {key} to clear all of it.", key=key), timeout=4)
        else:
            self.form.clear(field.path)
            self._changed()

    def action_form_choose(self) -> None:
        """Run the default action of the current row: unfold, choose in a list, or go on."""
        field = self.current
        if self._where == MORE:
            self._unfolded = True
            self._where = next(iter(self._fields), NONE)
            self._begin_edit()
            self.rebuild()
        elif field is None:
            self.action_form_next()
        elif field.kind is FieldKind.CHOICE and not FieldRows(field, self._look).options:
            self._choose(field)
        elif field.path[:-1] == self._list_of_lines and field.text:
            self.added(self.form.add(field.path[:-1]))
        else:
            self.action_form_next()

    def _choose(self, field: FormField) -> None:
        """Let the user choose a value of a list that is too long to be shown side by side."""

        def chosen(label: str | None) -> None:
            if label is not None:
                self.set_text(field.path, label)
                self.action_form_next()

        own = FieldRows(field, self._look).own
        labels = [one.label for one in field.spec.choices]
        choices = [(label, Content(own(clean_line(label, 80)) or '""')) for label in labels]
        title = own(clean_line(field.name, 40)) or _("Value")
        self.app.push_screen(Picker(title, choices, field.text, at=self.place_of_row()), chosen)

    def action_form_add(self) -> None:
        """Add an item or entry to the nearest list or object that has room for one, or to the arguments."""
        path = self._where if self._where in self._fields else ()
        around = [one for end in range(len(path), -1, -1) if (one := self.form.field(path[:end])) is not None]
        wanting = [one for one in around if one.takes_more] or [one for one in around if one.spec.open]
        for found in ([one for one in wanting if not one.is_full] or wanting)[:1]:
            self._add_to(found)

    def _add_to(self, field: FormField, name: str = "") -> None:
        opens = field.kind is FieldKind.OBJECT and field.state is not FieldState.SET
        if field.is_full:
            problem = size_problem(field.spec, len(field.children) + 1)
            name = clean_line(field.name, 60) or _("This")
            said = _("{name} {problem}.", name=name, problem=localized(problem))
            self.app.notify(said, timeout=3, markup=False)
        elif field.kind is FieldKind.ARRAY or opens:  # what an object declares needs no name
            self.added(self.form.add(field.path))
        else:
            self.post_message(self.NameWanted(field, name))

    def added(self, path: Path | None) -> None:
        if path is None:
            self.app.notify(_("Nothing to add here."), timeout=3)
            return
        self._changed()
        first = next((one for one in self._fields if one[: len(path)] == path and len(one) > len(path)), path)
        self.go_to(first)

    def action_form_remove(self) -> None:
        self._do(lambda form: form.remove(self._where))

    def action_form_cycle(self) -> None:
        self._do(lambda form: form.cycle(self._where))

    def _changed(self) -> None:
        field = self.form.field(self._where)
        if field is not None and field.is_typed and field.text != self._edit.text:
            self._begin_edit()
        self._suggest()
        self.rebuild()
        self.post_message(self.Changed())
