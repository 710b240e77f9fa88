"""Dialog: the base of the dialogs at the bottom or in the middle of the screen."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen, ScreenResultType
from textual.widget import Widget

from tui.ui.keys.action_table import Context, of_context
from tui.ui.keys.bindings import act, overrides_of, shown_keys
from tui.ui.keys.footer import Footer, entries_of
from tui.ui.widgets.bar import KeyLine, SplitBar
from tui.ui.widgets.inputs import Field, PromptLine, type_into
from tui.ui.widgets.lines import LinePane
from tui.ui.widgets.rows import Row


class Dialog(ModalScreen[ScreenResultType]):
    """A panel over the screen below, which stays visible; escape closes it with the result None.

    `parts` are its widgets, from top to bottom.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "back", "back", priority=True)]

    DEFAULT_CSS = """
    Dialog { align: center bottom; background: $surface 60%; }
    Dialog > Vertical {
        width: 100%; height: auto; max-height: 90%; padding: 1 3; margin: 0 0 3 0;
        background: $panel; border-left: outer $accent;
    }
    Dialog Literal { width: 1fr; }
    Dialog Input { background: $panel; background-tint: transparent; }
    Dialog .about { color: $text-dim; }
    """

    def __init__(self, *parts: Widget) -> None:
        super().__init__()
        self._parts = parts

    def compose(self) -> ComposeResult:
        yield Vertical(*self._parts)

    def key_line(
        self, *first: tuple[str, str], last: Iterable[tuple[str, str]] = (), **labels: str
    ) -> KeyLine:
        """Return the keys of the bindings, with these labels for some, between keys of a field or the app."""
        return KeyLine([*first, *shown_keys([*self.BINDINGS, *Dialog.BINDINGS], **labels), *last])

    def on_key(self, event: events.Key) -> None:
        """Type a key that arrived before the field had the focus."""
        for field in self.query(Field):
            type_into(field, event)

    def action_back(self) -> None:
        self.dismiss(None)


class RowsPane(LinePane):
    """Shows the rows that a function lays out for a width in cells."""

    FOLLOWS = False

    def __init__(self, lay_out: Callable[[int], list[Row]]) -> None:
        super().__init__()
        self._lay_out = lay_out

    def on_mount(self) -> None:
        self.rewrap()

    def rewrap(self) -> None:
        self._shown_rows = self._lay_out(max(20, self.columns))
        self.rows_changed()


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
        self, body: LinePane, *, heads: SplitBar | None = None, prompt: PromptLine | None = None
    ) -> None:
        super().__init__()
        self._line = prompt
        self._parts = [widget for widget in (heads, body, prompt) if widget is not None]
        self.body, self._title, self._keys = body, SplitBar(), Footer()

    def compose(self) -> ComposeResult:
        yield self._title
        yield from self._parts
        yield self._keys

    def on_mount(self) -> None:
        self.set_focus(self.body, scroll_visible=False)
        self.show_keys()
        self.look()
        if self.LOOKS_PER_SECOND:
            self.set_interval(1 / self.LOOKS_PER_SECOND, self.look)

    def show_keys(self, **labels: str) -> None:
        """Show the keys. `labels` replace those of actions, by the last part of their ids; "" hides one."""
        actions = of_context(self.CONTEXTS[0])
        named = [replace(one, label=labels.get(one.id.partition(".")[2], one.label)) for one in actions]
        self._keys.show(entries_of((one for one in named if one.label), overrides_of(self.app)))

    def look(self) -> None:
        """Show changes; cheap if there are none."""

    def stays(self) -> str:
        """Return why the screen cannot be closed for another, or ""."""
        return ""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        is_typing = action == "act" and self._line is not None and self._line.display
        return not is_typing and super().check_action(action, parameters)

    async def action_act(self, action_id: str) -> None:
        await act(self, action_id)

    def action_back(self) -> None:
        self.dismiss(None)
