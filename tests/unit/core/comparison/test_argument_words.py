"""What tells a call from others: the arguments that differ come first."""

from tui.core.comparison.argument_words import argument_words


def test_the_arguments_that_differ_come_first() -> None:
    given = {"units": "celsius", "city": "Beijing"}
    assert argument_words(given, [{"units": "celsius", "city": "Xian"}]).startswith('city "Beijing"')
    assert argument_words(given, []).startswith('units "celsius"')


def test_of_long_values_the_part_that_differs_is_shown() -> None:
    same = "x" * 60
    assert "…nding one" in argument_words({"path": f"{same} ending one"}, [{"path": f"{same} ending two"}])
