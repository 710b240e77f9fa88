"""Asks the user about changed definitions: one question per server at a time, up to a limit."""

import asyncio
import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from tui.core.definitions.accepted import Accepted, DefinitionChange, shown_name
from tui.core.definitions.differences import ChangeEffect
from tui.core.ports import BY_DEFAULT, BY_KEY, DecisionKind, DecisionLog, DecisionRecord
from tui.core.questions import Action, DefinitionsAnswer, DefinitionsQuestion, Questioner
from tui.host.supervisor import Supervisor

MAX_QUESTIONS = 3
"""Maximum questions of one server that open automatically and that the user does not accept completely."""

MAX_CHANGES = 100
"""Maximum changes in one question; the next question has the others."""

MAX_RECORDED = 1_000
"""Maximum decisions recorded per server and run, so that one server cannot displace those of others."""

_log = logging.getLogger(__name__)

BY_SETTING = "setting accept_changes"
DIGEST = 16
"""Recorded characters of a definition's digest."""


class DefinitionReview:
    """Asks about changes and records the answers.

    `redact` removes configured secrets for display. The original definition is the accepted one.
    """

    def __init__(self, questioner: Questioner, decisions: DecisionLog, redact: Callable[[Any], Any]) -> None:
        self._questioner = questioner
        self._decisions = decisions
        self._redact = redact
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._asked: defaultdict[str, set[str]] = defaultdict(set)
        self._count: Counter[str] = Counter()
        self._recorded: Counter[str] = Counter()
        self._closed = False

    def look(self, server: Supervisor) -> None:
        """Ask about those changes of a server that the user has not been asked about."""
        name = server.spec.name
        if self._closed or name in self._tasks or self._count[name] >= MAX_QUESTIONS:
            return
        definitions, asked = server.offer.definitions, self._asked[name]
        changes = [one for one in server.definition_changes if not definitions.is_refused(one)][:MAX_CHANGES]
        if any(one.digest not in asked for one in changes):
            asked |= {one.digest for one in changes}
            self._begin(server, changes)

    def ask(self, server: Supervisor, name: str | None = None) -> None:
        """At the user's request, ask about a tool, or about all of a server that is not accepted."""
        changes = [one for one in server.definition_changes if name in (None, one.name)][:MAX_CHANGES]
        if changes and not self._closed and server.spec.name not in self._tasks:
            self._begin(server, changes)

    def _begin(self, server: Supervisor, changes: Sequence[DefinitionChange]) -> None:
        name = server.spec.name
        task = self._tasks[name] = asyncio.create_task(
            self._review(server, changes), name=f"definitions of {name}"
        )
        task.add_done_callback(lambda done: self._ended(name, done))

    async def _review(self, server: Supervisor, changes: Sequence[DefinitionChange]) -> None:
        name = server.spec.name
        shown = await asyncio.to_thread(lambda: {change.name: self._shown(change) for change in changes})
        damage = server.offer.definitions.damage
        if server.spec.trusted and server.spec.accept_changes and not damage:
            harmless = [
                change for change in changes if shown[change.name].effect is not ChangeEffect.SUSPICIOUS
            ]
            self._answer(server, harmless, DefinitionsAnswer(Action.ACCEPT, BY_SETTING))
            changes = [change for change in changes if change not in harmless]
        if changes:
            question = DefinitionsQuestion(name, [shown[change.name] for change in changes], damage)
            answer = await self._questioner.definitions(question)
            about = [change for change in changes if answer.only is None or change.name in answer.only]
            others = [change for change in changes if change not in about]
            self._count[name] += answer.action is not Action.ACCEPT or bool(others)
            self._answer(server, about, answer)
            self._answer(server, others, DefinitionsAnswer(Action.CANCEL, BY_DEFAULT))
        del self._tasks[name]
        self.look(server)

    def _ended(self, name: str, task: asyncio.Task[None]) -> None:
        if self._tasks.get(name) is task:  # cancelled or failed; otherwise the next question may be pending
            del self._tasks[name]
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("asking about changed definitions failed", exc_info=error)

    def _answer(
        self, server: Supervisor, changes: Sequence[DefinitionChange], answer: DefinitionsAnswer
    ) -> None:
        is_yes = answer.action is Action.ACCEPT
        for one in changes[: MAX_RECORDED - self._recorded[server.spec.name]]:
            self._recorded[server.spec.name] += 1
            self._decisions.add(_record(one, is_yes, answer))
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

    async def answered(self) -> None:
        """Return once no question is pending."""
        while self._tasks:
            await asyncio.wait(list(self._tasks.values()))

    async def close(self) -> None:
        """Withdraw all questions."""
        self._closed = True
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)


def _record(change: DefinitionChange, is_yes: bool, answer: DefinitionsAnswer) -> DecisionRecord:
    what = f"{shown_name(change.name)} ({'new' if change.is_new else 'changed'})"
    return DecisionRecord(
        DecisionKind.DEFINITIONS,
        change.server,
        what,
        is_yes,
        answer.by,
        f"server {change.server}",
        asked=answer.by == BY_KEY,
        digest=change.digest[:DIGEST],
    )
