"""Field: an input for one line, whose keys act in the order in which they were pressed."""

from textual import events
from textual.binding import Binding
from textual.widgets import Input

from tui.ui.platform.keys_in_order import act_at_once

_ACTIONS = {
    binding.key: binding.action for binding in Binding.make_bindings(Input.BINDINGS) if len(binding.key) > 1
}


class Field(Input):
    """Textual's Input, for keys that arrive in one burst (typed ahead, sent by a program)."""

    HANDS_ON = True
    """Enter or escape may move the focus: the next key waits until that is done."""

    async def _on_key(self, event: events.Key) -> None:
        await act_at_once(self, event, _ACTIONS, super()._on_key)


def type_into(field: Input, event: events.Key) -> None:
    """Insert a character that a dialog received into its field, and stop the event.

    A dialog is on the screen at once, its field a moment later. Characters typed in between go to the dialog,
    where they would be lost.
    """
    if event.is_printable and event.character:
        event.stop()
        event.prevent_default()
        field.insert_text_at_cursor(event.character)
