"""Asks whether to trust a server's read-only marks and results, and shows what each answer does."""

from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from tui.core.ports import TrustQuestion
from tui.core.text import quoted_name
from tui.ui.keys.action_table import Context
from tui.ui.keys.answer_pause import AnswerDelay
from tui.ui.keys.bindings import bindings_of
from tui.ui.keys.key_overrides import KeyOverrides
from tui.ui.questions.question_line import BREAKPOINTS, QuestionLine


@dataclass(frozen=True, slots=True)
class TrustAnswer:
    """The user's answer; None if they closed the question, which is then asked again."""

    trusted: bool | None


class TrustDialog(ModalScreen[TrustAnswer]):
    """Shows the question and waits for yes or no."""

    CONTEXTS = (Context.SERVER_QUESTION,)
    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Context.SERVER_QUESTION)
    VERTICAL_BREAKPOINTS = BREAKPOINTS

    DEFAULT_CSS = """
    TrustDialog { align: center bottom; background: $surface 60%; }
    TrustDialog > Vertical {
        width: 100%; height: auto; padding: 1 2; margin: 0 0 1 0;
        background: $panel; border-left: outer $accent;
    }
    TrustDialog > Vertical > * { max-width: 104; }
    TrustDialog Static { width: 1fr; height: auto; }
    TrustDialog .answers, TrustDialog QuestionLine { margin-top: 1; }
    TrustDialog.-short > Vertical { padding: 0 2; margin: 0; }
    TrustDialog.-short .answers, TrustDialog.-short QuestionLine { margin-top: 0; }
    """

    def __init__(self, question: TrustQuestion, keys: KeyOverrides, *, waiting: int) -> None:
        super().__init__()
        self.question = question
        self.answer_delay = AnswerDelay()
        self.line = QuestionLine(keys, ("ask.send", "ask.decline", "ask.cancel"), waiting)
        self._keys = keys

    def compose(self) -> ComposeResult:
        server, tool = quoted_name(self.question.server, 60), quoted_name(self.question.tool, 80)
        about = (
            f"It marks its tool {tool} as read-only, so it should change nothing. mcptui cannot verify this."
        )
        answers = Content.assemble(
            ("Trust:", "bold"),
            " tools that it marks as read-only run without approval. Its results are trusted.\n",
            ("Do not trust:", "bold"),
            " its calls need approval. After it returns a result, calls to others need approval, too.\n",
            ("To change the answer later, press ", "$text-dim"),
            (self._keys.first_of("servers.trust"), "bold"),
            (" in the servers pane. mcptui asks again if its command changes.", "$text-dim"),
        )
        with Vertical():
            yield Static(Content.assemble("Trust the server ", (server, "bold"), "?"), markup=False)
            yield Static(Content.styled(about, "$text-dim"), markup=False)
            yield Static(answers, markup=False, classes="answers")
            yield self.line

    def on_mount(self) -> None:
        self.line.relabel("ask.send", "trust")
        self.line.relabel("ask.decline", "do not trust")
        self.line.relabel("ask.cancel", "not now")

    def show_waiting(self, waiting: int) -> None:
        self.line.show_waiting(waiting)

    def action_ask_send(self) -> None:
        self._answer(True)

    def action_ask_decline(self) -> None:
        self._answer(False)

    def action_ask_cancel(self) -> None:
        self._answer(None)

    def _answer(self, trusted: bool | None) -> None:
        if self.answer_delay.accepts_keys:
            self.dismiss(TrustAnswer(trusted))
