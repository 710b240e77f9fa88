"""What tells a call from others: the arguments that differ come first."""

from tui.core.comparison.argument_words import Written, argument_words


def test_the_arguments_that_differ_come_first() -> None:
    given = {"units": "celsius", "city": "Beijing"}
    assert argument_words(given, [{"units": "celsius", "city": "Xian"}]).startswith('city "Beijing"')
    assert argument_words(given, []).startswith('units "celsius"')


def test_of_long_values_the_part_that_differs_is_shown() -> None:
    same = "x" * 60
    assert "…nding one" in argument_words({"path": f"{same} ending one"}, [{"path": f"{same} ending two"}])


def test_a_preview_is_not_quoted_again() -> None:
    assert argument_words({"city": Written('"Beijing"')}, []) == '"Beijing"'
    assert argument_words({"seconds": Written("6")}, []) == "6"
