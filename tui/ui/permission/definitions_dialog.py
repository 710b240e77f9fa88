"""Asks whether the model may use tools that changed since they were accepted, and shows the differences."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from tui.core.permission.definitions import DefinitionChange
from tui.core.permission.differences import ORDER, ChangeEffect, texts_of
from tui.core.permission.wording import Kind, head, lines, summary
from tui.core.questions import Action, DefinitionsAnswer, DefinitionsQuestion
from tui.core.text import clean_line, quoted_name
from tui.ui.dialogs.question_dialog import NOT_READ, QuestionDialog, Reply, Room
from tui.ui.dialogs.read_pane import AT_ONCE, ReadPane
from tui.ui.keys.key_overrides import KeyOverrides
from tui.ui.widgets.literal import Literal
from tui.ui.widgets.rows import Row

ROOM = Room(6, 0, texts=True)

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


class _Prepared:
    """The differences of a question, which are computed when they are first shown."""

    def __init__(self, question: DefinitionsQuestion, review_key: str) -> None:
        self._question = question
        self._review_key = review_key
        self._found: Differences | None = None

    def rows(self) -> Sequence[Row]:
        """Compute the differences, which takes long for many or large changes."""
        self._found = Differences(self._question, self._review_key)
        return self._found.rows

    def problem(self) -> str:
        """Return why nothing can be accepted, or ""."""
        if self._found is None:
            return NOT_READ
        return "" if self._found.whole else NOTHING_WHOLE

    def accepted(self) -> DefinitionsAnswer:
        """Accept the completely shown changes."""
        whole = self._found.whole if self._found is not None else set()
        all_of_it = len(whole) == len(self._question.changes)
        return DefinitionsAnswer(Action.ACCEPT, only=None if all_of_it else frozenset(whole))


def definitions_dialog(question: DefinitionsQuestion, keys: KeyOverrides, *, waiting: int) -> QuestionDialog:
    """Return the dialog about definitions, which are not offered to the model meanwhile."""
    review_key = keys.first_of("servers.changes")
    prepared = _Prepared(question, review_key)
    pane = ReadPane(prepared.rows() if is_small(question) else prepared.rows)
    pane.add_class("inset")
    parts = (*_above(question), pane, Literal(MEANING.format(key=review_key), classes="about"))
    replies = {
        "ask.send": Reply("accept", prepared.accepted, prepared.problem),
        "ask.decline": Reply("leave out", lambda: DefinitionsAnswer(Action.DECLINE)),
        "ask.cancel": Reply("decide later", lambda: DefinitionsAnswer(Action.CANCEL)),
    }
    return QuestionDialog(question, keys, parts, replies, waiting=waiting, room=ROOM)


def _above(question: DefinitionsQuestion) -> Iterator[Widget]:
    server = f"Server {quoted_name(question.server, 60)}"
    was = any(not one.is_new for one in question.changes)
    since = " since you accepted it" if was else ", not accepted yet"
    title = Content.assemble((server, "bold"), f": {summary(question.changes)}{since}{question.share}")
    yield Static(title, markup=False)
    if question.damage:
        yield Literal(f"! {question.damage}", classes="odd")
    suspicious = sum(one.effect is ChangeEffect.SUSPICIOUS for one in question.changes)
    if suspicious:
        words = "One change is" if suspicious == 1 else f"{suspicious} changes are"
        yield Literal(f"! {words} suspicious. Do not accept what you do not understand.", classes="odd")
