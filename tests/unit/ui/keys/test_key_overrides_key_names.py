"""Names of keys, for the user and for Textual."""

import pytest

from tui.ui.keys.key_overrides import first_key, key_words, textual_key


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("?", "question_mark"),
        ("/", "slash"),
        ("ctrl+/", "ctrl+slash"),
        ("+", "plus"),
        ("ctrl++", "ctrl+plus"),
    ],
)
def test_a_character_has_the_name_that_textual_uses(key: str, name: str):
    assert textual_key(key) == name


def test_key_names_are_formatted_for_display():
    assert key_words("f1,question_mark") == "f1, ?"
    assert first_key("shift+enter,ctrl+j") == "shift+enter"
    assert key_words("escape") == "esc"
