"""What a person can do with the message that is being written: a part of the table of actions. Pure."""

from tui.ui.keys.action import Action, Context


def _write(id: str, keys: str, label: str, help: str, footer: int = 0) -> Action:
    run = id.removeprefix("composer.")  # a method of the composer
    return Action(id, keys, Context.COMPOSER, label, help, footer, run=run, palette=False)


WRITING_ACTIONS: tuple[Action, ...] = (
    _write("composer.send", "enter", "send", "Send; while a turn runs: after it", 10),
    _write("composer.steer", "ctrl+s", "say it now", "While a turn runs: say it at the next step", 11),
    _write("composer.newline", "shift+enter,ctrl+j,alt+enter", "new line", "Begin a new line", 60),
    _write("composer.complete", "tab", "complete", "Take the suggestion, or go to the next pane"),
    _write("composer.older", "up", "older", "In the first line: the message before"),
    _write("composer.newer", "down", "newer", "In the last line: the message after"),
    Action("composer.history", "ctrl+r", Context.COMPOSER, "search", "Search in what was written before", 61),
    Action("composer.editor", "ctrl+f", Context.COMPOSER, "editor", "Write the message in $EDITOR", 62),
    Action(
        "composer.take_back",
        "ctrl+up",
        Context.COMPOSER,
        "edit held",
        "Take back what is held, to change it",
        12,
    ),
    _write(
        "composer.drop",
        "ctrl+x",
        "drop held",
        "With nothing written: drop what is held",
        13,
    ),
)
