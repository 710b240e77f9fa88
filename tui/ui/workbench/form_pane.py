"""The form of one item as it is filled in: the field under the cursor is typed into where it stands."""

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message

from tui.core.forms.forms import Field, FieldKind, FieldState, Path
from tui.ui.keys.actions import Context, KeysOf, of_context
from tui.ui.keys.bindings import bindings_of
from tui.ui.widgets.symbols import UNICODE, Symbols
from tui.ui.workbench.field_rows import HOLDERS, is_typed
from tui.ui.workbench.form_rows import CALL, MORE, FormRows


class FormPane(FormRows, inherit_bindings=False):
    """Shows a form and fills it in."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of(Context.BENCH_FORM),
        Binding("pageup", "pane_page_up", show=False),
        Binding("pagedown", "pane_page_down", show=False),
    ]

    class Changed(Message):
        """The arguments are other ones now."""

    class Wanted(Message):
        """The person wants something that the bench does: "call", "choose", "name" or "leave".

        Attributes:
            what: which.
            field: the field that it is about.
        """

        def __init__(self, what: str, field: Field | None = None) -> None:
            super().__init__()
            self.what = what
            self.field = field

    def __init__(self, keys: KeysOf, signs: Symbols = UNICODE, *, id: str | None = None) -> None:
        super().__init__(signs, id=id)
        self._doing = {
            key: found.method
            for context in (Context.BENCH_FORM, Context.WORKBENCH)
            for found in of_context(context)
            for key in keys.keys_of(found).split(",")
        }

    def set_text(self, path: Path, text: str) -> None:
        """Put a text into a field: what was picked."""
        self.form.set(path, text)
        self._changed()

    # ---- going about ----

    def row_clicked(self, index: int, x: int) -> None:
        """A click goes to a field; another one, or one on the line that calls, does what enter does."""
        if not self.row_selectable(index):
            return
        again = index == self.cursor or self._lines[index].path in (CALL, MORE)
        self.move_cursor(index)
        if again:
            self.action_form_choose()

    def action_form_next(self) -> None:
        """Go to the next field; behind the last one to what comes after the form."""
        if not self._step(1):
            self.screen.focus_next()

    def action_form_previous(self) -> None:
        """Go to the field before; before the first one to what comes before the form."""
        if not self._step(-1):
            self.screen.focus_previous()

    # ---- filling in ----

    async def _on_key(self, event: events.Key) -> None:
        """Act on a key at once, so that keys of one burst act in the order in which they were pressed."""
        field = self.current
        typed = field is not None and is_typed(field) and field.state is not FieldState.NULL
        action = self._doing.get(event.key)
        letter = event.character if event.is_printable and event.character else ""
        if letter and field is not None:
            self._type(field, letter)
        elif typed and action is None and self._edit.key(event.key):
            self._typed(was_empty=event.key == "backspace")
        elif field is not None and not typed and event.key in ("left", "right", "backspace", "delete"):
            self._turn(field, event.key)
        elif action is None or not await self.app.run_action(action, self):
            return
        event.stop()
        event.prevent_default()

    def on_paste(self, event: events.Paste) -> None:
        """Write what was pasted."""
        event.stop()
        if self.current is not None and is_typed(self.current):
            self._edit.insert(event.text.replace("\r\n", "\n").replace("\r", "\n"))
            self._typed()

    def _type(self, field: Field, letter: str) -> None:
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

    def _turn(self, field: Field, key: str) -> None:
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
        """Do what is next in this place: pick, unfold, add, go on, call."""
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
        """Add an item to the list or entry to the object that is nearest."""
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

    def _add_to(self, field: Field) -> None:
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
        """Take the item, or the value, away."""
        if self.current is not None:
            self.form.remove(self._where)
            self._begin_edit()
            self._changed()

    def action_form_cycle(self) -> None:
        """Take the next arm of a union, the next choice, or null."""
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

    def _next_arm(self, field: Field, direction: int) -> None:
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
        self.rebuild()
        self.post_message(self.Changed())
