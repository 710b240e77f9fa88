"""The commands that the palette finds, and their order."""

from collections.abc import Sequence

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
    scored = matches(query, listed)
    return [command.title for command, _ in sorted(scored, key=lambda one: -one[1])]


def test_whole_words_come_first_then_prefixes_then_substrings() -> None:
    titles = ["Add a model", "Switch model", "Compare with another modeller", "Remodel nothing"]
    assert found("model") == titles


def test_words_match_in_any_order_but_a_subsequence_does_not() -> None:
    assert "Maximize or restore the pane" not in found("mod")
    assert found("mxrst") == [] and found("model switch") == ["Switch model"]


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
