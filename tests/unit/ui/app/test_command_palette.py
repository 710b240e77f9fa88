"""The commands that the palette finds, and their order."""

from collections.abc import Sequence

from textual.fuzzy import Matcher

from tui.ui.app.command_palette import AROUND, Command, elsewhere, matches
from tui.ui.keys.action_table import Context
from tui.ui.keys.bindings import KeyOverrides

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


def test_a_subsequence_does_not_match() -> None:
    assert "Maximize or restore the pane" not in found("mod")
    assert found("mxrst") == []


def test_the_words_of_a_query_match_in_any_order() -> None:
    assert found("model switch") == ["Switch model"]


def test_a_match_of_an_alias_comes_after_a_match_of_a_title() -> None:
    commands = [
        Command("Show keys", "f1", lambda: None, "help app.help"),
        *map(_command, ("Help yourself", "x")),
    ]
    assert found("help", commands) == ["Help yourself", "Show keys"]


def test_actions_of_other_screens_name_their_screen_and_those_of_this_screen_are_left_out() -> None:
    away = {one.title: one.help for one in elsewhere((Context.WORKBENCH,), KeyOverrides(), lambda _: None)}
    assert away["Traffic: show statistics of each server and tool"] == "S"
    assert away["Sessions: rename the session"] == "ctrl+e"
    assert "Workbench: call the tool, read the resource or get the prompt" not in away
    assert not [title for title in away if any(word in title for word in ("match", "close", "next tab"))]
    assert max(len(f"{title}   {key}") for title, key in away.items()) <= 80 - AROUND


def _command(title: str) -> Command:
    return Command(title, "", lambda: None)
