"""What is completed where the cursor stands."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.ui.chat.composer.wanted import Wanted, What, wanted


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("/", Wanted(What.COMMAND, "", 0)),
        ("/mo", Wanted(What.COMMAND, "mo", 0)),
        ("/model ", Wanted(What.ARGUMENT, "", 7, "model")),
        ("/model oll", Wanted(What.ARGUMENT, "oll", 7, "model")),
        ("/model ollama qw", Wanted(What.ARGUMENT, "qw", 14, "model", "ollama")),
        ("@", Wanted(What.REFERENCE, "", 0)),
        ("look at @src/ma", Wanted(What.REFERENCE, "src/ma", 8)),
        ("(@a", Wanted(What.REFERENCE, "a", 1)),
        ("/review @a", Wanted(What.REFERENCE, "a", 8)),
        ("me@example.com", None),
        ("@a b", None),
        ("hello", None),
        ("", None),
        (" /mo", None),
    ],
)
def test_the_word_before_the_cursor_says_what_is_wanted(line: str, found: Wanted | None):
    assert wanted(line, len(line), is_first=True) == found


def test_a_command_stands_in_the_first_line_only():
    assert wanted("/mo", 3, is_first=False) is None
    assert wanted("@a", 2, is_first=False) == Wanted(What.REFERENCE, "a", 0)


def test_what_stands_behind_the_cursor_does_not_count():
    assert wanted("/model", 3, is_first=True) == Wanted(What.COMMAND, "mo", 0)


@given(st.text(max_size=900), st.integers(0, 900), st.booleans())
def test_the_word_ends_at_the_cursor(line: str, column: int, is_first: bool):
    column = min(column, len(line))
    found = wanted(line, column, is_first=is_first)
    if found is not None:
        sign = "" if found.what is What.ARGUMENT else {"command": "/", "reference": "@"}[found.what]
        assert line[found.start : column] == sign + found.query
