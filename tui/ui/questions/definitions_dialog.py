"""Asks whether the model may use tools that changed since they were accepted, and shows the differences."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from tui.core.definitions.accepted import DefinitionChange
from tui.core.definitions.differences import ORDER, ChangeEffect, texts_of
from tui.core.definitions.wording import Kind, head, lines, summary
from tui.core.questions import Action, DefinitionsAnswer, DefinitionsQuestion
from tui.core.text import clean_line, quoted_name
from tui.ui.keys.action_table import Context
from tui.ui.keys.answer_pause import AnswerDelay
from tui.ui.keys.bindings import bindings_of
from tui.ui.keys.key_overrides import KeyOverrides
from tui.ui.questions.question_line import BREAKPOINTS, NOT_READ, SHORT, QuestionLine
from tui.ui.questions.read_pane import AT_ONCE, ReadPane
from tui.ui.widgets.literal import Literal
from tui.ui.widgets.rows import Row

AROUND = 6
"""Rows of the screen around the differences, for the other texts."""

AROUND_IN_SHORT = 0
"""The same on a screen with fewer than `SHORT` rows, which has no margins."""

LEAST_ROWS = 3

MAX_LINES = 5_000
MAX_ON_SCREEN = 100_000
"""Maximum lines and characters of a question. A change that does not fit cannot be accepted."""

MAX_TRIED = 3
"""Number of changes that do not fit after which the others are not measured, to save time."""

STYLES = {
    Kind.HEAD: "accent",
    Kind.PLAIN: "text",
    Kind.DIM: "dim",
    Kind.REMOVED: "bad",
    Kind.ADDED: "ok",
    Kind.WARNING: "warn",
    Kind.CUT: "warn",
}

MEANING = (
    "Accept: the model gets the new definitions. Leave out: it does not get them, and mcptui asks again when "
    "they change. Decide later: it does not get them yet. To decide, press {key} in the servers pane."
)


TOO_MANY = (
    "  Too long to show with the others, so left out. To review it next, press {key} in the servers pane."
)
TOO_LONG = (
    "  Too long to show here, so left out. To read it, run mcptui list {server} --json. "
    "To accept it, add --accept-suspicious."
)

NOTHING_WHOLE = "Too long to show here."

ANSWERS = ("ask.send", "ask.decline", "ask.cancel")


def is_small(question: DefinitionsQuestion) -> bool:
    """Return whether a question can be prepared at once, since its texts are few and short."""
    left = AT_ONCE
    for change in question.changes:
        before = change.before.definition if change.before is not None else None
        for _, text in chain(texts_of(change.after), texts_of(before)):
            left -= 10 + len(text)
            if left < 0:
                return False
    return True


class Differences:
    """The changes, most severe first, as `rows`; `whole` are the names of completely shown ones."""

    def __init__(self, question: DefinitionsQuestion, review_key: str) -> None:
        self.rows: list[Row] = []
        self.whole: set[str] = set()
        self._left = MAX_ON_SCREEN
        failed = 0
        for change in sorted(question.changes, key=lambda one: -ORDER.index(one.effect)):
            found = list(self._fitting(change)) if failed < MAX_TRIED else [((head(change), "accent"),), ()]
            if found[-1]:
                self.rows += found
                self.whole.add(change.name)
            else:
                failed += 1
                fits = failed > MAX_TRIED or self._fits_alone(question, change, review_key)
                why = (TOO_MANY if fits else TOO_LONG).format(
                    server=clean_line(question.server, 60), key=review_key
                )
                self.rows += [found[0], ((why, "warn"),)]
            self.rows.append(())

    def _fits_alone(self, question: DefinitionsQuestion, change: DefinitionChange, review_key: str) -> bool:
        if len(question.changes) == 1 or self._left == MAX_ON_SCREEN:
            return False
        return bool(Differences(replace(question, changes=[change]), review_key).whole)

    def _fitting(self, change: DefinitionChange) -> Iterator[Row]:
        """Yield the lines of a change; the last one is empty if the change does not fit."""
        left, most_lines = self._left, MAX_LINES - len(self.rows)
        for number, line in enumerate(lines(change, self._left)):
            left -= sum(len(text) for text, _ in line)
            if not number:
                yield tuple((text, STYLES[kind]) for text, kind in line)
                continue
            if left < 0 or number >= most_lines or any(kind is Kind.CUT for _, kind in line):
                yield ()
                return
            yield tuple((text, STYLES[kind]) for text, kind in line)
        self._left = left


class DefinitionsDialog(ModalScreen[DefinitionsAnswer]):
    """Asks whether to accept changed definitions, which are not offered to the model meanwhile."""

    CONTEXTS = (Context.SERVER_QUESTION,)
    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Context.SERVER_QUESTION)
    VERTICAL_BREAKPOINTS = BREAKPOINTS

    DEFAULT_CSS = """
    DefinitionsDialog { align: center bottom; background: $surface 60%; }
    DefinitionsDialog > Vertical {
        width: 100%; height: auto; padding: 1 2; margin: 0 0 1 0;
        background: $panel; border-left: outer $accent;
    }
    DefinitionsDialog > Vertical > * { max-width: 104; }
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
        self.answer_delay = AnswerDelay()
        self._review_key = keys.first_of("servers.changes")
        self._differences: Differences | None = None
        if is_small(question):
            self._prepare()
        self.pane = ReadPane(self._differences.rows if self._differences else self._prepare, self._read)
        self.line = QuestionLine(keys, self._answers, waiting)

    def _prepare(self) -> Sequence[Row]:
        """Compute the differences, which takes long for many or large changes."""
        found = Differences(self.question, self._review_key)
        self._differences = found
        return found.rows

    @property
    def _whole(self) -> set[str]:
        """The names of the changes that can be accepted; empty before the differences are prepared."""
        return self._differences.whole if self._differences is not None else set()

    @property
    def _answers(self) -> Sequence[str]:
        return ANSWERS if self._whole else ANSWERS[1:]

    def compose(self) -> ComposeResult:
        question = self.question
        server = f"Server {quoted_name(question.server, 60)}"
        suspicious = sum(one.effect is ChangeEffect.SUSPICIOUS for one in question.changes)
        with Vertical():
            was = any(not one.is_new for one in question.changes)
            since = " since you accepted it" if was else ", not accepted yet"
            title = Content.assemble(
                (server, "bold"), f": {summary(question.changes)}{since}{question.share}"
            )
            yield Static(title, markup=False)
            if question.damage:
                yield Literal(f"! {question.damage}", classes="odd")
            if suspicious:
                words = "One change is" if suspicious == 1 else f"{suspicious} changes are"
                yield Literal(
                    f"! {words} suspicious. Do not accept what you do not understand.", classes="odd"
                )
            yield self.pane
            yield Literal(MEANING.format(key=self._review_key), classes="about")
            yield self.line

    def _fit(self) -> None:
        """Give the differences the rows that the other texts do not need."""
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
        self.line.offer(self._answers)
        self.line.show_unread(self.pane.unread)
        self.call_after_refresh(self._fit)

    def show_waiting(self, waiting: int) -> None:
        self.line.show_waiting(waiting)

    def action_ask_send(self) -> None:
        """Accept the completely shown changes, once they have been on screen."""
        if not self.answer_delay.accepts_keys:
            return
        if self._differences is None:
            self.line.say(NOT_READ)
        elif not self._whole:
            self.line.say(NOTHING_WHOLE)
        elif self.pane.unread:
            self.line.say(NOT_READ)
        else:
            all_of_it = len(self._whole) == len(self.question.changes)
            only = None if all_of_it else frozenset(self._whole)
            self.dismiss(DefinitionsAnswer(Action.ACCEPT, only=only))

    def action_ask_decline(self) -> None:
        if self.answer_delay.accepts_keys:
            self.dismiss(DefinitionsAnswer(Action.DECLINE))

    def action_ask_cancel(self) -> None:
        if self.answer_delay.accepts_keys:
            self.dismiss(DefinitionsAnswer(Action.CANCEL))
