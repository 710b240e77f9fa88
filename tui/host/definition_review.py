"""Asks the user about changed definitions: one question per server at a time, up to a limit."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import WeakKeyDictionary

from tui.core.background import Tasks
from tui.core.permission.change_effects import ChangeEffect
from tui.core.permission.definitions import Accepted, DefinitionChange, shown_name
from tui.core.ports import BY_DEFAULT, DecisionKind
from tui.core.questions import Action, DefinitionsQuestion, QuestionAnswer, Questioner
from tui.host.server.supervisor import Supervisor

MAX_QUESTIONS = 3
"""Maximum questions of one server that open automatically and that the user does not accept completely."""

MAX_CHANGES = 100
"""Maximum changes in one question; the next question has the others."""

MAX_PARTS = 10
"""Maximum further questions about the changes of one list that open automatically, and are not accepted
completely; the others on request."""

BY_SETTING = "setting accept_changes"
DIGEST = 16
"""Recorded characters of a definition's digest."""


@dataclass(eq=False, slots=True)
class _Review:
    """What the user was asked about one server.

    Attributes:
        asked: digests of the changes in questions.
        pending: digests of all changes when the last question was begun that counts; the others are its rest.
        parts: how many questions about the rest the user did not accept completely.
        count: how many other questions the user did not accept completely.
        shown: digests of the changes in questions that the user requested; those not shown come first.
        task: the open question.
    """

    asked: set[str] = field(default_factory=set)
    pending: set[str] = field(default_factory=set)
    parts: int = 0
    count: int = 0
    shown: set[str] = field(default_factory=set)
    task: asyncio.Task[None] | None = None


class DefinitionReview:
    """Asks about changes and records the answers.

    `redact` removes configured secrets for display. The original definition is the accepted one.
    """

    def __init__(self, questioner: Questioner, redact: Callable[[Any], Any]) -> None:
        self._questioner = questioner
        self._redact = redact
        self._reviews: WeakKeyDictionary[Supervisor, _Review] = WeakKeyDictionary()
        self._tasks = Tasks()
        self._closed = False

    def look(self, server: Supervisor) -> None:
        """Ask about those changes of a server that the user has not been asked about."""
        review = self._reviews.setdefault(server, _Review())
        if self._closed or review.task is not None:
            return
        definitions = server.offer.definitions
        changes = [one for one in server.definition_changes if not definitions.is_refused(one)]
        new = [one for one in changes if one.digest not in review.asked]
        is_rest = all(one.digest in review.pending for one in new)
        if not new or (review.parts >= MAX_PARTS if is_rest else review.count >= MAX_QUESTIONS):
            return
        if not is_rest:
            review.parts, review.pending = 0, {one.digest for one in changes}
        question = changes if len(changes) <= MAX_CHANGES else new[:MAX_CHANGES]
        review.asked |= {one.digest for one in question}
        self._begin(server, question, len(changes), is_rest=is_rest)

    def ask(self, server: Supervisor, name: str | None = None) -> None:
        """At the user's request, ask about a tool, or about all of a server that is not accepted.

        If they do not fit into one question, the next request continues with the others.
        """
        review = self._reviews.setdefault(server, _Review())
        changes = [one for one in server.definition_changes if name in (None, one.name)]
        if not changes or self._closed or review.task is not None:
            return
        if not (question := [one for one in changes if one.digest not in review.shown]):
            review.shown.clear()
            question = changes
        question = question[:MAX_CHANGES]
        review.shown |= {one.digest for one in question}
        self._begin(server, question, len(changes))

    def forget(self, server: Supervisor) -> None:
        """Withdraw the question about a server that is removed or replaced."""
        review = self._reviews.pop(server, None)
        if review is not None and review.task is not None:
            review.task.cancel()

    def _begin(
        self, server: Supervisor, changes: Sequence[DefinitionChange], total: int, *, is_rest: bool = False
    ) -> None:
        work = self._review(server, changes, total, is_rest)
        self._reviews[server].task = self._tasks.start(work, "asking about changed definitions")

    async def _review(
        self, server: Supervisor, changes: Sequence[DefinitionChange], total: int, is_rest: bool
    ) -> None:
        review, name = self._reviews[server], server.spec.name
        try:
            shown = await asyncio.to_thread(lambda: {change.name: self._shown(change) for change in changes})
            damage = server.offer.definitions.damage
            if server.spec.trusted and server.spec.accept_changes and not damage:
                harmless = [one for one in changes if shown[one.name].effect is not ChangeEffect.SUSPICIOUS]
                self._answer(server, harmless, QuestionAnswer(Action.ACCEPT, by=BY_SETTING))
                changes = [change for change in changes if change not in harmless]
            if changes:
                asked = [shown[change.name] for change in changes]
                answer = await self._questioner.ask(DefinitionsQuestion(name, asked, damage, total))
                about = [change for change in changes if answer.only is None or change.name in answer.only]
                others = [change for change in changes if change not in about]
                is_open = answer.action is not Action.ACCEPT or bool(others)
                review.parts += is_open and is_rest
                review.count += is_open and not is_rest
                self._answer(server, about, answer)
                self._answer(server, others, QuestionAnswer(Action.CANCEL, by=BY_DEFAULT))
        finally:
            review.task = None
        self.look(server)

    def _answer(
        self, server: Supervisor, changes: Sequence[DefinitionChange], answer: QuestionAnswer
    ) -> None:
        is_yes, definitions = answer.action is Action.ACCEPT, server.offer.definitions
        for one in changes:
            subject = f"{shown_name(one.name)} ({'new' if one.is_new else 'changed'})"
            server.requests.questioner.decided(
                DecisionKind.DEFINITIONS, subject, allowed=is_yes, by=answer.by, digest=one.digest[:DIGEST]
            )
        if changes and answer.action is not Action.CANCEL:
            (definitions.accept if is_yes else definitions.refuse)(changes)
            server.changed()

    def _shown(self, change: DefinitionChange) -> DefinitionChange:
        """Return a change without secrets, already compared, because comparing would block the screen."""
        before = change.before
        if before is not None and before.definition is not None:
            before = Accepted(before.digest, self._redact(before.definition))
        shown = replace(change, before=before, after=self._redact(change.after))
        _ = shown.effect
        return shown

    async def answered(self) -> None:
        """Return once no question is pending."""
        while self._tasks.running:
            await self._tasks.settled()

    async def close(self) -> None:
        """Withdraw all questions."""
        self._closed = True
        await self._tasks.cancel()
