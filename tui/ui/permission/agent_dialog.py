"""The question whether an agent may act."""

import json
from collections.abc import Iterator

from tui.core.hidden_text.readable import readable
from tui.core.questions import Action, AgentQuestion, QuestionAnswer
from tui.core.text import clean_line
from tui.ui.dialogs.question_dialog import NOT_READ, YES, QuestionDialog
from tui.ui.dialogs.read_pane import AT_ONCE, ReadPane
from tui.ui.dialogs.rows_dialog import MAX_CHARS
from tui.ui.keys.bindings import KeyOverrides
from tui.ui.widgets.rows import EMPTY, Row

TOO_LONG = "The arguments are too long to review here, so you cannot allow this."
UNVERIFIED = "mcptui cannot verify which program asks. It runs on this computer, as your user."


def agent_rows(question: AgentQuestion, text: str) -> Iterator[Row]:
    """Yield the lines of a question. Its texts are the agent's: made visible, never markup."""
    yield ((question.head, "text bold"),)
    yield EMPTY
    for line in text.splitlines():
        yield ((readable(line), "text"),)
    if question.why:
        yield (("! ", "warn"), (clean_line(question.why, 400), "warn"))
    yield EMPTY
    yield ((UNVERIFIED, "dim"),)


def agent_dialog(question: AgentQuestion, keys: KeyOverrides) -> QuestionDialog:
    """Return the dialog. A yes holds once, or until mcptui quits, for this agent and this tool."""
    dialog: QuestionDialog
    text = json.dumps(question.arguments, indent=2, ensure_ascii=False, default=str)
    text = text if question.arguments else "(no arguments)"
    problem = TOO_LONG if len(text) > MAX_CHARS else ""
    shown = text[:MAX_CHARS]

    def lasting() -> None:
        if said := problem or (NOT_READ if pane.unread else ""):
            dialog.line.say(said)
        else:
            dialog.dismiss(QuestionAnswer(Action.ACCEPT, lasts=True))

    pane = ReadPane(
        agent_rows(question, shown) if len(shown) <= AT_ONCE else lambda: agent_rows(question, shown),
        hang=True,
    )
    labels = {
        YES: "yes, once",
        "ask.lasting": "" if problem else "until mcptui quits",
        "ask.decline": "no",
        "ask.cancel": "",
    }
    dialog = QuestionDialog(
        question, keys, [pane], labels, acts={"ask.lasting": lasting}, problem=lambda: problem
    )
    dialog.add_class("-warning")
    return dialog
