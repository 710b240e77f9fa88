"""The question whether an agent may act."""

from collections.abc import Iterator

from tui.core.hidden_text.readable import readable
from tui.core.language.translate import _, localized
from tui.core.questions import UNVERIFIED, Action, AgentQuestion, QuestionAnswer
from tui.core.text import clean_line
from tui.ui.dialogs.question_dialog import NOT_READ, YES, QuestionDialog
from tui.ui.dialogs.read_pane import AT_ONCE, ReadPane
from tui.ui.keys.bindings import KeyOverrides
from tui.ui.widgets.rows import EMPTY, Row


def agent_rows(question: AgentQuestion) -> Iterator[Row]:
    """Yield the lines of a question. Its texts are the agent's: made visible, never markup."""
    yield ((localized(question.head), "text bold"),)
    yield EMPTY
    for line in (question.text if question.arguments else _("(no arguments)")).splitlines():
        yield ((readable(line), "text"),)
    if question.why:
        yield (("! ", "warn"), (clean_line(localized(question.why), 400), "warn"))
    yield EMPTY
    yield ((_(UNVERIFIED), "dim"),)


def agent_dialog(question: AgentQuestion, keys: KeyOverrides) -> QuestionDialog:
    """Return the dialog. A yes holds once, or until mcptui quits, for this agent and this tool."""
    dialog: QuestionDialog

    def lasting() -> None:
        if pane.unread:
            dialog.line.say(_(NOT_READ))
        else:
            dialog.dismiss(QuestionAnswer(Action.ACCEPT, lasts=True))

    is_short = len(question.text) <= AT_ONCE
    pane = ReadPane(agent_rows(question) if is_short else lambda: agent_rows(question), hang=True)
    labels = {
        YES: _("yes, once"),
        "ask.lasting": _("until mcptui quits"),
        "ask.decline": _("no"),
        "ask.cancel": "",
    }
    dialog = QuestionDialog(question, keys, [pane], labels, acts={"ask.lasting": lasting})
    dialog.add_class("-warning")
    return dialog
