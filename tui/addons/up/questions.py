"""What servers ask while a command at the door uses them: its options answer, else the user of the app.

What agents ask goes through here, too: they cannot bury the user in questions.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace

from tui.core.ports import BY_KEY, BY_LIMIT
from tui.core.questions import (
    Action,
    AddressQuestion,
    AgentQuestion,
    FormQuestion,
    Question,
    QuestionAnswer,
    Questioner,
    SamplingQuestion,
)
from tui.core.text import clean_line

MOST_WAITING = MOST_NOES = 3
"""Maximum questions of agents that wait, and that are answered with no in a row before a pause."""

PAUSE_SECONDS = 300.0

_ASKER: ContextVar["Asker | None"] = ContextVar("asker", default=None)


@dataclass(slots=True, eq=False)
class Asker:
    """A process whose request is under way; `words` say which.

    `answers` are those of its options, and `answers_itself` whether it has any. `say` prints there.
    """

    server: str
    answers: Questioner
    answers_itself: bool
    say: Callable[[str], None]
    words: str


class DoorQuestions(Questioner):
    """Answers with the options of a command, if it asked for that, or nobody else can; else asks `inner`.

    Servers of the older era do not say which request a question belongs to. If several commands use such a
    server, the options of none of them answer, and all of them say so.
    """

    def __init__(self, inner: Questioner, *, has_user: bool, where: str) -> None:
        self._inner, self._has_user, self._where = inner, has_user, where
        self._askers: list[Asker] = []
        self._waiting = self._noes = 0
        self._refused_at = 0.0

    @contextmanager
    def asking(self, asker: Asker) -> Iterator[None]:
        self._askers.append(asker)
        before = _ASKER.set(asker)
        try:
            yield
        finally:
            _ASKER.reset(before)
            self._askers.remove(asker)

    @contextmanager
    def asking_for(self, server: str, words: str) -> Iterator[None]:
        """Let the user or this process answer for one that has no options, such as an agent."""
        with self.asking(Asker(server, self._inner, False, lambda said: None, words)):
            yield

    async def ask(self, question: Question) -> QuestionAnswer:
        if isinstance(question, AgentQuestion):
            return await self._of_agent(question)
        if isinstance(question, FormQuestion | AddressQuestion | SamplingQuestion):
            askers = self._askers_of(question.server)
            if len(askers) == 1 and (askers[0].answers_itself or not self._has_user):
                return await askers[0].answers.ask(question)
            then = f"Answer it in {self._where}"
            if not self._has_user:
                then = f"It does not say which of {len(askers)} commands, so {self._where} answers"
            for asker in askers:
                asker.say(f"? {clean_line(question.server, 80)} asks something. {then}")
            question = replace(question, used_by=" or ".join(asker.words for asker in askers))
        return await self._inner.ask(question)

    async def _of_agent(self, question: AgentQuestion) -> QuestionAnswer:
        """Ask the user, unless several questions of agents wait, or several were refused in a row."""
        if self._noes >= MOST_NOES and time.monotonic() - self._refused_at > PAUSE_SECONDS:
            self._noes = 0
        if self._waiting >= MOST_WAITING or self._noes >= MOST_NOES:
            return QuestionAnswer(Action.CANCEL, by=BY_LIMIT)
        self._waiting += 1
        try:
            answer = await self._inner.ask(question)
        finally:
            self._waiting -= 1
        if answer.by == BY_KEY:  # not if there is no user
            self._refused_at = time.monotonic()
            self._noes = 0 if answer.action is Action.ACCEPT else self._noes + 1
        return answer

    def _askers_of(self, server: str) -> list[Asker]:
        mine = _ASKER.get()
        if mine is not None and mine.server == server:
            return [mine]
        return [one for one in self._askers if one.server == server]

    def refused(self, server: str, why: str) -> None:
        self._inner.refused(server, why)
