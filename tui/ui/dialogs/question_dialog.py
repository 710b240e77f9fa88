"""The frame of every question that can be answered by keys alone: its texts, what must be read, the answers.

A yes counts once all of the text was on screen. Closing the question is an answer of its own.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static, TextArea

from tui.core.language.translate import N_, _, n_, sentences
from tui.core.questions import Action, QuestionAnswer
from tui.core.text import clean_line
from tui.ui.dialogs.dialog import Dialog
from tui.ui.dialogs.read_pane import ReadPane
from tui.ui.keys.action_table import Context, action
from tui.ui.keys.answer_pause import AnswerDelay
from tui.ui.keys.bindings import KeyOverrides, bindings_of
from tui.ui.widgets.rows import EMPTY, Row, flowed, wrap

GAP = "    "

NOT_READ = N_("Read all of it first.")
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
        said = sentences(clean_line(self._said, 300), "" if when_read else self._unread)
        return f"! {said}" if said else ""

    def _keys_shown(self) -> list[Row]:
        groups: list[Row] = []
        for one in self._actions:
            words = self._labels.get(one, _(action(one).label))
            groups.append(((self._keys.answers_of(one), "bold"), (f" {words}", "$text-dim")))
        if self._waiting:
            waiting = n_("{n} more question waiting", "{n} more questions waiting", self._waiting)
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


class QuestionDialog(Dialog[QuestionAnswer]):
    """A question over the screen. `parts` are its widgets, of which one may be the text to read or to edit.

    `labels` are words for keys, in the order in which they are shown; a key without words is not shown.
    `accept` returns the answer of a yes. `problem` says why a yes does not count now, or "": then it is not
    offered, but its key tells the problem. With `unread`, it counts before all of the text was on screen.
    `acts` are called for their keys, which do not close the question.
    """

    CONTEXTS = (Context.SERVER_QUESTION,)
    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Context.SERVER_QUESTION)
    OPENS_ITSELF = True

    DEFAULT_CSS = """
    QuestionDialog.-scrolls > Frame { overflow-y: auto; }
    QuestionDialog Static { width: 1fr; height: auto; }
    QuestionDialog .odd { color: $warn; }
    QuestionDialog .inset { margin: 1 0; }
    QuestionDialog .apart, QuestionDialog QuestionLine { margin-top: 1; }
    QuestionDialog .body { background: $surface; }
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
        self.question, self._keys = question, keys
        self.answer_delay = AnswerDelay()
        self._labels = labels
        self._accept, self._problem, self._unread = accept, problem, unread
        self._acts = acts
        self._body = next((part for part in parts if isinstance(part, ReadPane | TextArea | Input)), None)
        self.line = QuestionLine(keys, self._offered, labels)
        super().__init__(EMPTY, *parts, keys=self.line)

    @property
    def _offered(self) -> Sequence[str]:
        hidden = (YES,) if self._problem() else ()
        return [name for name, label in self._labels.items() if label and name not in hidden]

    def on_mount(self) -> None:
        if self._body is not None:
            self.set_focus(self._body)

    def on_read_pane_read(self) -> None:
        if isinstance(self._body, ReadPane):
            offered = self._offered
            pane = self._body
            counts = self._unread or (YES not in offered and pane.is_ready)
            is_early = pane.is_ready and not pane.is_painted  # all of it may be on screen in a moment
            self.line.offer(offered, "" if counts or is_early else pane.unread)
            self.fit_now()
            self.fit()  # once the line is as tall as its new text

    def fit_now(self) -> None:
        """Give the text the rows that the others do not need."""
        if self._body is None or isinstance(self._body, Input):
            return
        # Not by the height that the line has now: it is only right once the layout has followed its text.
        left = self.room_for(self._body, [(self.line, self.line.rows())])
        if isinstance(self._body, ReadPane):
            needed = self._body.row_count()
            fits = needed <= self.room_for(self._body, [(self.line, self.line.rows(when_read=True))])
            self._body.styles.height = needed if fits else left
        else:
            self._body.styles.max_height = left

    def say(self, problem: str) -> None:
        self.line.say(problem)
        self.fit()

    def typed(self) -> str:
        body = self._body
        return body.text if isinstance(body, TextArea) else body.value if isinstance(body, Input) else ""

    def close(self) -> None:
        self.dismiss(ANSWERS["ask.cancel"])

    def action_act(self, name: str) -> None:
        if name not in self._labels or not self.answer_delay.accepts_keys:
            return
        if name in self._acts:
            self._acts[name]()
        elif name == "ask.cancel":
            self.leave(self._keys.first_of(name))
        elif name != YES:
            self.dismiss(ANSWERS[name])
        elif problem := self._problem():
            self.line.say(problem)
        elif not self._unread and isinstance(self._body, ReadPane) and self._body.unread:
            self.line.say(_(NOT_READ))
        else:
            self.dismiss(self._accept())

    def on_input_submitted(self) -> None:
        self.action_act(YES)
