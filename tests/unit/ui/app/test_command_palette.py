"""Which commands the palette finds, and in which order."""

from collections.abc import Sequence

from textual.fuzzy import Matcher

from tui.ui.app.command_palette import Command, matches

TITLES = (
    "Switch model",
    "Maximize or restore the pane",
    "Add a model",
    "Remodel nothing",
    "Edit the message in $EDITOR",
    "Compare with another modeller",
)


def found(query: str, commands: Sequence[Command] | None = None) -> list[str]:
    listed = commands or [Command(title, "", lambda: None) for title in TITLES]
    scored = matches(query, listed, Matcher(query).match)
    return [command.title for command, _ in sorted(scored, key=lambda one: -one[1])]


def test_whole_words_come_first_then_prefixes_then_substrings() -> None:
    titles = found("model")
    assert set(titles[:2]) == {"Switch model", "Add a model"}
    assert titles[2:] == ["Compare with another modeller", "Remodel nothing"]


def test_a_subsequence_matches_only_if_nothing_else_does() -> None:
    assert "Maximize or restore the pane" not in found("mod")
    assert found("mxrst") == ["Maximize or restore the pane"]


def test_the_words_of_a_query_match_in_any_order() -> None:
    assert found("model switch") == ["Switch model"]


def test_matches_of_a_key_or_an_alias_come_after_matches_of_a_title() -> None:
    commands = [
        Command("Show keys", "f1", lambda: None, "help app.help"),
        *map(_command, ("Help yourself", "x")),
    ]
    assert found("help", commands) == ["Help yourself", "Show keys"]


def _command(title: str) -> Command:
    return Command(title, "", lambda: None)
