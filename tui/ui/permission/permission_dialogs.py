"""Dialogs that ask for permission: to start a server, to trust it, to use definitions that changed.

They show what would run or what changed, and what each answer does. Closing one saves no answer: it is asked
again at the next start.
"""

from collections.abc import Iterator, Sequence
from itertools import chain

from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from tui.core.language.translate import N_, _, localized, n_, sentences
from tui.core.permission.change_effects import ORDER, ChangeEffect
from tui.core.permission.consent import NO_ALL, YES_ALL, ConsentQuestion, ConsentsQuestion
from tui.core.permission.definitions import DefinitionChange
from tui.core.permission.differences import texts_of
from tui.core.permission.wording import Kind, head, lines, summary
from tui.core.ports import TrustQuestion
from tui.core.questions import (
    TRUST_ANSWERS,
    Action,
    AttachQuestion,
    DefinitionsQuestion,
    QuestionAnswer,
    trust_texts,
)
from tui.core.text import cells_of, clean, clean_line, padded, quoted_name, start_of
from tui.ui.dialogs.question_dialog import NOT_READ, YES, QuestionDialog
from tui.ui.dialogs.read_pane import AT_ONCE, ReadPane
from tui.ui.keys.bindings import KeyOverrides
from tui.ui.widgets.literal import Literal
from tui.ui.widgets.rows import Row, filled

# ---- consent ----

LINES_OF_LONG = 100
CHARS_OF_LONG = 2_000
"""Limits for a question that is too long: lines of changes and risks, and characters of each line."""


def consent_rows(question: ConsentQuestion | ConsentsQuestion) -> Iterator[Row]:
    """Yield the lines of a question; about several servers, one complete question after the other.

    The text comes from the file: made visible, never markup.
    """
    subject, head = localized(question.subject), localized(question.head)
    yield ((_("{first} {second}", first=subject, second=head), "text bold"),)
    if question.damage:
        yield ((clean(f"! {localized(question.damage)}"), "warn"),)
    if isinstance(question, ConsentQuestion):
        if question.too_long:
            yield ((localized(question.too_long), "warn"),)
        yield ()
        yield from _what_runs(question)
        outcomes = question.outcomes[1 if question.too_long else 0 :]
    else:
        for number, one in enumerate(question.questions, 1):
            changed = f"  {_('has changed since you agreed to it')}" if one.changes else ""
            of = f"  {_('{number} of {all}', number=number, all=len(question.questions))}", "dim"
            yield ()
            yield (localized(one.subject), "text bold"), of, (changed, "warn")
            yield from _what_runs(one)
        outcomes = (YES_ALL, NO_ALL)
    yield ()
    for outcome in outcomes:
        yield ((localized(outcome), "dim"),)


def _what_runs(question: ConsentQuestion) -> Iterator[Row]:
    facts = [(_(label), localized(text)) for label, text in question.facts]
    width = max(cells_of(label) for label, _text in facts)
    too_long = question.too_long
    for label, text in facts:
        yield (f"{padded(label, width)}  ", "dim"), (_shown(text, too_long), "text")
    changes = (_("changed: {what}", what=localized(one)) for one in question.changes)
    shown = [*changes, *(f"! {localized(one)}" for one in question.risks)]
    for text in shown[: LINES_OF_LONG if too_long else None]:
        yield ((_shown(text, too_long), "warn"),)


def _shown(text: str, too_long: str) -> str:
    if not too_long or len(text) <= CHARS_OF_LONG:
        return clean(text)
    more = f"{len(text) - CHARS_OF_LONG:,}"
    return f"{clean(start_of(text, CHARS_OF_LONG))} {_('… and {more} more characters', more=more)}"


def consent_dialog(question: ConsentQuestion | ConsentsQuestion, keys: KeyOverrides) -> QuestionDialog:
    """Return the dialog about a server, or about all servers of one source."""
    rows = consent_rows(question)
    if isinstance(question, ConsentsQuestion):
        several: Sequence[ConsentQuestion] = question.questions
        too_long, each = "", {"ask.each": _("one by one")}
        yes, no = _("yes, start all {n}", n=len(several)), _("no, start none")
    else:
        several, too_long, each = [question], question.too_long, {}
        yes, no = _("yes, start it"), _("no")
        if question.is_model or question.is_remote:
            yes = _("yes, use it") if question.is_model else _("yes, connect")
    labels = {YES: yes, **each, "ask.decline": no, "ask.cancel": _("not now")}
    is_short = sum(one.size[0] for one in several) <= AT_ONCE
    pane = ReadPane(rows if is_short else lambda: rows)
    return QuestionDialog(question, keys, [pane], labels, problem=lambda: localized(too_long))


# ---- trust ----

LATER = N_(
    "To change the answer later, press {key} in the servers pane. You are asked again if its command changes."
)


def _effect(answer: str, effect: str) -> Row:
    return (*filled(_("{answer} {effect}"), "", answer=(answer, "bold"), effect=(effect, "")), ("\n", ""))


def trust_dialog(question: TrustQuestion, keys: KeyOverrides) -> QuestionDialog:
    """Return the dialog about a server's read-only marks and results, with what each answer does."""
    head, about = trust_texts(question)
    said = [part for answer, effect in TRUST_ANSWERS for part in _effect(_(answer), _(effect))]
    key = keys.first_of("servers.trust"), "bold"
    effects = Content.assemble(*said, *filled(_(LATER), "$text-dim", key=key))
    parts = (
        Literal(head, classes="question"),
        Static(Content.styled(about, "$text-dim"), markup=False),
        Static(effects, markup=False, classes="apart"),
    )
    labels = {YES: _("trust"), "ask.decline": _("do not trust"), "ask.cancel": _("not now")}
    return QuestionDialog(question, keys, parts, labels)


# ---- commands ----


def attach_dialog(question: AttachQuestion, keys: KeyOverrides) -> QuestionDialog:
    """Return the dialog about commands that want to use the servers that run here."""
    about = _(
        "Commands use the servers as you do in the workbench. Each command is recorded with the decisions."
    )
    parts = (
        Literal(question.head, classes="question"),
        Static(Content.styled(about, "$text-dim"), markup=False),
        Static(_("The answer applies to all commands until you quit."), markup=False, classes="apart"),
    )
    labels = {YES: _("allow"), "ask.decline": _("refuse"), "ask.cancel": _("refuse this one")}
    return QuestionDialog(question, keys, parts, labels)


# ---- definitions ----

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

MEANING = N_(
    "Accept: the model gets the new definitions.\n"
    "Leave out: the model does not get them. You are asked again when they change.\n"
    "Decide later: the model does not get them until you press {key} in the servers pane and accept."
)


TOO_LONG = N_(
    "Too long to show here, so left out. To review it without the others, press {key} in the servers pane. "
    "To read it, run mcptui list {server} --json. To accept it, add --accept-suspicious."
)

SINCE = N_("{changes} since you accepted it")
NOT_YET = N_("{changes}, not accepted yet")
NOTHING_WHOLE = N_("Too long to show here.")


def is_small(question: DefinitionsQuestion) -> bool:
    """Return whether a question can be prepared at once, since its texts are few and short."""
    left = AT_ONCE
    for change in question.changes:
        before = change.before.definition if change.before is not None else None
        for _side, text in chain(texts_of(change.after), texts_of(before)):
            left -= 10 + len(text)
            if left < 0:
                return False
    return True


def differences(question: DefinitionsQuestion, review_key: str) -> tuple[list[Row], set[str]]:
    """Return the changes, most severe first, and the names of the completely shown ones."""
    rows: list[Row] = []
    whole: set[str] = set()
    left, failed = MAX_ON_SCREEN, 0
    too_long = f"  {_(TOO_LONG, server=clean_line(question.server, 60), key=review_key)}"
    for change in sorted(question.changes, key=lambda one: -ORDER.index(one.effect)):
        found = _fitting(change, left, MAX_LINES - len(rows)) if failed < MAX_TRIED else ()
        if found:
            whole.add(change.name)
            left -= sum(len(text) for row in found for text, _ in row)
        else:
            failed += 1
            found = [((head(change), "accent"),), ((too_long, "warn"),)]
        rows += [*found, ()]
    return rows, whole


def _fitting(change: DefinitionChange, left: int, most_lines: int) -> Sequence[Row]:
    """Return the lines of a change, or () if they do not fit."""
    rows: list[Row] = []
    for number, line in enumerate(lines(change, left)):
        left -= sum(len(text) for text, _ in line)
        if number and (left < 0 or number >= most_lines or any(kind is Kind.CUT for _, kind in line)):
            return ()
        rows.append(tuple((text, STYLES[kind]) for text, kind in line))
    return rows


def definitions_dialog(question: DefinitionsQuestion, keys: KeyOverrides) -> QuestionDialog:
    """Return the dialog about definitions, which are not offered to the model meanwhile."""
    review_key = keys.first_of("servers.changes")
    whole: set[str] | None = None

    def compute() -> Sequence[Row]:
        """Compute the differences, which takes long for many or large changes."""
        nonlocal whole
        rows, whole = differences(question, review_key)
        return rows

    def problem() -> str:
        """Return why nothing can be accepted, or ""."""
        return _(NOT_READ) if whole is None else "" if whole else _(NOTHING_WHOLE)

    def accepted() -> QuestionAnswer:
        only = frozenset(whole or ())
        return QuestionAnswer(Action.ACCEPT, only=None if len(only) == len(question.changes) else only)

    pane = ReadPane(compute() if is_small(question) else compute)
    pane.add_class("inset")
    parts = (*_above(question), pane, Literal(_(MEANING, key=review_key), classes="about"))
    labels = {YES: _("accept"), "ask.decline": _("leave out"), "ask.cancel": _("decide later")}
    return QuestionDialog(question, keys, parts, labels, accept=accepted, problem=problem)


def _above(question: DefinitionsQuestion) -> Iterator[Widget]:
    was = any(not one.is_new for one in question.changes)
    words = SINCE if was else NOT_YET
    said = _(words, changes=summary(question.changes))
    server = _("Server {name}", name=quoted_name(question.server, 60))
    shown = f"{said}{localized(question.share)}"
    head = _("{server}: {changes}", server=server, changes=shown)
    yield Literal(head, classes="question")
    if question.damage:
        yield Literal(f"! {localized(question.damage)}", classes="odd")
    suspicious = sum(one.effect is ChangeEffect.SUSPICIOUS for one in question.changes)
    if suspicious:
        words = n_("One change is suspicious.", "{n} changes are suspicious.", suspicious)
        yield Literal(f"! {sentences(words, _('Do not accept what you do not understand.'))}", classes="odd")
