"""Asks whether to trust a server's read-only marks and results, and shows what each answer does."""

from dataclasses import dataclass

from textual.content import Content
from textual.widgets import Static

from tui.core.ports import TrustQuestion
from tui.core.text import quoted_name
from tui.ui.dialogs.question_dialog import QuestionDialog, Reply
from tui.ui.keys.key_overrides import KeyOverrides


@dataclass(frozen=True, slots=True)
class TrustAnswer:
    """The user's answer; None if they closed the question, which is then asked again."""

    trusted: bool | None


def trust_dialog(question: TrustQuestion, keys: KeyOverrides, *, waiting: int) -> QuestionDialog:
    """Return the dialog about the server of a tool."""
    server, tool = quoted_name(question.server, 60), quoted_name(question.tool, 80)
    about = f"It marks its tool {tool} as read-only, so it should change nothing. mcptui cannot verify this."
    effects = Content.assemble(
        ("Trust:", "bold"),
        " tools that it marks as read-only run without approval. Its results are trusted.\n",
        ("Do not trust:", "bold"),
        " its calls need approval. After it returns a result, calls to others need approval, too.\n",
        ("To change the answer later, press ", "$text-dim"),
        (keys.first_of("servers.trust"), "bold"),
        (" in the servers pane. mcptui asks again if its command changes.", "$text-dim"),
    )
    parts = (
        Static(Content.assemble("Trust the server ", (server, "bold"), "?"), markup=False),
        Static(Content.styled(about, "$text-dim"), markup=False),
        Static(effects, markup=False, classes="apart"),
    )
    replies = {
        "ask.send": Reply("trust", lambda: TrustAnswer(True)),
        "ask.decline": Reply("do not trust", lambda: TrustAnswer(False)),
        "ask.cancel": Reply("not now", lambda: TrustAnswer(None)),
    }
    return QuestionDialog(question, keys, parts, replies, waiting=waiting)
