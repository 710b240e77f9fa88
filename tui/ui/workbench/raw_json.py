"""The arguments as raw JSON, in step with the form."""

from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.widgets import TextArea

from tui.ui.keys.actions import Context, KeysOf, of_context
from tui.ui.platform.keys_in_order import act_at_once


class RawJson(TextArea):
    """A text area whose own keys give way to those of the workbench."""

    BINDINGS: ClassVar[list[BindingType]] = []

    DEFAULT_CSS = "RawJson { border: none; padding: 0 1; }"

    def __init__(self, keys: KeysOf) -> None:
        super().__init__(id=None, compact=True, show_line_numbers=True, tab_behavior="focus")
        self.set_reactive(TextArea.cursor_blink, False)
        self._doing = {
            key: found.method
            for found in of_context(Context.WORKBENCH)
            for key in keys.keys_of(found).split(",")
        }

    async def _on_key(self, event: events.Key) -> None:
        """Act on the keys of the workbench in the order in which they were pressed."""
        await act_at_once(self, event, self._doing, super()._on_key)
