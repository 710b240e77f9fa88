"""Asks for consent to start a server from elsewhere: shows what would run and what each answer does.

Closing the question saves no answer; it is asked again at the next start.
"""

from collections.abc import Iterator
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from tui.core.consent.question import NO_ALL, YES_ALL, ConsentQuestion, ConsentsQuestion
from tui.core.questions import Action, ConsentsAnswer
from tui.core.text import clean
from tui.ui.keys.action_table import Context
from tui.ui.keys.answer_pause import AnswerDelay
from tui.ui.keys.bindings import bindings_of
from tui.ui.keys.key_overrides import KeyOverrides
from tui.ui.questions.question_line import BREAKPOINTS, NOT_READ, SHORT, QuestionLine
from tui.ui.questions.read_pane import AT_ONCE, ReadPane
from tui.ui.widgets.rows import Row

AROUND = 8
"""Rows of the screen around the text: the frame, and up to three lines of keys."""

AROUND_IN_SHORT = 5
"""The same on a screen with fewer than `SHORT` rows, which has no margins."""

LINES_OF_LONG = 100
CHARS_OF_LONG = 2_000
"""Limits for a question that is too long: lines of changes and risks, and characters of each line."""


def consent_rows(question: ConsentQuestion) -> Iterator[Row]:
    """Yield the lines of a question. The text comes from the file: made visible, never markup."""
    yield (question.subject, "text bold"), (f" {question.head}", "text")
    yield from _damage(question)
    if too_long := question.too_long:
        yield ((too_long, "warn"),)
    yield ()
    yield from _what_runs(question)
    yield ()
    for outcome in question.outcomes[1 if too_long else 0 :]:
        yield ((outcome, "dim"),)


def consents_rows(question: ConsentsQuestion) -> Iterator[Row]:
    """Yield the lines of a question about several servers, one complete question after the other."""
    yield (question.subject, "text bold"), (f" {question.head}", "text")
    yield from _damage(question)
    number = len(question.questions)
    for index, one in enumerate(question.questions):
        yield ()
        changed = "  has changed since you agreed to it" if one.changes else ""
        of = f"  {index + 1} of {number}", "dim"
        yield (one.subject, "text bold"), of, (changed, "warn")
        yield from _what_runs(one)
    yield ()
    yield ((YES_ALL, "dim"),)
    yield ((NO_ALL, "dim"),)


def _damage(question: ConsentQuestion | ConsentsQuestion) -> Iterator[Row]:
    if question.damage:
        yield ((clean(f"! {question.damage}"), "warn"),)


def _what_runs(question: ConsentQuestion) -> Iterator[Row]:
    width = max(len(label) for label, _ in question.facts)
    too_long = question.too_long
    for label, text in question.facts:
        yield (f"{label.ljust(width)}  ", "dim"), (_shown(text, too_long), "text")
    shown = [*(f"changed: {one}" for one in question.changes), *(f"! {one}" for one in question.risks)]
    for text in shown[: LINES_OF_LONG if too_long else None]:
        yield ((_shown(text, too_long), "warn"),)


def _shown(text: str, too_long: str) -> str:
    if not too_long or len(text) <= CHARS_OF_LONG:
        return clean(text)
    return f"{clean(text[:CHARS_OF_LONG])} … and {len(text) - CHARS_OF_LONG:,} more characters"


class ConsentDialog(ModalScreen[Action | ConsentsAnswer]):
    """Asks whether a server, or all servers of one source, may start.

    The text scrolls, the answers stay visible.
    """

    CONTEXTS = (Context.SERVER_QUESTION,)
    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Context.SERVER_QUESTION)
    VERTICAL_BREAKPOINTS = BREAKPOINTS

    DEFAULT_CSS = """
    ConsentDialog { align: center bottom; background: $surface 60%; }
    ConsentDialog > Vertical {
        width: 100%; height: auto; padding: 1 2; margin: 0 0 1 0;
        background: $panel; border-left: outer $accent;
    }
    ConsentDialog > Vertical > * { max-width: 104; }
    ConsentDialog QuestionLine { margin-top: 1; }
    ConsentDialog.-short > Vertical { padding: 0 2; margin: 0; }
    ConsentDialog.-short QuestionLine { margin-top: 0; }
    """

    def __init__(
        self, question: ConsentQuestion | ConsentsQuestion, keys: KeyOverrides, *, waiting: int
    ) -> None:
        super().__init__()
        self.question = question
        self.answer_delay = AnswerDelay()
        self._too_long = ""
        answers: tuple[str, ...]
        if isinstance(question, ConsentsQuestion):
            rows, yes = consents_rows(question), f"yes, start all {len(question.questions)}"
            no, answers = "no, start none", ("ask.send", "ask.each", "ask.decline", "ask.cancel")
        else:
            how = "use it" if question.is_model else "connect" if question.is_remote else "start it"
            rows, yes = consent_rows(question), f"yes, {how}"
            self._too_long = question.too_long
            no, answers = "no", ("ask.decline", "ask.cancel")
            if not self._too_long:
                answers = ("ask.send", *answers)
        several = question.questions if isinstance(question, ConsentsQuestion) else [question]
        is_short = sum(one.size[0] for one in several) <= AT_ONCE
        self.pane = ReadPane(rows if is_short else lambda: rows, self._read)
        self.line = QuestionLine(keys, answers, waiting)
        self.line.relabel("ask.send", yes)
        self.line.relabel("ask.decline", no)
        self.line.relabel("ask.cancel", "not now")

    def compose(self) -> ComposeResult:
        with Vertical():
            yield self.pane
            yield self.line

    def on_mount(self) -> None:
        self.set_focus(self.pane)
        self.call_after_refresh(self._fit)

    def on_resize(self) -> None:
        self.call_after_refresh(self._fit)

    def _read(self) -> None:
        if not self._too_long:
            self.line.show_unread(self.pane.unread)
        self._fit()

    def _fit(self) -> None:
        """Give the text the rows that the keys do not need."""
        rows = self.app.size.height
        room = rows - (AROUND_IN_SHORT if rows < SHORT else AROUND)
        self.pane.styles.height = max(3, min(self.pane.row_count(), room))

    def show_waiting(self, waiting: int) -> None:
        self.line.show_waiting(waiting)

    def action_ask_send(self) -> None:
        """Answer yes, once the whole text has been on screen."""
        if not self.answer_delay.accepts_keys:
            return
        if problem := self._too_long or (NOT_READ if self.pane.unread else ""):
            self.line.say(problem)
        else:
            self.dismiss(ConsentsAnswer.ALL if self._is_about_several else Action.ACCEPT)

    @property
    def _is_about_several(self) -> bool:
        return isinstance(self.question, ConsentsQuestion)

    def action_ask_each(self) -> None:
        """Ask about each server in its own question, so that this one need not be read."""
        if self._is_about_several and self.answer_delay.accepts_keys:
            self.dismiss(ConsentsAnswer.EACH)

    def action_ask_copy(self) -> None:
        """There is no address to copy."""

    def action_ask_decline(self) -> None:
        if self.answer_delay.accepts_keys:
            self.dismiss(ConsentsAnswer.NONE if self._is_about_several else Action.DECLINE)

    def action_ask_cancel(self) -> None:
        if self.answer_delay.accepts_keys:
            self.dismiss(ConsentsAnswer.LATER if self._is_about_several else Action.CANCEL)
