"""Shows the errors of a configuration that was not applied."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from tui.core.questions import ConfigErrors
from tui.ui.keys.action_table import Context
from tui.ui.keys.answer_pause import AnswerDelay
from tui.ui.keys.bindings import bindings_of
from tui.ui.keys.key_overrides import KeyOverrides
from tui.ui.questions.question_line import BREAKPOINTS, SHORT, QuestionLine
from tui.ui.questions.read_pane import ReadPane

AROUND, AROUND_IN_SHORT = 6, 2
"""Rows of the dialog without its text."""

HEADING = "The configuration has errors. The previous one is still in use."


class ConfigErrorsDialog(ModalScreen[bool]):
    """Shows the errors, and asks whether to edit the file again. No letter answers: users may be typing."""

    CONTEXTS = (Context.SERVER_QUESTION,)
    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Context.SERVER_QUESTION)
    VERTICAL_BREAKPOINTS = BREAKPOINTS

    DEFAULT_CSS = """
    ConfigErrorsDialog { align: center bottom; background: $surface 60%; }
    ConfigErrorsDialog > Vertical {
        width: 100%; height: auto; padding: 1 2; margin: 0 0 1 0;
        background: $panel; border-left: outer $warn;
    }
    ConfigErrorsDialog > Vertical > * { max-width: 104; }
    ConfigErrorsDialog QuestionLine { margin-top: 1; }
    ConfigErrorsDialog.-short > Vertical { padding: 0 2; margin: 0; }
    ConfigErrorsDialog.-short QuestionLine { margin-top: 0; }
    """

    def __init__(self, question: ConfigErrors, keys: KeyOverrides, *, waiting: int) -> None:
        super().__init__()
        self.question = question
        self.answer_delay = AnswerDelay()
        heading = ((f"! {HEADING}", "text"),)
        self.pane = ReadPane([heading, *(((line, "dim"),) for line in question.lines())], self._fit)
        self.line = QuestionLine(keys, ("ask.send", "ask.cancel"), waiting)
        self.line.relabel("ask.send", "edit again")
        self.line.relabel("ask.cancel", "close")

    def compose(self) -> ComposeResult:
        with Vertical():
            yield self.pane
            yield self.line

    def on_mount(self) -> None:
        self.set_focus(self.pane)
        self.call_after_refresh(self._fit)

    def on_resize(self) -> None:
        self.call_after_refresh(self._fit)

    def _fit(self) -> None:
        """Give the text the rows that the keys do not need."""
        rows = self.app.size.height
        room = rows - (AROUND_IN_SHORT if rows < SHORT else AROUND)
        self.pane.styles.height = max(1, min(self.pane.row_count(), room))

    def show_waiting(self, waiting: int) -> None:
        self.line.show_waiting(waiting)

    def action_ask_send(self) -> None:
        self._answer(True)

    def action_ask_cancel(self) -> None:
        self._answer(False)

    def action_ask_decline(self) -> None:
        self._answer(False)

    def action_ask_copy(self) -> None:
        """There is no address to copy."""

    def action_ask_each(self) -> None:
        """There is only one question."""

    def _answer(self, again: bool) -> None:
        if self.answer_delay.accepts_keys:
            self.dismiss(again)
