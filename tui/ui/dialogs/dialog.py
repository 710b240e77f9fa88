"""Dialog: the base of every dialog, in one of two shapes: a card in the middle, or a panel at the right."""

from collections.abc import Callable, Iterable
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen, ScreenResultType
from textual.widget import Widget

from tui.core.language.translate import N_, _
from tui.ui.keys.action_table import Context, action, of_context
from tui.ui.keys.bindings import act, is_opener, overrides_of, shown_keys
from tui.ui.keys.footer import Footer, entries_of
from tui.ui.widgets.bar import KeyLine, SplitBar
from tui.ui.widgets.inputs import FINISH_INPUT, Field, PromptLine, type_into
from tui.ui.widgets.lines import LinePane
from tui.ui.widgets.literal import Literal
from tui.ui.widgets.rows import EMPTY, Row

NARROW, WIDE, LIST = "-of-narrow", "-of-wide", "-of-list"
"""The widths of a card: for a question, for texts and forms, for a list with a preview."""

PANEL, WIDE_PANEL = "-panel", "-wide-panel"
"""The widths of a panel."""

BROAD, TALL = 80, 16
"""A card is never narrower, unless the screen has fewer columns; it has no margins if that has fewer rows."""

COLUMNS, ROWS = [(0, "-narrow"), (BROAD, "-broad")], [(0, "-short"), (TALL, "-tall")]
"""The classes of a dialog on screens with at least so many columns or rows."""

AROUND = 4
"""Rows of a tall screen around the contents of a dialog: margins and padding."""

CSS = """
Dialog { align: center middle; background: $surface 80%; }
Dialog > Frame {
    width: 94%; min-width: 80; height: auto; max-height: 100%; margin: 1 0; padding: 1 2;
    background: $panel; border-left: outer $accent;
}
Dialog.-of-narrow > Frame { max-width: 80; }
Dialog.-of-wide > Frame { max-width: 110; }
Dialog.-of-list > Frame { max-width: 150; height: 90%; max-height: 46; }
Dialog.-panel, Dialog.-wide-panel { align: right middle; background: $surface 0%; }
Dialog.-panel > Frame { min-width: 0; max-width: 48; margin: 0; }
Dialog.-wide-panel > Frame { min-width: 0; max-width: 72; margin: 0; }
Dialog.-warning > Frame { border-left: outer $warn; }
Dialog.-narrow > Frame { width: 100%; min-width: 0; }
Dialog.-short > Frame { width: 100%; max-height: 100%; margin: 0; padding: 0 1; }
Dialog.-of-list.-short > Frame { height: 100%; }
Dialog #title { background: $panel; margin-bottom: 1; }
Dialog #said { width: 1fr; height: auto; max-height: 4; color: $bad; display: none; margin-top: 1; }
Dialog Literal { width: 1fr; }
Dialog .about { color: $text-dim; }
Dialog .question { text-style: bold; margin-bottom: 1; }
Dialog RowsPane { background: $panel; scrollbar-background: $panel; }
Dialog Input { background: $field; }
Dialog TextArea {
    height: auto; min-height: 3; border: none; padding: 0; background: $surface; background-tint: transparent;
}
Dialog.-short #title, Dialog.-short .question { margin-bottom: 0; }
Dialog.-short KeyLine, Dialog.-short #said { margin-top: 0; }
"""
"""The two shapes. For a screen of another base class, replace its name."""


def heading(words: str, name: str = "", note: str = "") -> Row:
    """Return the title of a dialog: `words` in capitals, a name as it is, and a note."""
    rest = tuple((f"   {text}", style) for text, style in ((name, "text bold"), (note, "dim")) if text)
    return ((words.upper(), "dim bold"), *rest)


class Frame(Vertical):
    """Parts of a dialog. `fit` is called when they have another size, such as that of a longer text."""

    def __init__(self, fit: Callable[[], object], *parts: Widget, classes: str = "") -> None:
        super().__init__(*parts, classes=classes)
        self._fit = fit

    def on_resize(self) -> None:
        self._fit()


class Dialog(ModalScreen[ScreenResultType]):
    """A dialog over the screen below, which stays visible. From top to bottom: title, parts, problem, keys.

    Of a question, the title is what it asks, in bold.

    Escape goes one step back (`step_back`), then closes it with the result None; the key that opened it
    closes it at once. What was `typed` is only discarded if that key is pressed again. Escape is labelled
    "close" in dialogs, "cancel" where it gives up what is typed or runs, and "back" on whole screens.
    """

    SHAPE: ClassVar[str] = WIDE
    OPENED_BY: ClassVar[str] = ""
    """The action that opens it, whose function and ctrl keys close it, too, however it was opened."""

    OPENS_ITSELF: ClassVar[bool] = False
    """Whether it also opens without a key of the user, so that none closes it but its own."""

    FITS: ClassVar[bool] = True
    """Whether a part with rows is as tall as they are; otherwise the dialog has a height of its own."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "back", N_("close"), priority=True)]
    HORIZONTAL_BREAKPOINTS = COLUMNS
    VERTICAL_BREAKPOINTS = ROWS
    DEFAULT_CSS = CSS

    def __init__(
        self, title: Row, *parts: Widget, keys: Widget | None = None, right: Row = EMPTY, shape: str = ""
    ) -> None:
        super().__init__(classes=f"dialog {shape or self.SHAPE}")
        self.title_line = SplitBar(title, right, id="title", wraps=True)
        self.said = Literal("", id="said")
        self._shown, self._key_line = parts, keys
        self._known: list[object] = []  # what was typed at first; last key to leave, and what was typed
        self.opened_with = ""

    def compose(self) -> ComposeResult:
        with Frame(self.fit):
            if self.title_line.left:
                yield self.title_line
            yield from self._shown
            yield self.said
            if self._key_line is not None:
                yield self._key_line

    def on_mount(self) -> None:
        self._known = [self.typed()]

    def key_line(
        self, *first: tuple[str, str], last: Iterable[tuple[str, str]] = (), **labels: str
    ) -> KeyLine:
        """Return the keys of the bindings, with these labels for some, between keys of a field or the app."""
        return KeyLine([*first, *shown_keys([*self.BINDINGS, *Dialog.BINDINGS], **labels), *last])

    def say(self, problem: str) -> None:
        """Show a problem above the keys; "" removes it."""
        self.said.show(f"! {problem}")
        self.said.display = bool(problem)
        self.fit()

    @property
    def early_field(self) -> Field | None:
        """The field for letters that were typed before it had the focus."""
        return next(iter(self.query(Field)), None)

    def on_key(self, event: events.Key) -> None:
        if (field := self.early_field) is not None:
            type_into(field, event)

    # ---- size ----

    def on_resize(self) -> None:
        self.fit()

    def fit(self) -> None:
        """Give parts the rows that they need, once the last changes are laid out."""
        self.call_after_refresh(self.fit_now)

    def fit_now(self) -> None:
        """Make the part that scrolls as tall as its rows, as far as the screen has room."""
        for part in self._shown:
            if self.FITS and isinstance(part, LinePane):
                part.styles.height = max(1, min(part.row_count(), self.room_for(part)))

    def room_for(self, part: Widget, beside: Iterable[tuple[Widget, int]] = ()) -> int:
        """Return the rows that the screen has for a part. `beside`: heights that are not laid out yet."""
        known = dict(beside)
        others = sum(
            known.get(one, one.outer_size.height) + one.styles.margin.height
            for frame in self.query(Frame)[:1]
            for one in frame.children
            if one.display and one is not part
        )
        rows = self.app.size.height
        return max(3, rows - (AROUND if rows >= TALL else 0) - others - part.styles.margin.height)

    # ---- leaving ----

    def typed(self) -> object:
        """Return what the user can type, to compare: it is not discarded without asking."""
        return None

    def step_back(self) -> bool:
        """Close something inside, such as a menu, or clear a filter; return whether there was something."""
        return False

    def action_back(self) -> None:
        if not self.step_back():
            self.leave("esc")

    def leave(self, key: str) -> None:
        if self.may_leave(key):
            self.close()

    def may_leave(self, key: str) -> bool:
        """Return whether nothing was typed, otherwise say that pressing `key` again discards it."""
        if not self._known or (typed := self.typed()) == self._known[0] or self._known[1:] == [key, typed]:
            return True
        self._known[1:] = [key, typed]
        self.say(_("Press {key} again to discard your changes.", key=key))
        return False

    def close(self) -> None:
        if self.is_current:
            self.dismiss(None)

    def closes_on(self, event: events.Key) -> bool:
        """Return whether a key is a function or ctrl key that opens this dialog."""
        bound = self.active_bindings.get(event.key)
        if self.OPENS_ITSELF or (bound is not None and bound.node is self):
            return False
        keys = overrides_of(self.app).keys_of(action(self.OPENED_BY)).split(",") if self.OPENED_BY else []
        return is_opener(event.key) and event.key in (self.opened_with, *keys)


class ViewScreen(ModalScreen[ScreenResultType]):
    """Shows a body, which has the focus, between a title and the keys of its context.

    `heads` is a line above the body, `prompt` one below it, to which every key goes while it is open. `look`
    is called `LOOKS_PER_SECOND` times a second.
    """

    CONTEXTS: ClassVar[tuple[Context, ...]]
    LOOKS_PER_SECOND = 0

    DEFAULT_CSS = """
    ViewScreen { background: $surface; layout: vertical; }
    ViewScreen > Bar { padding: 0 1; background: $panel; }
    ViewScreen > #heads { background: $surface; padding: 0; }
    ViewScreen > LinePane { height: 1fr; background: $surface; }
    ViewScreen > Page, ViewScreen > LogLines { padding: 0 1; }
    """

    def __init__(
        self, body: Widget, *, heads: SplitBar | None = None, prompt: PromptLine | None = None
    ) -> None:
        super().__init__()
        self._line, self.opened_with = prompt, ""
        self._parts = [widget for widget in (heads, body, prompt) if widget is not None]
        self.body, self._title, self._keys = body, SplitBar(), Footer()

    def compose(self) -> ComposeResult:
        yield self._title
        yield from self._parts
        yield self._keys

    def on_mount(self) -> None:
        if self.body.focusable:
            self.set_focus(self.body, scroll_visible=False)
        self.show_keys()
        self.look()
        if self.LOOKS_PER_SECOND:
            self.set_interval(1 / self.LOOKS_PER_SECOND, self.look)

    def show_keys(self, **labels: str) -> None:
        """Show the keys, some of them with other `labels`, as `entries_of` has them."""
        self._keys.show(entries_of(of_context(self.CONTEXTS[0]), overrides_of(self.app), **labels))

    def look(self) -> None:
        """Show changes; cheap if there are none."""

    def stays(self) -> str:
        """Return why the screen cannot be closed for another, or ""."""
        return FINISH_INPUT if self._line is not None and self._line.display else ""

    def closes_on(self, event: events.Key) -> bool:
        """Return whether a function or ctrl key opened the screen, so that it closes it, too."""
        return event.key == self.opened_with and not self.stays()

    def leave(self, key: str) -> None:
        self.dismiss(None)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        is_typing = action == "act" and self._line is not None and self._line.display
        return not is_typing and super().check_action(action, parameters)

    async def action_act(self, action_id: str) -> None:
        await act(self, action_id)

    def action_back(self) -> None:
        self.dismiss(None)
