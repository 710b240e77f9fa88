"""Asks for consent to start a server from elsewhere: shows what would run and what each answer does.

Closing the question saves no answer; it is asked again at the next start.
"""

from collections.abc import Iterator, Sequence

from tui.core.permission.consent import NO_ALL, YES_ALL, ConsentQuestion, ConsentsQuestion
from tui.core.questions import Action, ConsentsAnswer
from tui.core.text import clean
from tui.ui.dialogs.question_dialog import QuestionDialog, Reply, Room
from tui.ui.dialogs.read_pane import AT_ONCE, ReadPane
from tui.ui.keys.key_overrides import KeyOverrides
from tui.ui.widgets.rows import Row

ROOM = Room(8, 5)
"""Around the text: the frame, and up to three lines of keys."""

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


def consent_dialog(
    question: ConsentQuestion | ConsentsQuestion, keys: KeyOverrides, *, waiting: int
) -> QuestionDialog:
    """Return the dialog about a server, or about all servers of one source."""
    if isinstance(question, ConsentsQuestion):
        several: Sequence[ConsentQuestion] = question.questions
        rows = consents_rows(question)
        replies = {
            "ask.send": Reply(f"yes, start all {len(several)}", lambda: ConsentsAnswer.ALL),
            "ask.each": Reply("one by one", lambda: ConsentsAnswer.EACH),
            "ask.decline": Reply("no, start none", lambda: ConsentsAnswer.NONE),
            "ask.cancel": Reply("not now", lambda: ConsentsAnswer.LATER),
        }
    else:
        several, rows, too_long = [question], consent_rows(question), question.too_long
        how = "use it" if question.is_model else "connect" if question.is_remote else "start it"
        replies = {
            "ask.send": Reply(f"yes, {how}", lambda: Action.ACCEPT, lambda: too_long),
            "ask.decline": Reply("no", lambda: Action.DECLINE),
            "ask.cancel": Reply("not now", lambda: Action.CANCEL),
        }
    is_short = sum(one.size[0] for one in several) <= AT_ONCE
    pane = ReadPane(rows if is_short else lambda: rows)
    return QuestionDialog(question, keys, [pane], replies, waiting=waiting, room=ROOM)
