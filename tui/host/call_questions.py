"""Withdraws the questions that a server asks during calls once those calls have ended."""

import asyncio
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from tui.core.questions import (
    Action,
    AddressAnswer,
    AddressQuestion,
    DefinitionsAnswer,
    DefinitionsQuestion,
    FormAnswer,
    FormQuestion,
    Questioner,
    SamplingAnswer,
    SamplingQuestion,
    SamplingReview,
)

T = TypeVar("T")


class CallQuestions:
    """A questioner for one server that withdraws a question once no call waits for the answer.

    Over stdio, a server's request does not name its call. So a question is withdrawn once all calls that were
    running when it was asked have ended. A question asked outside any call stays.
    """

    def __init__(self, inner: Questioner) -> None:
        self._inner = inner
        self._running: set[object] = set()
        self._open: dict[asyncio.Timeout, set[object]] = {}

    @contextmanager
    def call(self) -> Iterator[None]:
        """Withdraw the questions of a call when it ends, last one first, so that none appears in between."""
        one = object()
        self._running.add(one)
        try:
            yield
        finally:
            self._running.discard(one)
            for question, calls in reversed(self._open.items()):
                if one in calls:
                    calls.discard(one)
                    if not calls:
                        question.reschedule(asyncio.get_running_loop().time())

    async def form(self, question: FormQuestion) -> FormAnswer:
        return await self._answer(
            self._inner.form(question), FormAnswer(Action.CANCEL, by="default (the call ended)")
        )

    async def address(self, question: AddressQuestion) -> AddressAnswer:
        return await self._answer(
            self._inner.address(question), AddressAnswer(Action.CANCEL, by="default (the call ended)")
        )

    async def sampling(self, question: SamplingQuestion) -> SamplingAnswer:
        return await self._answer(
            self._inner.sampling(question), SamplingAnswer(Action.CANCEL, by="default (the call ended)")
        )

    async def review(self, question: SamplingReview) -> SamplingAnswer:
        return await self._answer(
            self._inner.review(question), SamplingAnswer(Action.CANCEL, by="default (the call ended)")
        )

    async def definitions(self, question: DefinitionsQuestion) -> DefinitionsAnswer:
        return await self._inner.definitions(question)

    def refused(self, server: str, why: str) -> None:
        self._inner.refused(server, why)

    async def _answer(self, asking: Awaitable[T], withdrawn: T) -> T:
        """Return the answer, or `withdrawn` if the calls end before there is one."""
        waiting = asyncio.timeout(None)
        try:
            async with waiting:
                if self._running:
                    self._open[waiting] = set(self._running)
                return await asking
        except TimeoutError:
            if not waiting.expired():
                raise
            return withdrawn
        finally:
            self._open.pop(waiting, None)
