"""Answers what servers ask during a case, from its `answers`: forms, URLs and sampling, in both eras."""

from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from tui.addons.tests.run.outcome import Mismatch
from tui.core.forms.elicitation import content_problem
from tui.core.permission.consent import ConsentQuestion, ConsentsQuestion
from tui.core.questions import (
    Action,
    AddressQuestion,
    AttachQuestion,
    FormQuestion,
    Question,
    QuestionAnswer,
    Questioner,
    Sampler,
    SamplingMeter,
    SamplingQuestion,
)
from tui.core.text import clean_line
from tui.host.session.server_requests import UNTIL_DONE

BY = "test file"
MAX_NOTES = 20
_NOBODY = QuestionAnswer(Action.DECLINE, by=BY)
_WORDS = {"form": "a form", "url": "a URL to be opened", "sampling": "a reply of the model"}


@dataclass(slots=True)
class Script:
    """The answers of the case that runs, and what became of them."""

    answers: Mapping[str, Any]
    notes: list[str] = field(default_factory=list)
    mismatches: list[Mismatch] = field(default_factory=list)
    _taken: dict[str, int] = field(default_factory=dict)
    _replies: deque[str] = field(default_factory=deque)

    def next(self, kind: str) -> Any:
        """Return the answer to the next request of a kind, None if the case has none."""
        given = self.answers.get(kind)
        number = self._taken[kind] = self._taken.get(kind, 0) + 1
        if isinstance(given, list):
            given = given[number - 1] if number <= len(given) else None
        if given is None and len(self.notes) < MAX_NOTES:
            few = f" number {number}" if kind in self.answers else ""
            self.notes.append(
                f"declined: the server asked for {_WORDS[kind]}, and `answers.{kind}`{few} is not set."
            )
        return given

    def form(self, question: FormQuestion) -> QuestionAnswer:
        """Answer a form with its values, or decline or cancel it."""
        given = self.next("form")
        if not isinstance(given, Mapping):
            return QuestionAnswer(Action(given) if given in ("decline", "cancel") else Action.DECLINE, by=BY)
        if problem := content_problem(question.schema, given):
            self.mismatches.append(Mismatch("answers.form", given, why=clean_line(problem, 300)))
        return QuestionAnswer(Action.ACCEPT, content=given, by=BY)

    def address(self) -> QuestionAnswer:
        """Accept or decline a URL, which is not opened."""
        given = self.next("url")
        return QuestionAnswer(Action(given) if given else Action.DECLINE, opens=False, by=BY)

    def sampling(self, question: SamplingQuestion) -> QuestionAnswer:
        """Reply as a model would. The second question about a request is whether its reply may be sent."""
        if question.reply is not None:
            return QuestionAnswer(Action.ACCEPT, content=_reply(self._replies.popleft()), by=BY)
        given = self.next("sampling")
        if not isinstance(given, str):
            return _NOBODY
        self._replies.append(given)
        return QuestionAnswer(Action.ACCEPT, by=BY)


DECLINED = "No: it does not start, and the cases of its file are not run. The next run asks again."


class CaseAnswers(Questioner):
    """Answers the questions of servers, each from the case that runs on it.

    `consent` asks the user about starting a server.
    """

    def __init__(self, consent: Callable[[ConsentQuestion], Awaitable[QuestionAnswer]] | None = None) -> None:
        self._consent = consent
        self._running: dict[str, Script] = {}

    @contextmanager
    def during(self, server: str, answers: Mapping[str, Any]) -> Iterator[Script]:
        """Answer what a server asks meanwhile."""
        script = self._running[server] = Script(answers)
        try:
            yield script
        finally:
            del self._running[server]

    async def ask(self, question: Question) -> QuestionAnswer:
        if isinstance(question, ConsentQuestion) and self._consent is not None:
            return await self._consent(replace(question, declined=DECLINED))
        script = None
        if not isinstance(question, ConsentsQuestion | AttachQuestion):
            script = self._running.get(question.server)
        match question:
            case FormQuestion() if question.message == UNTIL_DONE:
                return QuestionAnswer(Action.ACCEPT, by=BY)
            case FormQuestion() if script is not None:
                return script.form(question)
            case AddressQuestion() if script is not None:
                return script.address()
            case SamplingQuestion() if script is not None:
                return script.sampling(question)
        return await super().ask(question)


class ScriptedSampler(Sampler):
    """A model that is never asked: the reply to a server is the answer to the question whether to send it."""

    async def sample(
        self, params: Mapping[str, Any], *, max_tokens: int, meter: SamplingMeter
    ) -> Mapping[str, Any]:
        meter.tokens = 0
        return _reply("")


def _reply(text: str) -> Mapping[str, Any]:
    content = {"type": "text", "text": text}
    return {"role": "assistant", "content": content, "model": "mcptui-test", "stopReason": "endTurn"}
