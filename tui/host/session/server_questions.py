"""The questions of one server to the user: recorded, withdrawn with their calls, limited.

A server may ask any number of them, so the numbers of pending questions, of notes and of recorded decisions
are limited. While the user is asked, the clocks of the server are paused. A question that is asked during
calls is withdrawn once those calls have ended.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

from tui.core.ports import BY_KEY, BY_LIMIT, DecisionKind, DecisionLog, DecisionRecord, Undecided, digest_of
from tui.core.questions import (
    Action,
    AddressQuestion,
    QuestionAnswer,
    Questioner,
    ServerQuestion,
)
from tui.core.time_limits import TimeLimit, TimeLimits

MAX_RECORDED = 1_000
"""Maximum decisions recorded per server and run, so that one server cannot displace those of others."""

MAX_SUBJECT = 200

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
    `decisions` records what was decided about the requests of `server`.
    """

    def __init__(
        self,
        inner: Questioner,
        redact: Callable[[Any], Any] = lambda value: value,
        *,
        server: str = "",
        decisions: DecisionLog | None = None,
    ) -> None:
        self.clocks = TimeLimits()
        self._redact = redact
        self._inner = inner
        self._server = server
        self._decisions: DecisionLog = decisions or Undecided()
        self._recorded = 0
        self._running: set[object] = set()
        self._open: dict[TimeLimit, tuple[set[object], str]] = {}
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
                        question.expire()

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
                question.expire()

    async def ask(self, question: ServerQuestion) -> QuestionAnswer:
        """Return the answer: that of nobody if too many questions wait, or if the calls end before it."""
        shown = self._redact(question)
        if isinstance(question, AddressQuestion):
            shown = replace(shown, url=question.url)
        withdrawn = QuestionAnswer(Action.CANCEL, by="default (the call ended)")
        request = self._requests.get(asyncio.current_task(), "")
        if request and request in self._over:
            return withdrawn
        if len(self._open) >= MAX_WAITING:
            return QuestionAnswer(Action.CANCEL, by=BY_LIMIT)
        waiting = TimeLimit()
        try:
            async with waiting:
                self._open[waiting] = set(self._running), request
                with self.clocks.standing_still():
                    return await self._inner.ask(shown)
        except TimeoutError:
            if not waiting.expired:
                raise
            return withdrawn
        finally:
            self._open.pop(waiting, None)

    def answered(
        self, kind: DecisionKind, subject: str, params: Mapping[str, Any], answer: QuestionAnswer
    ) -> None:
        """Record how a question was answered. The digest is that of the question, not of the answer."""
        is_yes, digest = answer.action is Action.ACCEPT, digest_of(params) if params else ""
        self.decided(kind, subject, allowed=is_yes, by=answer.by, digest=digest)

    def decided(self, kind: DecisionKind, subject: str, *, allowed: bool, by: str, digest: str = "") -> None:
        self._recorded += 1
        if self._recorded > MAX_RECORDED + 1:
            return
        if self._recorded > MAX_RECORDED:
            subject, allowed, by, digest = "further requests are not recorded", False, BY_LIMIT, ""
        asked, asked_by = by == BY_KEY, f"server {self._server}"
        subject = subject[:MAX_SUBJECT]
        self._decisions.add(
            DecisionRecord(kind, self._server, subject, allowed, by, asked_by, asked=asked, digest=digest)
        )

    def refused(self, why: str) -> None:
        """Show each note once, up to a maximum, because a server may send any number of them."""
        if why not in self._told and len(self._told) < MAX_TOLD:
            self._told.add(why)
            self._inner.refused(self._server, self._redact(why))
