"""Shows a server's sampling request before it is sent to the model, or the reply before it is returned."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static, TextArea

from tui.core import units
from tui.core.questions import Action, SamplingAnswer, SamplingQuestion, SamplingReview
from tui.core.text import clean_line, quoted_name
from tui.ui.keys.action_table import Context
from tui.ui.keys.answer_pause import AnswerDelay
from tui.ui.keys.bindings import bindings_of
from tui.ui.keys.key_overrides import KeyOverrides
from tui.ui.questions.question_line import BREAKPOINTS, NOT_READ, SHORT, QuestionLine
from tui.ui.questions.read_pane import ReadPane
from tui.ui.questions.sampling_text import (
    LINES_ON_SCREEN,
    ON_SCREEN,
    changed,
    is_editable,
    sections_of,
    text_of,
)
from tui.ui.widgets.rows import Row

AROUND = 11
"""Rows of the screen around the text."""

AROUND_IN_SHORT = 7
"""The same on a screen with fewer than `SHORT` rows, which has no margins."""


ANSWERS = ("ask.send", "ask.decline", "ask.cancel")

TOO_LONG = "This is too long to be read here, so it cannot be sent."


class SamplingDialog(ModalScreen[SamplingAnswer]):
    """Shows a request or a reply, and asks whether to send it on. The user can edit a short text.

    A long text must be read completely before a yes counts.
    """

    CONTEXTS = (Context.SERVER_QUESTION,)
    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Context.SERVER_QUESTION)
    VERTICAL_BREAKPOINTS = BREAKPOINTS

    DEFAULT_CSS = """
    SamplingDialog { align: center bottom; background: $surface 60%; }
    SamplingDialog > Vertical {
        width: 100%; height: auto; padding: 1 2; margin: 0 0 1 0;
        background: $panel; border-left: outer $accent;
    }
    SamplingDialog > Vertical > * { max-width: 104; }
    SamplingDialog Static { width: 1fr; height: auto; }
    SamplingDialog TextArea {
        height: auto; min-height: 3; margin: 1 0 0 0; border: none; padding: 0;
        background: $surface; background-tint: transparent;
    }
    SamplingDialog ReadPane { margin: 1 0 0 0; background: $surface; }
    SamplingDialog QuestionLine { margin-top: 1; }
    SamplingDialog.-short > Vertical { padding: 0 2; margin: 0; }
    SamplingDialog.-short TextArea, SamplingDialog.-short ReadPane { margin-top: 0; }
    SamplingDialog.-short QuestionLine { margin-top: 0; }
    """

    def __init__(
        self, question: SamplingQuestion | SamplingReview, model: str, keys: KeyOverrides, *, waiting: int
    ) -> None:
        super().__init__()
        self.question = question
        self.answer_delay = AnswerDelay()
        self.line = QuestionLine(keys, ANSWERS, waiting)
        self._model = model
        self._params: Mapping[str, Any] = (
            question.params if isinstance(question, SamplingQuestion) else question.reply
        )
        self._too_long = ""
        self._body: TextArea | ReadPane = (
            _editor(text_of(sections_of(self._params)))
            if is_editable(self._params)
            else ReadPane(self._rows, self._read)
        )

    def _rows(self) -> Sequence[Row]:
        """Return the text as lines. Text that is too long is truncated, and the user cannot say yes to it."""
        text = text_of(sections_of(self._params))
        lines = text[:ON_SCREEN].split("\n")
        shown: list[Row] = [((line.expandtabs(4), "text"),) for line in lines[:LINES_ON_SCREEN]]
        if left_out := len(text) - len("\n".join(lines[:LINES_ON_SCREEN])):
            self._too_long = TOO_LONG
            shown.append(((f"… {units.count(left_out)} more characters. {TOO_LONG}", "warn"),))
        return shown

    def compose(self) -> ComposeResult:
        server = quoted_name(self.question.server, 60)
        model = clean_line(self._model, 60) or "the model"
        if isinstance(self.question, SamplingQuestion):
            round = f", round {self.question.round}" if self.question.round > 1 else ""
            head = Content.assemble("The server ", (server, "bold"), f" requests a reply from {model}{round}")
            facts = ", ".join(request_facts(self.question.params))
        else:
            head = Content.assemble(f"The reply of {model} for the server ", (server, "bold"))
            facts = "The server gets exactly this text."
        with Vertical():
            yield Static(head, markup=False)
            yield Static(Content.styled(facts, "$text-dim"), markup=False)
            yield self._body
            yield self.line

    def on_mount(self) -> None:
        is_request = isinstance(self.question, SamplingQuestion)
        self.line.relabel("ask.send", "send to the model" if is_request else "send to the server")
        if isinstance(self._body, TextArea):
            self._body.move_cursor(self._body.document.end)
        self.set_focus(self._body)
        self.call_after_refresh(self._fit)

    def on_resize(self) -> None:
        self.call_after_refresh(self._fit)

    def _read(self) -> None:
        if isinstance(self._body, ReadPane):
            if self._too_long:
                self.line.offer(ANSWERS[1:])
            else:
                self.line.show_unread(self._body.unread)
        self._fit()

    def _fit(self) -> None:
        rows = self.app.size.height
        room = max(3, rows - (AROUND_IN_SHORT if rows < SHORT else AROUND))
        if isinstance(self._body, ReadPane):
            self._body.styles.height = max(3, min(self._body.row_count(), room))
        else:
            self._body.styles.max_height = room

    def show_waiting(self, waiting: int) -> None:
        self.line.show_waiting(waiting)

    def action_ask_send(self) -> None:
        if not self.answer_delay.accepts_keys:
            return
        params, problem = self._params, self._too_long
        if isinstance(self._body, TextArea):
            params, problem = changed(self._params, self._body.text)
        elif self._body.unread:
            problem = problem or NOT_READ
        if problem:
            self.line.say(problem)
        else:
            self.dismiss(SamplingAnswer(Action.ACCEPT, params))

    def action_ask_decline(self) -> None:
        if self.answer_delay.accepts_keys:
            self.dismiss(SamplingAnswer(Action.DECLINE))

    def action_ask_cancel(self) -> None:
        if self.answer_delay.accepts_keys:
            self.dismiss(SamplingAnswer(Action.CANCEL))


def _editor(text: str) -> TextArea:
    area = TextArea(text, compact=True, highlight_cursor_line=False, soft_wrap=True)
    area.set_reactive(TextArea.cursor_blink, False)
    return area


def request_facts(params: Mapping[str, Any]) -> list[str]:
    """Return the settings of a request besides its texts, a few words each."""
    messages, tools = params.get("messages"), params.get("tools")
    facts = [f"up to {clean_line(str(params.get('maxTokens')), 20)} tokens"]
    if isinstance(messages, list):
        facts.append(units.plural(len(messages), "message"))
    if isinstance(tools, list) and tools:
        names = [clean_line(str(tool.get("name", "")), 30) for tool in tools if isinstance(tool, Mapping)]
        facts.append(f"{units.plural(len(tools), 'tool')}: {', '.join(names[:6])}")
    if params.get("includeContext") not in (None, "none"):
        facts.append("without the requested server context")
    return facts
