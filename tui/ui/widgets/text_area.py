"""A multi-line input."""

from collections.abc import Mapping
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Offset
from textual.widgets import TextArea

from tui.ui.platform.key_order import act_at_once


class LinesField(TextArea):
    """A text area that survives an undo that removes the line with the cursor, and is painted as wrapped.

    If the scroll bar disappears, Textual 8.2.8 scrolls to the cursor before it moves it back into the text.
    The missing line then ends the app. And a text that is wrapped to another width is only painted again if
    its height changes, so that it stayed cut, with the cursor elsewhere.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("shift+enter,ctrl+j,alt+enter", "newline", "newline", show=False)
    ]

    def action_undo(self) -> None:
        """Undo the last edit."""
        if self.history.undo_stack:
            super().action_undo()
        else:
            self.app.notify("Nothing to undo.", timeout=3)

    @property
    def can_undo(self) -> bool:
        """Whether the key for undo is meant for the text; in an empty one without edits, it suspends."""
        return bool(self.text or self.history.undo_stack)

    def on_resize(self) -> None:
        self.refresh()

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
        self.set_reactive(TextArea.cursor_blink, False)
        self._actions = actions

    async def _on_key(self, event: events.Key) -> None:
        await act_at_once(self, event, self._actions, super()._on_key)
