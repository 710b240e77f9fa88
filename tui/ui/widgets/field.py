"""Keys that come before a field can take them.

A dialog is on the screen at once and its field a moment later. Who types quickly, and every script, has
sent letters by then; Textual gives them to the dialog, where they would be lost.
"""

from textual import events
from textual.widgets import Input


def type_into(field: Input, event: events.Key) -> None:
    """Write a letter that came to the dialog into its field, and let nothing else have it."""
    if event.is_printable and event.character:
        event.stop()
        event.prevent_default()
        field.insert_text_at_cursor(event.character)
