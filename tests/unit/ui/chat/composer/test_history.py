"""The history of messages."""

from tui.ui.chat.composer.history import MOST, InputHistory, earlier_rows
from tui.ui.widgets.rows import text_of


def test_a_message_repeated_at_once_is_added_only_once():
    history = InputHistory()
    for text in "aaba":
        history.add(text)
    assert len(history) == 3


def test_messages_of_earlier_runs_are_prepended_without_moving_the_position():
    history = InputHistory()
    history.add("new")
    assert history.older("") == "new"
    history.begin_with(["old"])
    assert history.older("new") == "old"
    assert history.newer() == "new"


def test_a_search_returns_each_match_once_newest_first():
    history = InputHistory()
    for text in ("Milk?", "bread", "milk!", "Milk?"):
        history.add(text)
    assert history.find("MILK") == ["Milk?", "milk!"]
    assert history.find("") == ["Milk?", "milk!", "bread"]


def test_the_history_is_bounded():
    history = InputHistory()
    for number in range(MOST + 10):
        history.add(str(number))
    assert len(history) == MOST


def test_a_search_ignores_order_case_and_unicode_composition():
    history = InputHistory()
    history.add("un cafe\u0301")
    history.add("un cafe")
    assert history.find("CAFÉ un") == ["un cafe\u0301"]


def test_matches_are_highlighted():
    (row,) = earlier_rows(["buy MILK\nnow"], "now milk")
    assert [text for text, style in row if "accent" in style] == ["MILK", "now"]
    assert text_of(row) == "   buy MILK now"


def test_escape_sequences_in_an_earlier_message_are_cleaned():
    assert "\x1b" not in text_of(earlier_rows(["a\x1b[31m"], "")[0])
