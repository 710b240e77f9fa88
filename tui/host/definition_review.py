"""Asks the user about changed definitions: one question per server at a time, up to a limit."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tui.core.permission.definitions import Accepted, DefinitionChange, shown_name
from tui.core.permission.differences import ChangeEffect
from tui.core.ports import BY_DEFAULT, DecisionKind
from tui.core.questions import Action, DefinitionsQuestion, QuestionAnswer, Questioner
from tui.host.supervisor import Supervisor

MAX_QUESTIONS = 3
"""Maximum questions of one server that open automatically and that the user does not accept completely."""

MAX_CHANGES = 100
"""Maximum changes in one question; the next question has the others."""

MAX_PARTS = 10
"""Maximum further questions about the changes of one list that open automatically, and are not accepted
completely; the others on request."""

_log = logging.getLogger(__name__)

BY_SETTING = "setting accept_changes"
DIGEST = 16
"""Recorded characters of a definition's digest."""


@dataclass(eq=False, slots=True)
class _Review:
    """What the user was asked about one server.

    Attributes:
        server: the server; another one of this name has a review of its own.
        asked: digests of the changes in questions.
        pending: digests of all changes when the last question was begun that counts; the others are its rest.
        parts: how many questions about the rest the user did not accept completely.
        count: how many other questions the user did not accept completely.
        shown: digests of the changes in questions that the user requested; those not shown come first.
        task: the open question.
    """

    server: Supervisor
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
        self._reviews: dict[str, _Review] = {}
        self._closed = False

    def look(self, server: Supervisor) -> None:
        """Ask about those changes of a server that the user has not been asked about."""
        review = self._review_of(server)
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
        self._begin(review, question, len(changes), is_rest=is_rest)

    def ask(self, server: Supervisor, name: str | None = None) -> None:
        """At the user's request, ask about a tool, or about all of a server that is not accepted.

        If they do not fit into one question, the next request continues with the others.
        """
        review = self._review_of(server)
        changes = [one for one in server.definition_changes if name in (None, one.name)]
        if not changes or self._closed or review.task is not None:
            return
        if not (question := [one for one in changes if one.digest not in review.shown]):
            review.shown.clear()
            question = changes
        question = question[:MAX_CHANGES]
        review.shown |= {one.digest for one in question}
        self._begin(review, question, len(changes))

    def forget(self, server: Supervisor) -> None:
        """Withdraw the question about a server that is removed or replaced."""
        review = self._reviews.get(server.spec.name)
        if review is not None and review.server is server:
            del self._reviews[server.spec.name]
            if review.task is not None:
                review.task.cancel()

    def _review_of(self, server: Supervisor) -> _Review:
        review = self._reviews.get(server.spec.name)
        if review is None or review.server is not server:
            if review is not None:
                self.forget(review.server)
            review = self._reviews[server.spec.name] = _Review(server)
        return review

    def _begin(
        self, review: _Review, changes: Sequence[DefinitionChange], total: int, *, is_rest: bool = False
    ) -> None:
        def ended(task: asyncio.Task[None]) -> None:
            if review.task is task:  # cancelled or failed; otherwise the next question may be pending
                review.task = None
            if not task.cancelled() and (error := task.exception()) is not None:
                _log.error("asking about changed definitions failed", exc_info=error)

        work = self._review(review, changes, total, is_rest)
        review.task = asyncio.create_task(work, name=f"definitions of {review.server.spec.name}")
        review.task.add_done_callback(ended)

    async def _review(
        self, review: _Review, changes: Sequence[DefinitionChange], total: int, is_rest: bool
    ) -> None:
        server, name = review.server, review.server.spec.name
        shown = await asyncio.to_thread(lambda: {change.name: self._shown(change) for change in changes})
        damage = server.offer.definitions.damage
        if server.spec.trusted and server.spec.accept_changes and not damage:
            harmless = [
                change for change in changes if shown[change.name].effect is not ChangeEffect.SUSPICIOUS
            ]
            self._answer(server, harmless, QuestionAnswer(Action.ACCEPT, by=BY_SETTING))
            changes = [change for change in changes if change not in harmless]
        if changes:
            question = DefinitionsQuestion(name, [shown[change.name] for change in changes], damage, total)
            answer = await self._questioner.ask(question)
            about = [change for change in changes if answer.only is None or change.name in answer.only]
            others = [change for change in changes if change not in about]
            is_open = answer.action is not Action.ACCEPT or bool(others)
            review.parts += is_open and is_rest
            review.count += is_open and not is_rest
            self._answer(server, about, answer)
            self._answer(server, others, QuestionAnswer(Action.CANCEL, by=BY_DEFAULT))
        review.task = None
        self.look(server)

    def _answer(
        self, server: Supervisor, changes: Sequence[DefinitionChange], answer: QuestionAnswer
    ) -> None:
        is_yes = answer.action is Action.ACCEPT
        for one in changes:
            subject = f"{shown_name(one.name)} ({'new' if one.is_new else 'changed'})"
            server.requests.questioner.decided(
                DecisionKind.DEFINITIONS, subject, allowed=is_yes, by=answer.by, digest=one.digest[:DIGEST]
            )
        if changes and answer.action is not Action.CANCEL:
            server.answer_changes(changes, accept=is_yes)

    def _shown(self, change: DefinitionChange) -> DefinitionChange:
        """Return a change without secrets, already compared, because comparing would block the screen."""
        before = change.before
        if before is not None and before.definition is not None:
            before = Accepted(before.digest, self._redact(before.definition))
        shown = replace(change, before=before, after=self._redact(change.after))
        _ = shown.effect
        return shown

    @property
    def _open(self) -> list[asyncio.Task[None]]:
        return [review.task for review in self._reviews.values() if review.task is not None]

    async def answered(self) -> None:
        """Return once no question is pending."""
        while tasks := self._open:
            await asyncio.wait(tasks)

    async def close(self) -> None:
        """Withdraw all questions."""
        self._closed = True
        tasks = self._open
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
