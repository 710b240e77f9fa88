"""Inputs: the fields of a dialog with labels and button, and an input line at the bottom of a screen.

`ui/workbench/form_pane.py` draws the forms of schemas in the same style, with rows. `PromptLine` asks for a
search, a note or a name.
"""

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static

from tui.core.text import clean_line
from tui.ui.platform.key_order import act_at_once
from tui.ui.widgets.bar import Bar, part_at
from tui.ui.widgets.literal import Literal
from tui.ui.widgets.rows import Row, width_of

_ACTIONS = {
    binding.key: binding.action for binding in Binding.make_bindings(Input.BINDINGS) if len(binding.key) > 1
}


_STEPS = {"right": "step(1)", "space": "step(1)", "left": "step(-1)", "enter": "app.focus_next"}


class Field(Input):
    """Textual's Input, but correct for keys that arrive in one burst (typed ahead, sent by a program)."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+s,ctrl+enter", "submit", show=False)]

    HANDS_ON = True
    """Enter or escape may move the focus, so the next key waits until that is done."""

    WRITES_FIRST = True
    """A key of the surrounding dialog waits until earlier letters are written."""

    async def _on_key(self, event: events.Key) -> None:
        await act_at_once(self, event, _ACTIONS, super()._on_key)

    def action_copy(self) -> None:
        """Copy the selection, unless it is a secret: other programs can read the clipboard."""
        if self.password and self.selected_text:
            self.app.notify("A secret is not copied.", timeout=3)
        else:
            super().action_copy()

    def action_cut(self) -> None:
        """Cut the selection. A secret is only deleted."""
        if self.password:
            self.delete_selection()
        else:
            super().action_cut()

    def on_resize(self) -> None:
        """Show the cursor. Textual shows the beginning of the value that an input is created with."""
        if self.has_focus and self.cursor_at_end:
            self.scroll_to(x=self.max_scroll_x, animate=False)


def type_into(field: Input, event: events.Key) -> None:
    """Insert a character that a dialog received into its field, and stop the event.

    A dialog appears at once, its field a moment later. Characters typed in between are sent to the dialog,
    where they would be lost.
    """
    if event.is_printable and event.character:
        event.stop()
        event.prevent_default()
        field.insert_text_at_cursor(event.character)


class FormField(Vertical):
    """A field of a form: label and type, the input, its description, and a row for an error.

    The row for the error always exists, so that an error of one line moves nothing. A note, which
    stays, has a blank line below it.

    Args:
        label: the name of the field.
        control: the input, for instance a `Field`, a text area or `Choices`.
        kind: its type, shown next to the label.
        required: whether to show `required` next to the type.
        about: the description, always shown below the input.
    """

    DEFAULT_CSS = """
    FormField { width: 1fr; height: auto; }
    FormField > .form-label { width: 1fr; }
    FormField > .form-input {
        width: 1fr; height: auto; padding: 0 1; background: $field; border-left: outer $rule;
    }
    FormField > .form-input:focus-within { border-left: outer $accent; }
    FormField.-wrong > .form-input { border-left: outer $bad; }
    FormField > .form-input Input, FormField > .form-input TextArea {
        background: $field; background-tint: transparent;
    }
    FormField > .form-input TextArea { height: auto; border: none; padding: 0; }
    FormField > .form-about { width: 1fr; padding: 0 0 0 2; color: $text-dim; }
    FormField > .form-error { width: 1fr; height: auto; min-height: 1; padding: 0 0 0 2; color: $warn; }
    FormField.-wrong > .form-error { color: $bad; }
    FormField.-noted > .form-error { padding: 0 0 1 2; }
    """

    def __init__(
        self, label: str, control: Widget, *, kind: str = "", required: bool = False, about: str = ""
    ) -> None:
        super().__init__()
        self.control = control
        self._label = Static(_head(label, kind, required), markup=False, classes="form-label")
        self._about = Literal(about, classes="form-about")
        self._about.display = bool(about)
        self._error = Literal("", classes="form-error")

    def compose(self) -> ComposeResult:
        yield self._label
        with Vertical(classes="form-input"):
            yield self.control
        yield self._about
        yield self._error

    def relabel(self, label: str, *, kind: str = "", required: bool = False) -> None:
        """Change label and type."""
        self._label.update(_head(label, kind, required))

    def describe(self, about: str) -> None:
        """Change the description; "" shows none."""
        self._about.show(about)
        self._about.display = bool(about)

    def complain(self, problem: str, *, is_error: bool = True) -> None:
        """Show a problem of the value, or a note; "" shows nothing."""
        self._error.show(f"! {clean_line(problem, 300)}" if problem else "")
        self.set_class(bool(problem) and is_error, "-wrong")
        self.set_class(bool(problem) and not is_error, "-noted")


def _head(label: str, kind: str, required: bool) -> Content:
    words = " · ".join((*((kind,) if kind else ()), *(("required",) if required else ())))
    parts = [(clean_line(label, 60), "bold")]
    if words:
        parts.append((f"  {clean_line(words, 120)}", "$text-dim"))
    return Content.assemble(*parts)


def takes_unknown(widget: Widget, letter: str) -> bool:
    """Say that no choice starts with a letter; return False for any other character: a key such as ?."""
    if letter.isalnum():
        widget.app.notify(f"No choice starts with “{clean_line(letter)}”.", timeout=3)
    return letter.isalnum()


class Choices(Bar, can_focus=True):
    """Values next to each other, one of them chosen.

    Left and right, space, the first letter of a value or a click choose another; enter goes on.

    Args:
        options: values, each with its label.
        chosen: the chosen value.
        changed: called after another value was chosen.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,space", "step(1)", "Next"),
        Binding("left", "step(-1)", "Previous"),
        Binding("enter", "app.focus_next", "Next field"),
    ]

    HANDS_ON = LETTERS_MOVE_FOCUS = True
    """Another value may show or hide fields, so the next key waits until that is done."""

    def __init__(
        self,
        options: Sequence[tuple[str, str]],
        chosen: str,
        changed: Callable[[], object] = lambda: None,
        *,
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self.options = tuple(options)
        self.chosen = chosen
        self._changed = changed

    def row(self, width: int) -> Row:
        return tuple(span for _, row in self._shown(width) for span in row)

    def _shown(self, width: int) -> list[tuple[str, Row]]:
        """Return the values to show, starting with the first one that keeps the chosen one visible."""
        rows = [(value, choice(words, value == self.chosen, self.has_focus)) for value, words in self.options]
        return rows[first_shown([width_of(row) for _, row in rows], self._index, width) :]

    @property
    def _index(self) -> int:
        return [value for value, _ in self.options].index(self.chosen)

    def choose(self, value: str) -> None:
        """Choose another value."""
        if value != self.chosen:
            self.chosen = value
            self.refresh()
            self._changed()

    async def _on_key(self, event: events.Key) -> None:
        await act_at_once(self, event, _STEPS, self._letter)

    async def _letter(self, event: events.Key) -> None:
        """Choose the next value that starts with a letter."""
        letter = (event.character or "").casefold()
        if not event.is_printable or letter.isspace():
            await super()._on_key(event)
            return
        after = [*self.options[self._index + 1 :], *self.options[: self._index + 1]]
        found = next((value for value, words in after if words.casefold().startswith(letter)), None)
        if found is None and not takes_unknown(self, letter):
            return
        event.stop()
        event.prevent_default()
        if found is not None:
            self.choose(found)

    def action_step(self, step: int) -> None:
        self.choose(self.options[(self._index + step) % len(self.options)][0])

    def on_click(self, event: events.Click) -> None:
        value = part_at(self._shown(self.size.width), event.x)
        if value is not None:
            self.choose(value)


def choice(words: str, chosen: bool, focused: bool, mark: str = "•") -> Row:
    """Return one of several values that are shown next to each other."""
    style = ("accent bold" if focused else "text bold") if chosen else "dim"
    return ((f"({mark if chosen else ' '}) {words}  ", style),)


def first_shown(widths: Sequence[int], chosen: int, width: int) -> int:
    """Return the index of the first part to show, so that the chosen part is within `width`."""
    first = 0
    while first < chosen and sum(widths[first : chosen + 1]) > width:
        first += 1
    return first


class Button(Bar, can_focus=True):
    """A button with its key: enter, space or a click press it.

    Args:
        label: a verb, or a verb and a noun.
        key: the key that presses it from anywhere in the form.
        pressed: called when it is pressed.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,space", "press", "Press"),
        Binding("up", "app.focus_previous", "Previous field"),
        Binding("down", "app.focus_next", "Next field"),
    ]

    DEFAULT_CSS = """
    Button { width: auto; min-width: 8; height: 1; }
    """

    def __init__(self, label: str, key: str, pressed: Callable[[], object], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.label = label
        self.key = key
        self._pressed = pressed

    def row(self, width: int) -> Row:
        return button(self.label, self.key, self.has_focus)

    def get_content_width(self, container: object, viewport: object) -> int:
        return width_of(button(self.label, self.key, False))

    def action_press(self) -> None:
        self._pressed()

    def on_click(self, event: events.Click) -> None:
        event.stop()
        self._pressed()


def button(label: str, key: str, focused: bool) -> Row:
    """Return a button as spans of a row."""
    if focused:
        return ((f"  {label}  ", "accent bold reverse"), (f"{key}  ", "accent reverse"))
    return ((f"  {label}  ", "text bold on field"), (f"{key}  ", "dim on field"))


FINISH_INPUT = "Finish the input line first: press enter or esc."
"""Why a screen cannot be closed while its input line is open."""


def _accept(text: str) -> str:
    return ""


class PromptLine(Horizontal):
    """Asks for one line, then returns the focus to where it was."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "cancel", "cancel", priority=True)]

    LINE_KEYS = (("enter", "accept"), ("esc", "cancel"))
    """Its keys in the footer: those of the screen are letters here."""

    DEFAULT_CSS = """
    PromptLine { height: 1; background: $panel; }
    PromptLine Literal { width: auto; padding: 0 1; color: $accent; }
    PromptLine .problem { color: $error; display: none; }
    PromptLine Input { width: 1fr; height: 1; border: none; padding: 0; background: $panel; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._label = Literal("")
        self._input = Field(max_length=2000, compact=True)
        self._problem = Literal("", classes="problem")
        self._back: Widget | None = None
        self._check: Callable[[str], str] = _accept
        self._typed: Callable[[str], object] = _accept
        self._done: Callable[[str], object] = _accept
        self._cancelled: Callable[[], None] | None = None
        self.display = False

    def compose(self) -> ComposeResult:
        yield self._label
        yield self._input
        yield self._problem

    def ask(
        self,
        label: str,
        done: Callable[[str], None],
        *,
        value: str = "",
        placeholder: str = "",
        typed: Callable[[str], object] = _accept,
        cancelled: Callable[[], None] | None = None,
        replaces: bool = False,
        check: Callable[[str], str] = _accept,
    ) -> None:
        """Ask for a line and call `done` with it.

        `typed` is called at each change, `cancelled` if the user cancels. With `replaces`, typing replaces
        `value`; otherwise it appends. `check` returns the problem of a line, so that the user can correct it,
        or "".
        """
        self._label.update(f"{label} ›")
        self._done, self._typed, self._cancelled, self._check = done, typed, cancelled, check
        self._problem.display = False
        with self.prevent(Input.Changed):
            self._input.value = value
        self._input.placeholder = placeholder
        self._input.select_on_focus = replaces
        self._input.cursor_position = len(value)
        if not self.display:
            self._back = self.screen.focused
        self.display = True
        # Immediately: the next key of a burst is for this line.
        self.screen.set_focus(self._input, scroll_visible=False)

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._problem.display = False
        self._typed(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if problem := self._check(event.value):
            self._problem.show(problem)
            self._problem.display = True
            return
        self._close()
        self._done(event.value)

    def on_descendant_blur(self, event: events.DescendantBlur) -> None:
        """Cancel when the focus moves elsewhere in the app, but not if the terminal loses the focus."""
        if self.display and self.app.app_focus and not self._input.has_focus:
            self.display = False
            if self._cancelled is not None:
                self._cancelled()

    def action_cancel(self) -> None:
        self._close()
        if self._cancelled is not None:
            self._cancelled()

    def _close(self) -> None:
        self.display = False
        if self._back is not None and self._back.is_attached:
            self.screen.set_focus(self._back, scroll_visible=False)
