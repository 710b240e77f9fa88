"""Tools that changed since they were accepted: the difference, and whether the model may use them again."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from tui.core.definitions.accepted import DefinitionChange
from tui.core.definitions.differences import ORDER, Verdict
from tui.core.definitions.wording import Kind, lines, summary
from tui.core.questions import Action, DefinitionsAnswer, DefinitionsQuestion
from tui.core.text import clean_line
from tui.ui.keys.action_table import Context
from tui.ui.keys.bindings import bindings_of
from tui.ui.keys.key_overrides import KeyOverrides
from tui.ui.questions.question_line import BREAKPOINTS, NOT_READ, SHORT, QuestionLine, Ripeness
from tui.ui.questions.read_pane import ReadPane
from tui.ui.widgets.literal import Literal
from tui.ui.widgets.rows import Row

AROUND = 6
"""Rows of the screen that the differences and the texts around them leave."""

AROUND_IN_SHORT = 0
"""The same on a screen of fewer than `SHORT` rows, which shows no margins."""

LEAST_ROWS = 3

MAX_LINES = 5_000

STYLES = {
    Kind.HEAD: "accent",
    Kind.PLAIN: "text",
    Kind.DIM: "dim",
    Kind.REMOVED: "bad",
    Kind.ADDED: "ok",
    Kind.WARNING: "warn",
}

MEANING = (
    "Accept: the model gets the new definitions. Leave out: it does not, and mcptui asks again when they "
    "change. Decide later: it does not for now. Press {key} in the servers pane to decide."
)


def difference_lines(changes: Sequence[DefinitionChange]) -> Iterator[Row]:
    """Yield the changes one below the other, the worst first."""
    worst = sorted(changes, key=lambda one: -ORDER.index(one.verdict))
    found = (line for one in worst for line in (*lines(one), ()))
    for line in islice(found, MAX_LINES):
        yield tuple((text, STYLES[kind]) for text, kind in line)
    if left := sum(1 for _ in found):
        yield ((f"! {left} more lines are not shown. Do not accept them unseen.", "warn"),)


class DefinitionsDialog(ModalScreen[DefinitionsAnswer]):
    """Asks whether changed definitions are accepted; nothing of them is offered meanwhile."""

    CONTEXTS = (Context.SERVER_QUESTION,)
    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Context.SERVER_QUESTION)
    VERTICAL_BREAKPOINTS = BREAKPOINTS

    DEFAULT_CSS = """
    DefinitionsDialog { align: center bottom; background: $surface 60%; }
    DefinitionsDialog > Vertical {
        width: 1fr; max-width: 110; height: auto; padding: 1 2; margin: 0 1 1 1;
        background: $panel; border-left: outer $accent;
    }
    DefinitionsDialog Static { width: 1fr; height: auto; }
    DefinitionsDialog ReadPane { margin: 1 0; }
    DefinitionsDialog .about { color: $text-dim; }
    DefinitionsDialog .odd { color: $warn; }
    DefinitionsDialog QuestionLine { margin-top: 1; }
    DefinitionsDialog.-short > Vertical { padding: 0 2; margin: 0; }
    DefinitionsDialog.-short ReadPane, DefinitionsDialog.-short QuestionLine { margin: 0; }
    """

    def __init__(self, question: DefinitionsQuestion, keys: KeyOverrides, *, waiting: int) -> None:
        super().__init__()
        self.question = question
        self.ripeness = Ripeness()
        self._review_key = keys.first_of("servers.changes")
        self.pane = ReadPane(difference_lines(question.changes), self._read)
        self.line = QuestionLine(keys, ("ask.send", "ask.decline", "ask.cancel"), waiting)

    def compose(self) -> ComposeResult:
        question = self.question
        server = clean_line(question.server, 60)
        suspicious = sum(one.verdict is Verdict.SUSPICIOUS for one in question.changes)
        with Vertical():
            was = any(not one.is_new for one in question.changes)
            since = " since you accepted it" if was else ", not accepted yet"
            head = Content.assemble((server, "bold"), f": {summary(question.changes)}{since}")
            yield Static(head, markup=False)
            if suspicious:
                words = "One change is" if suspicious == 1 else f"{suspicious} changes are"
                yield Literal(
                    f"! {words} suspicious. Do not accept what you do not understand.", classes="odd"
                )
            yield self.pane
            yield Literal(MEANING.format(key=self._review_key), classes="about")
            yield self.line

    def _fit(self) -> None:
        """Give the differences the rows that the texts around them leave."""
        rows = self.app.size.height
        texts = sum(one.outer_size.height for one in self.query(Static))
        room = rows - texts - (AROUND_IN_SHORT if rows < SHORT else AROUND)
        self.pane.styles.height = max(LEAST_ROWS, min(self.pane.row_count(), room))

    def on_mount(self) -> None:
        self.line.relabel("ask.send", "accept")
        self.line.relabel("ask.decline", "leave out")
        self.line.relabel("ask.cancel", "decide later")
        self.set_focus(self.pane)
        self.call_after_refresh(self._fit)

    def on_resize(self) -> None:
        self.call_after_refresh(self._fit)

    def _read(self) -> None:
        self.line.show_unread(self.pane.unread)
        self.call_after_refresh(self._fit)

    def show_waiting(self, waiting: int) -> None:
        self.line.show_waiting(waiting)

    def action_ask_send(self) -> None:
        """Accept, once all changes have been on screen."""
        if not self.ripeness.ripe:
            return
        if self.pane.unread:
            self.line.say(NOT_READ)
        else:
            self.dismiss(DefinitionsAnswer(Action.ACCEPT))

    def action_ask_decline(self) -> None:
        if self.ripeness.ripe:
            self.dismiss(DefinitionsAnswer(Action.DECLINE))

    def action_ask_cancel(self) -> None:
        if self.ripeness.ripe:
            self.dismiss(DefinitionsAnswer(Action.CANCEL))
