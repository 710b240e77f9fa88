"""Inputs: a one-line field, the button of a form, and an input line at the bottom of a screen."""

from collections.abc import Awaitable, Callable, Hashable, Mapping
from typing import ClassVar, TypeVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.geometry import Offset
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import Input, TextArea

from tui.core.language.translate import N_, _
from tui.ui.platform.key_order import act_at_once, actions_of
from tui.ui.widgets.bar import Bar
from tui.ui.widgets.drafts import Draft
from tui.ui.widgets.literal import Literal
from tui.ui.widgets.rows import Row, width_of

_ACTIONS = actions_of(Input.BINDINGS)
_Saved = TypeVar("_Saved")


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
            self.app.notify(_("A secret is not copied."), timeout=3)
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


LIST_KEYS: list[BindingType] = [
    Binding("down", "step(1)", "down", show=False, priority=True),
    Binding("up", "step(-1)", "up", show=False, priority=True),
    Binding("pagedown", "page(1)", "page down", show=False, priority=True),
    Binding("pageup", "page(-1)", "page up", show=False, priority=True),
]
"""Keys of a list under a field. Handled late, from the queue of the field, they would act on another list."""


def type_into(field: Input, event: events.Key) -> None:
    """Insert a character that a dialog received, because its field appeared later, and stop the event."""
    if event.is_printable and event.character:
        event.stop()
        event.prevent_default()
        field.insert_text_at_cursor(event.character)


def choice(words: str, chosen: bool, focused: bool, mark: str = "•") -> Row:
    """Return one of several values that are shown next to each other."""
    style = ("accent bold" if focused else "text bold") if chosen else "dim"
    return ((f"({mark if chosen else ' '}) {words}  ", style),)


class Button(Bar, can_focus=True):
    """A button: enter, space, a click, or from anywhere in the form its key press it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,space", "press", N_("Press")),
        Binding("up", "app.focus_previous", N_("Previous field")),
        Binding("down", "app.focus_next", N_("Next field")),
    ]

    DEFAULT_CSS = """
    Button { width: auto; min-width: 8; height: 1; }
    """

    def __init__(self, label: str, key: str, pressed: Callable[[], object]) -> None:
        super().__init__()
        self.label = label
        self.key = key
        self._pressed = pressed

    def row(self, width: int) -> Row:
        words, key = ("accent bold", "accent") if self.has_focus else ("text bold", "dim")
        ground = "reverse" if self.has_focus else "on field"
        return ((f"  {self.label}  ", f"{words} {ground}"), (f"{self.key}  ", f"{key} {ground}"))

    def get_content_width(self, container: object, viewport: object) -> int:
        return width_of(self.row(0))

    def action_press(self) -> None:
        self._pressed()

    def on_click(self, event: events.Click) -> None:
        event.stop()
        self._pressed()


FINISH_INPUT = N_("Finish the input line first: press enter or esc.")
"""Why a screen cannot be closed while its input line is open."""


def _accept(text: str) -> str:
    return ""


class PromptLine(Horizontal):
    """Asks for one line, then returns the focus to where it was. A line that is given up stays as a draft."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "cancel", N_("cancel"), priority=True)]

    LINE_KEYS = (("enter", N_("accept")), ("esc", N_("cancel")))
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
        self._searches = False
        self._draft = Draft()
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
        about: Hashable = "",
        placeholder: str = "",
        typed: Callable[[str], object] = _accept,
        searches: bool = False,
        check: Callable[[str], str] = _accept,
    ) -> None:
        """Ask for a line and call `done` with it. A draft is of a screen, a label and what it is `about`.

        `typed` is called at each change. If it `searches`, typing replaces `value`, otherwise it appends, and
        cancelling calls `done` with "". `check` returns the problem of a line, so that the user can
        correct it, or "".
        """
        self._keep_draft()
        self._draft = draft = Draft(self.app, (type(self.screen), label, about or value), value)
        self._label.show(draft.label(label))
        self._done, self._typed, self._searches, self._check = done, typed, searches, check
        self._problem.display = False
        with self.prevent(Input.Changed):
            self._input.value = draft.text
        self._input.placeholder = placeholder
        self._input.select_on_focus = searches
        self._input.cursor_position = len(draft.text)
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
        self._draft.drop()
        self._close()
        self._done(event.value)

    def on_descendant_blur(self, event: events.DescendantBlur) -> None:
        """Cancel when the focus moves elsewhere in the app, but not if the terminal loses the focus."""
        if self.display and self.app.app_focus and not self._input.has_focus:
            self._keep_draft()
            self.display = False
            if self._searches:
                self._done("")

    async def saving(self, work: Awaitable[_Saved]) -> _Saved:
        """Await what saves the accepted line. If it fails, the line stays as a draft."""
        draft, text = self._draft, self._input.value
        try:
            return await work
        except Exception:
            draft.keep(text)
            raise

    def _keep_draft(self) -> None:
        if self.display:
            self._draft.keep(self._input.value)

    def action_cancel(self) -> None:
        self._keep_draft()
        self._close()
        if self._searches:
            self._done("")

    def _close(self) -> None:
        self.display = False
        if self._back is not None and self._back.is_attached:
            self.screen.set_focus(self._back, scroll_visible=False)


class LinesField(TextArea):
    """A text area that survives an undo that removes the line with the cursor, and is painted as wrapped.

    Textual 8.2.8 scrolls to the cursor before it moves it back into the text, which ends the app, and paints
    a text that is wrapped to another width only if its height changes, with the cursor anywhere.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("shift+enter,ctrl+j,alt+enter", "newline", "newline", show=False)
    ]

    DEFAULT_CSS = """
    LinesField .text-area--cursor { color: $input-cursor-foreground; background: $input-cursor-background; }
    LinesField .text-area--gutter, LinesField .text-area--placeholder { color: $text-dim; }
    LinesField .text-area--cursor-gutter { color: $foreground; }
    LinesField .text-area--matching-bracket { background: transparent; text-style: bold underline; }
    """

    cursor_blink = reactive(False, init=False)
    doing: Mapping[str, str] = actions_of([*TextArea.BINDINGS, *BINDINGS])
    """Actions to run in the order of the keys, also in a burst, by key."""

    async def _on_key(self, event: events.Key) -> None:
        await act_at_once(self, event, self.doing, super()._on_key)

    def action_undo(self) -> None:
        """Undo the last edit."""
        if self.history.undo_stack:
            super().action_undo()
        else:
            self.app.notify(_("Nothing to undo."), timeout=3)

    @property
    def can_undo(self) -> bool:
        """Whether the key for undo is meant for the text; in an empty one without edits, it suspends."""
        return bool(self.text or self.history.undo_stack)

    def on_resize(self) -> None:
        self.refresh()
        self.call_later(self.scroll_cursor_visible)  # once the text is wrapped to the new width

    def action_newline(self) -> None:
        self.insert("\n")

    def scroll_cursor_visible(self, center: bool = False, animate: bool = False) -> Offset:
        if self.cursor_location[0] >= self.document.line_count:
            return Offset(0, 0)
        return super().scroll_cursor_visible(center, animate)


class JsonArea(LinesField):
    """A text edited as JSON. Some keys run `actions`, by key, before the text area sees them."""

    BINDINGS: ClassVar[list[BindingType]] = []

    def __init__(self, actions: Mapping[str, str]) -> None:
        super().__init__(id=None, compact=True, show_line_numbers=True, tab_behavior="focus")
        self.doing = actions
