"""The text of the errors of a configuration."""

from tui.core.questions import MOST_ERRORS, ConfigErrors


def test_more_errors_than_fit_are_counted() -> None:
    lines = ConfigErrors([f"c.toml:{number} wrong" for number in range(MOST_ERRORS + 2)]).lines()
    assert lines[-2:] == ["c.toml:4 wrong", "and 2 more errors"]


def test_an_error_is_one_line_without_control_characters() -> None:
    (line,) = ConfigErrors(["c.toml:1 \x1b[2J\nwrong"]).lines()
    assert "\x1b" not in line and "\n" not in line
