"""Configured keys: used if they are valid, reported if not."""

import pytest

from tests.cases import each_case
from tui.ui.keys.action_table import action
from tui.ui.keys.bindings import KeyOverrides, first_key, key_words, textual_key


def test_a_valid_key_replaces_the_defaults():
    overrides = KeyOverrides([("chat.copy", ["f11", "!"])])
    assert overrides.keys_of(action("chat.copy")) == "f11,exclamation_mark"
    assert overrides.keymap() == {"chat.copy": "f11,exclamation_mark"} and not overrides.problems


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (("chat.coppy", "f11"), "did you mean “chat.copy”?"),
        (("chat.copy", "notakey"), "“notakey” is not a key"),
        (("chat.copy", "ctrl+q"), "is already used by `app.quit`"),
    ],
)
def test_an_invalid_key_is_reported_and_not_used(wanted: tuple[str, str], words: str):
    overrides = KeyOverrides([wanted])
    assert words in str(overrides.problems[0]) and overrides.keymap() == {}


def test_reloaded_keys_replace_the_previous_ones():
    overrides = KeyOverrides([("chat.new", "ctrl+k")])
    overrides.take([("chat.models", "f11")])
    assert overrides.keymap() == {"chat.models": "f11"}


@pytest.mark.parametrize(
    ("action_id", "key"), [("ask.send", "n"), ("question.once", "enter"), ("ask.cancel", "ctrl+s")]
)
def test_a_key_with_another_common_use_cannot_answer_questions(action_id: str, key: str):
    overrides = KeyOverrides([(action_id, key)])
    assert "cannot answer" in str(overrides.problems[0]) and overrides.keymap() == {}


def test_all_configured_answer_keys_are_shown():
    assert KeyOverrides().answers_of("ask.send") == "ctrl+s"
    assert (
        KeyOverrides([("ask.send", ["f11", "ctrl+y"]), ("ask.copy", "f3")]).answers_of("ask.send")
        == "f11, ctrl+y"
    )


# ---- names of keys ----


@each_case(
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
