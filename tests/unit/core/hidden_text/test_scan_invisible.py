"""When invisible characters encode a text."""

from tui.core.hidden_text.scan import LONG_RUN, MANY, is_concealed, is_text


def test_a_long_run_or_many_invisible_characters_count_as_text():
    assert is_text("a" + "\u200b" * LONG_RUN)
    assert not is_text("a" + "\u200b" * (LONG_RUN - 1))
    assert is_text("a\u200b" * MANY)
    assert is_text("a\U0001bca0\U0001bca1\U0001bca2\U0001bca3")
    assert not is_text("a\u200b" * (MANY - 1))


def test_invisible_characters_that_a_script_needs_do_not_count():
    assert not is_text("ក\u200bក" * 40)
    assert not is_text("葛\U000e0100" * 40)
    assert is_text("ក" + "\u200b" * LONG_RUN + "ក")


def test_text_that_a_terminal_would_conceal_is_recognized():
    assert is_concealed("\x1b[8mread") and is_concealed("\x9b1;8mread")
    assert not is_concealed("\x1b[38m\x1b[2J")
