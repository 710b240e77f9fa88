"""Whether a server that came from elsewhere may start: what would run, and what yes and no do."""

from collections.abc import Iterator
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from tui.core.consent.question import ConsentQuestion
from tui.core.questions import Action
from tui.core.text import clean, clean_line
from tui.ui.keys.action_table import Context
from tui.ui.keys.bindings import bindings_of
from tui.ui.keys.key_overrides import KeyOverrides
from tui.ui.questions.question_line import BREAKPOINTS, SHORT, QuestionLine, Ripeness

AROUND = 8
"""Rows of the screen that the text leaves: for its frame, and the keys in up to three lines."""

AROUND_IN_SHORT = 5
"""The same on a screen of fewer than `SHORT` rows, which shows no margins."""

MAX_LINES = 400
"""Facts, changes and risks that are shown; a server with more of them says so."""


class ConsentDialog(ModalScreen[Action]):
    """Asks whether a server may start. What would run scrolls, the answers stay visible."""

    CONTEXTS = (Context.SERVER_QUESTION,)
    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Context.SERVER_QUESTION)
    VERTICAL_BREAKPOINTS = BREAKPOINTS

    DEFAULT_CSS = """
    ConsentDialog { align: center bottom; background: $surface 60%; }
    ConsentDialog > Vertical {
        width: 1fr; max-width: 110; height: auto; max-height: 100%; padding: 1 2; margin: 0 1 1 1;
        background: $panel; border-left: outer $accent;
    }
    ConsentDialog Static { width: 1fr; height: auto; }
    ConsentDialog VerticalScroll { height: auto; background: $panel; }
    ConsentDialog .facts { margin: 1 0; }
    ConsentDialog .outcome { color: $text-dim; }
    ConsentDialog QuestionLine { margin-top: 1; }
    ConsentDialog.-short > Vertical { padding: 0 2; margin: 0; }
    ConsentDialog.-short .facts { margin: 0; }
    ConsentDialog.-short QuestionLine { margin-top: 0; }
    """

    def __init__(self, question: ConsentQuestion, keys: KeyOverrides, *, waiting: int) -> None:
        super().__init__()
        self.question = question
        self.ripeness = Ripeness()
        self._room = VerticalScroll()
        self.line = QuestionLine(keys, ("ask.send", "ask.decline"), waiting)
        self.line.relabel("ask.send", "yes, connect" if question.is_remote else "yes, start it")
        self.line.relabel("ask.decline", "no")

    def compose(self) -> ComposeResult:
        question = self.question
        head = Content.assemble((clean_line(question.server, 60), "bold"), f" {question.head}")
        with Vertical():
            with self._room:
                yield Static(head, markup=False)
                yield Static(Content("\n").join(self._facts()), classes="facts", markup=False)
                for outcome in question.outcomes:
                    yield Static(Content(outcome), classes="outcome", markup=False)
            yield self.line

    def on_mount(self) -> None:
        self._fit()
        self.set_focus(self._room)

    def on_resize(self) -> None:
        self._fit()

    def _fit(self) -> None:
        rows = self.app.size.height
        self._room.styles.max_height = max(3, rows - (AROUND_IN_SHORT if rows < SHORT else AROUND))

    def _facts(self) -> Iterator[Content]:
        """Yield the lines of what would run. The text is the file's: visible, never markup."""
        question = self.question
        width = max(len(label) for label, _ in question.facts)
        for label, text in question.facts:
            yield Content.assemble((f"{label.ljust(width)}  ", "$text-dim"), clean(text))
        shown = [(f"changed: {one}", "$warn") for one in question.changes]
        shown += [(f"! {one}", "$warn") for one in question.risks]
        for text, style in shown[:MAX_LINES]:
            yield Content.assemble((clean(text), style))
        if len(shown) > MAX_LINES:
            yield Content.assemble((f"! and {len(shown) - MAX_LINES} more lines that are not shown", "$warn"))

    def show_waiting(self, waiting: int) -> None:
        self.line.show_waiting(waiting)

    def action_ask_send(self) -> None:
        """Say yes, once all of it has been on screen."""
        if not self.ripeness.ripe:
            return
        if self._room.scroll_offset.y < self._room.max_scroll_y:
            self.line.say("There is more below. Scroll to the end first (pgdn, end).")
        else:
            self.dismiss(Action.ACCEPT)

    def action_ask_copy(self) -> None:
        """There is no address to copy."""

    def action_ask_decline(self) -> None:
        if self.ripeness.ripe:
            self.dismiss(Action.DECLINE)

    def action_ask_cancel(self) -> None:
        self.action_ask_decline()
