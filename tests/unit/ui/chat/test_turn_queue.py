"""The rows of queued messages."""

from tui.ui.chat.turn_queue import held_rows
from tui.ui.widgets.rows import text_of


def test_queued_messages_are_counted_and_the_last_is_shown():
    (told, sent) = held_rows(["one", "two"], ["now"])
    assert text_of(told) == " 1 message queued for the next step   now"
    assert text_of(sent) == " 2 messages queued   two"
    assert held_rows([], []) == []
