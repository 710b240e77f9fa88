"""Shows the errors of a configuration that was not applied, and asks whether to edit the file again."""

from tui.core.questions import ConfigErrors
from tui.ui.dialogs.question_dialog import QuestionDialog, Reply, Room
from tui.ui.dialogs.read_pane import ReadPane
from tui.ui.keys.key_overrides import KeyOverrides

HEADING = "The configuration has errors. The previous one is still in use."
ROOM = Room(6, 2, least=1)


def config_errors_dialog(question: ConfigErrors, keys: KeyOverrides, *, waiting: int) -> QuestionDialog:
    """Return the dialog. No letter answers: users may be typing."""
    heading = ((f"! {HEADING}", "text"),)
    pane = ReadPane([heading, *(((line, "dim"),) for line in question.lines())])
    replies = {
        "ask.send": Reply("edit again", lambda: True, unread=True),
        "ask.cancel": Reply("close", lambda: False),
        "ask.decline": Reply("", lambda: False),
    }
    dialog = QuestionDialog(question, keys, [pane], replies, waiting=waiting, room=ROOM)
    dialog.add_class("-warning")
    return dialog
