"""A field for one line of text, whose keys act in the order in which they were pressed."""

from textual import events
from textual.binding import Binding
from textual.widgets import Input

from tui.ui.platform.keys_in_order import act_at_once

_DOING = {
    binding.key: binding.action for binding in Binding.make_bindings(Input.BINDINGS) if len(binding.key) > 1
}


class Field(Input):
    """Textual's input, for keys that come in one burst (typed ahead, sent by a program)."""

    HANDS_ON = True
    """What it posts at enter or escape may hand the focus on: the next key waits until that is done."""

    async def _on_key(self, event: events.Key) -> None:
        await act_at_once(self, event, _DOING, super()._on_key)


def type_into(field: Input, event: events.Key) -> None:
    """Write a letter that came to a dialog into its field, and let nothing else have it.

    A dialog is on the screen at once and its field a moment later. Who types quickly, and every script, has
    sent letters by then; Textual gives them to the dialog, where they would be lost.
    """
    if event.is_printable and event.character:
        event.stop()
        event.prevent_default()
        field.insert_text_at_cursor(event.character)
