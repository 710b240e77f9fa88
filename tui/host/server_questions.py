"""The questions of one server to the user: recorded with their answers, withdrawn with their calls.

A server may ask any number of them, so the numbers of pending questions, of notes and of recorded decisions
are limited. While the user is asked, the clocks of the server are paused. A question that is asked during
calls is withdrawn once those calls have ended.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any, TypeVar

from tui.core.ports import BY_KEY, BY_LIMIT, DecisionKind, DecisionLog, DecisionRecord, digest_of
from tui.core.questions import (
    Action,
    AddressAnswer,
    AddressQuestion,
    FormAnswer,
    FormQuestion,
    Questioner,
    SamplingAnswer,
    SamplingQuestion,
    SamplingReview,
)
from tui.core.time_limits import TimeLimits

MAX_RECORDED = 200
"""Maximum decisions recorded per server and run, so that one server cannot displace those of others."""

MAX_SUBJECT = 200


class ServerDecisions:
    """Records decisions about the requests of one server."""

    def __init__(self, server: str, log: DecisionLog) -> None:
        self._server = server
        self._log = log
        self._recorded = 0

    def answered(
        self,
        kind: DecisionKind,
        subject: str,
        params: Mapping[str, Any],
        answer: FormAnswer | AddressAnswer | SamplingAnswer,
    ) -> None:
        """Record how a question was answered. The digest is that of the question, not of the answer."""
        self.add(
            kind,
            subject,
            allowed=answer.action == "accept",
            by=answer.by,
            asked=answer.by == BY_KEY,
            params=params,
        )

    def add(
        self,
        kind: DecisionKind,
        subject: str,
        *,
        allowed: bool,
        by: str,
        asked: bool = False,
        params: Mapping[str, Any] | None = None,
    ) -> None:
        self._recorded += 1
        if self._recorded > MAX_RECORDED + 1:
            return
        if self._recorded > MAX_RECORDED:
            subject, allowed, by, params = "further requests are not recorded", False, BY_LIMIT, None
        digest = digest_of(params) if params else ""
        asked_by = f"server {self._server}"
        self._log.add(
            DecisionRecord(
                kind, self._server, subject[:MAX_SUBJECT], allowed, by, asked_by, asked=asked, digest=digest
            )
        )


Q = TypeVar("Q")
A = TypeVar("A", FormAnswer, AddressAnswer, SamplingAnswer)

KEPT = 64
"""Maximum remembered requests that were over before they asked."""

MAX_WAITING = 16
"""Maximum pending questions of one server; others are cancelled without being shown."""

MAX_TOLD = 5
"""Maximum notes per server about rejected malformed questions; equal notes count once."""


class ServerQuestions:
    """Asks the questions of one server, and withdraws a question once no call waits for the answer.

    Over Streamable HTTP, a server's request arrives in the response to its call, and the gate reports when
    that call is over (`withdraw`). Over other transports, a server's request does not name its call. So a
    question is withdrawn once all calls that were running when it was asked have ended. A question asked
    outside of any call is not withdrawn. `clocks` are the time limits of the server. `redact` removes
    configured secrets from what is shown of a question, but not from the URL that the user agrees to open.
    """

    def __init__(self, inner: Questioner, redact: Callable[[Any], Any] = lambda value: value) -> None:
        self.clocks = TimeLimits()
        self._redact = redact
        self._inner = inner
        self._running: set[object] = set()
        self._open: dict[asyncio.Timeout, tuple[set[object], str]] = {}
        self._requests: dict[asyncio.Task[Any] | None, str] = {}
        self._over: deque[str] = deque(maxlen=KEPT)
        self._told: set[str] = set()

    @contextmanager
    def call(self) -> Iterator[None]:
        """Withdraw the questions of a call when it ends, last one first, so that none appears in between."""
        one = object()
        self._running.add(one)
        try:
            yield
        finally:
            self._running.discard(one)
            for question, (calls, _) in reversed(self._open.items()):
                if one in calls:
                    calls.discard(one)
                    if not calls:
                        _end(question)

    @contextmanager
    def request(self, known: str | int) -> Iterator[None]:
        """Treat the questions of this task as parts of one request of the server."""
        task = asyncio.current_task()
        self._requests[task] = str(known)
        try:
            yield
        finally:
            del self._requests[task]
            with suppress(ValueError):
                self._over.remove(str(known))

    def withdraw(self, known: object) -> None:
        """Withdraw the questions of a request, including those that it has yet to ask."""
        self._over.append(str(known))
        for question, (_, request) in reversed(self._open.items()):
            if request == str(known):
                _end(question)

    async def form(self, question: FormQuestion) -> FormAnswer:
        return await self._answer(self._inner.form, self._redact(question), FormAnswer)

    async def address(self, question: AddressQuestion) -> AddressAnswer:
        shown = replace(self._redact(question), url=question.url)
        return await self._answer(self._inner.address, shown, AddressAnswer)

    async def sampling(self, question: SamplingQuestion) -> SamplingAnswer:
        return await self._answer(self._inner.sampling, self._redact(question), SamplingAnswer)

    async def review(self, question: SamplingReview) -> SamplingAnswer:
        return await self._answer(self._inner.review, self._redact(question), SamplingAnswer)

    def refused(self, server: str, why: str) -> None:
        """Show each note once, up to a maximum, because a server may send any number of them."""
        if why not in self._told and len(self._told) < MAX_TOLD:
            self._told.add(why)
            self._inner.refused(server, self._redact(why))

    async def _answer(self, ask: Callable[[Q], Awaitable[A]], question: Q, kind: type[A]) -> A:
        """Return the answer: that of nobody if too many questions wait, or if the calls end before it."""
        withdrawn = kind(Action.CANCEL, by="default (the call ended)")
        request = self._requests.get(asyncio.current_task(), "")
        if request and request in self._over:
            return withdrawn
        if len(self._open) >= MAX_WAITING:
            return kind(Action.CANCEL, by=BY_LIMIT)
        waiting = asyncio.timeout(None)
        try:
            async with waiting:
                self._open[waiting] = set(self._running), request
                with self.clocks.standing_still():
                    return await ask(question)
        except TimeoutError:
            if not waiting.expired():
                raise
            return withdrawn
        finally:
            self._open.pop(waiting, None)


def _end(question: asyncio.Timeout) -> None:
    """Withdraw a question; may be called again while its dialog closes."""
    if not question.expired():  # one that is expiring cannot be rescheduled
        question.reschedule(asyncio.get_running_loop().time())
