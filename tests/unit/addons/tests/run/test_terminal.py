"""Lines for the terminal."""

import shlex

import pytest

from tui.addons.tests.run.terminal import wrapped, wrapped_command
from tui.core.text import cells_of


def test_a_text_is_broken_at_words_and_what_fits_stays():
    text = "  a head that is  long\n  short  line"
    assert wrapped(text, 13, "    ") == ["  a head that", "    is long", "  short  line"]
    assert wrapped("  short  line", 20) == ["  short  line"]


def test_a_long_word_stays_whole():
    assert wrapped(f"see {'x' * 30} now", 10, "  ") == ["see", f"  {'x' * 30}", "  now"]


@pytest.mark.parametrize(
    "words",
    [
        ["mcptui", "call", "get", "--args", '{"location": "Hang zhou"}', "--", "python", "server.py"],
        ["mcptui", "call", "it's", "a 'quoted' word", "日本 語", "\\", "python", "server.py", "x" * 60],
    ],
)
def test_a_broken_command_means_the_same_to_a_shell(words: list[str]):
    lines = wrapped_command(shlex.join(words), 40, "    ")
    assert len(lines) > 1 and shlex.split("\n".join(lines).replace(" \\\n", " ")) == words
    assert all(cells_of(line) <= 40 or "x" * 60 in line for line in lines)
