"""The frame of every question that can be answered by keys alone: its texts, what must be read, the answers.

A yes counts once all of the text was on screen. Closing the question is an answer of its own.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Input, Static, TextArea

from tui.core import units
from tui.core.questions import Action, QuestionAnswer
from tui.core.text import clean_line
from tui.ui.dialogs.read_pane import ReadPane
from tui.ui.keys.action_table import Context, action
from tui.ui.keys.answer_pause import AnswerDelay
from tui.ui.keys.bindings import KeyOverrides, bindings_of
from tui.ui.widgets.rows import Row, flowed, wrap

SHORT = 16
GAP = "    "
BREAKPOINTS = [(0, "-short"), (SHORT, "-tall")]
"""On a screen with fewer than `SHORT` rows, a dialog has the class `-short` and no margins."""


AROUND = 6
"""Rows of the screen around the text and the other texts, unless it is short."""

NOT_READ = "Read all of it first."
"""Shown for a yes before the whole text was read."""


class QuestionLine(Static):
    """Shows the keys of `actions`, with `labels` instead of the table's, and above them the last message."""

    DEFAULT_CSS = "QuestionLine { width: 1fr; height: auto; }"

    def __init__(self, keys: KeyOverrides, actions: Sequence[str], labels: Mapping[str, str]) -> None:
        super().__init__(markup=False)
        self._keys = keys
        self._actions = actions
        self._labels = labels
        self._waiting = 0
        self._said = self._unread = ""

    def on_mount(self) -> None:
        self._draw()

    def on_resize(self) -> None:
        self._draw()

    def say(self, text: str) -> None:
        """Show a problem; "" removes it."""
        self._said = text
        self._draw()

    def offer(self, actions: Sequence[str], unread: str) -> None:
        """Show the keys of these actions, and what part of the question has not been on screen yet."""
        if (actions, unread) != (self._actions, self._unread):
            self._said = "" if self._unread and not unread else self._said
            self._actions, self._unread = actions, unread
            self._draw()

    def show_waiting(self, waiting: int) -> None:
        """Show how many questions follow."""
        self._waiting = waiting
        self._draw()

    def rows(self, *, when_read: bool = False) -> int:
        """Return its height. `when_read`: without the message about what has not been on screen."""
        said = self._message(when_read=when_read)
        return len(self._keys_shown()) + (len(wrap(((said, ""),), max(10, self.size.width))) if said else 0)

    def _message(self, *, when_read: bool = False) -> str:
        said = " ".join(filter(None, (clean_line(self._said, 300), "" if when_read else self._unread)))
        return f"! {said}" if said else ""

    def _keys_shown(self) -> list[Row]:
        groups: list[Row] = []
        for one in self._actions:
            words = self._labels.get(one, action(one).label)
            groups.append(((self._keys.answers_of(one), "bold"), (f" {words}", "$text-dim")))
        if self._waiting:
            waiting = f"{units.plural(self._waiting, 'more question')} waiting"
            groups.append(((waiting, "$text-dim"),))
        return flowed(groups, GAP, self.size.width or sys.maxsize)

    def _draw(self) -> None:
        said = self._message()
        parts = [(f"{said}\n", "$warn")] if said else []
        for number, row in enumerate(self._keys_shown()):
            parts += [("\n", ""), *row] if number else row
        self.update(Content.assemble(*parts))


YES = "ask.send"

ANSWERS = {
    "ask.each": QuestionAnswer(Action.CANCEL, each=True),
    "ask.decline": QuestionAnswer(Action.DECLINE),
    "ask.cancel": QuestionAnswer(Action.CANCEL),
}
"""The answers of the keys other than yes."""


class QuestionDialog(ModalScreen[QuestionAnswer]):
    """A question over the screen. `parts` are its widgets, of which one may be the text to read or to edit.

    `labels` are words for keys, in the order in which they are shown; a key without words is not shown.
    `accept` returns the answer of a yes. `problem` says why a yes does not count now, or "": then it is not
    offered, but its key tells the problem. With `unread`, it counts before all of the text was on screen.
    `acts` are called for their keys, which do not close the question.
    """

    CONTEXTS = (Context.SERVER_QUESTION,)
    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Context.SERVER_QUESTION)
    VERTICAL_BREAKPOINTS = BREAKPOINTS

    DEFAULT_CSS = """
    QuestionDialog { align: center bottom; background: $surface 60%; }
    QuestionDialog > Vertical {
        width: 100%; height: auto; padding: 1 2; margin: 0 0 1 0;
        background: $panel; border-left: outer $accent;
    }
    QuestionDialog.-warning > Vertical { border-left: outer $warn; }
    QuestionDialog.-scrolls > Vertical { max-height: 80vh; overflow-y: auto; }
    QuestionDialog > Vertical > * { max-width: 104; }
    QuestionDialog Static { width: 1fr; height: auto; }
    QuestionDialog .about { color: $text-dim; }
    QuestionDialog .odd { color: $warn; }
    QuestionDialog .inset { margin: 1 0; }
    QuestionDialog .apart, QuestionDialog QuestionLine { margin-top: 1; }
    QuestionDialog .body { background: $surface; }
    QuestionDialog TextArea {
        height: auto; min-height: 3; border: none; padding: 0; background-tint: transparent;
    }
    QuestionDialog.-short > Vertical { padding: 0 2; margin: 0; }
    QuestionDialog.-short .inset { margin: 0; }
    QuestionDialog.-short .apart, QuestionDialog.-short QuestionLine { margin-top: 0; }
    """

    def __init__(
        self,
        question: object,
        keys: KeyOverrides,
        parts: Sequence[Widget],
        labels: Mapping[str, str],
        *,
        accept: Callable[[], QuestionAnswer] = lambda: QuestionAnswer(Action.ACCEPT),
        problem: Callable[[], str] = str,
        unread: bool = False,
        acts: Mapping[str, Callable[[], object]] = MappingProxyType({}),
    ) -> None:
        super().__init__()
        self.question = question
        self.answer_delay = AnswerDelay()
        self._parts = parts
        self._labels = labels
        self._accept, self._problem, self._unread = accept, problem, unread
        self._acts = acts
        self._body = next((part for part in parts if isinstance(part, ReadPane | TextArea | Input)), None)
        self.line = QuestionLine(keys, self._offered, labels)

    @property
    def _offered(self) -> Sequence[str]:
        hidden = (YES,) if self._problem() else ()
        return [name for name, label in self._labels.items() if label and name not in hidden]

    def compose(self) -> ComposeResult:
        with Vertical():
            yield from self._parts
            yield self.line

    def on_mount(self) -> None:
        if self._body is not None:
            self.set_focus(self._body)
            self.call_after_refresh(self._fit)

    def on_resize(self) -> None:
        self.call_after_refresh(self._fit)

    def on_read_pane_read(self) -> None:
        if isinstance(self._body, ReadPane):
            offered = self._offered
            counts = self._unread or (YES not in offered and self._body.is_ready)
            self.line.offer(offered, "" if counts else self._body.unread)
            self._fit()
            self.call_after_refresh(self._fit)  # once the line is as tall as its new text

    def _fit(self) -> None:
        """Give the text the rows that the others do not need."""
        rows = self.app.size.height
        others = sum(one.outer_size.height for one in self.query(Static) if one is not self.line)
        left = rows - AROUND * (rows >= SHORT) - others
        if isinstance(self._body, ReadPane):
            # Not by the height that the line has now: it is only right once the layout has followed its text.
            needed = self._body.row_count()
            fits = needed <= left - self.line.rows(when_read=True)
            self._body.styles.height = needed if fits else max(3, left - self.line.rows())
        elif isinstance(self._body, TextArea):
            self._body.styles.max_height = max(3, left - self.line.rows())

    def action_act(self, name: str) -> None:
        if name not in self._labels or not self.answer_delay.accepts_keys:
            return
        if name in self._acts:
            self._acts[name]()
        elif name != YES:
            self.dismiss(ANSWERS[name])
        elif problem := self._problem():
            self.line.say(problem)
        elif not self._unread and isinstance(self._body, ReadPane) and self._body.unread:
            self.line.say(NOT_READ)
        else:
            self.dismiss(self._accept())

    def on_input_submitted(self) -> None:
        self.action_act(YES)
