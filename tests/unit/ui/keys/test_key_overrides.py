"""The person's keys: taken if they can be, and told if they cannot."""

import pytest

from tui.ui.keys.actions import action
from tui.ui.keys.key_overrides import KeyOverrides, textual_key


def test_a_good_key_replaces_those_of_the_table():
    overrides = KeyOverrides([("chat.copy", ["f11", "!"])])
    assert overrides.keys_of(action("chat.copy")) == "f11,exclamation_mark"
    assert overrides.keymap() == {"chat.copy": "f11,exclamation_mark"} and not overrides.problems


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (("chat.coppy", "f11"), "did you mean `chat.copy`?"),
        (("chat.copy", "notakey"), "'notakey' is no key"),
        (("chat.copy", "ctrl+q"), "belongs to `app.quit`"),
    ],
)
def test_a_key_that_cannot_be_used_is_told_and_left_out(wanted: tuple[str, str], words: str):
    overrides = KeyOverrides([wanted])
    assert words in overrides.problems[0] and overrides.keymap() == {}


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
def test_a_character_has_the_name_that_textual_gives_it(key: str, name: str):
    assert textual_key(key) == name
