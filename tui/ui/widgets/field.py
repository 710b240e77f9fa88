"""A field for one line of text, whose keys act in the order in which they were pressed."""

from textual import events
from textual.binding import Binding
from textual.widgets import Input

_DOING = {
    binding.key: binding.action for binding in Binding.make_bindings(Input.BINDINGS) if len(binding.key) > 1
}


class Field(Input):
    """Textual's input, for keys that come in one burst (typed ahead, sent by a program).

    Textual inserts letters in the field but runs bindings later, in the app: a backspace would delete the
    letter after it, and an enter would come behind all of them.
    """

    HANDS_ON = True
    """What it posts at enter or escape may hand the focus on: the next key waits until that is done."""

    async def _on_key(self, event: events.Key) -> None:
        action = _DOING.get(event.key)
        if action is not None and await self.app.run_action(action, self):
            event.stop()
            event.prevent_default()
        elif action is None:
            await super()._on_key(event)


def type_into(field: Input, event: events.Key) -> None:
    """Write a letter that came to a dialog into its field, and let nothing else have it.

    A dialog is on the screen at once and its field a moment later. Who types quickly, and every script, has
    sent letters by then; Textual gives them to the dialog, where they would be lost.
    """
    if event.is_printable and event.character:
        event.stop()
        event.prevent_default()
        field.insert_text_at_cursor(event.character)
