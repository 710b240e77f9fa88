"""The questions of tool calls: one queue, one visible question, answered by a key."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from tui.core.ports import Answer, ApprovalRequest, Decision

GRACE_SECONDS = 0.6
"""A key that comes so soon after a question appeared was meant for something else."""


@dataclass(eq=False, slots=True)
class _Question:
    request: ApprovalRequest
    answer: asyncio.Future[Decision]


class Approvals:
    """`core.ports.Approver` for a person at a screen.

    Calls may ask at the same time; the person sees one question after the other. `on_change` is called
    whenever another question, or none, is to be shown.
    """

    def __init__(self, on_change: Callable[[], None], now: Callable[[], float]) -> None:
        self._on_change = on_change
        self._now = now
        self._queue: list[_Question] = []
        self._shown_at = 0.0

    @property
    def current(self) -> ApprovalRequest | None:
        """The question that waits for an answer now."""
        return self._queue[0].request if self._queue else None

    @property
    def waiting(self) -> int:
        """How many questions wait behind the visible one."""
        return max(0, len(self._queue) - 1)

    @property
    def ripe(self) -> bool:
        """Whether the visible question has stood long enough for a key to be an answer to it."""
        return self._now() - self._shown_at >= GRACE_SECONDS

    async def ask(self, request: ApprovalRequest) -> Decision:
        """Wait for the person's answer. Cancelling it takes the question away."""
        question = _Question(request, asyncio.get_running_loop().create_future())
        self._queue.append(question)
        if self._queue[0] is question:
            self._show()
        try:
            return await question.answer
        finally:
            self._remove(question)

    def answer(self, answer: str, reason: str = "") -> None:
        """Answer the visible question with a word of `Answer`; nothing happens if there is none."""
        if self._queue:
            question = self._queue[0]
            if not question.answer.done():
                question.answer.set_result(Decision(Answer(answer), reason))
            self._remove(question)

    def _remove(self, question: _Question) -> None:
        if question in self._queue:
            was_visible = self._queue[0] is question
            self._queue.remove(question)
            if was_visible:
                self._show()

    def _show(self) -> None:
        self._shown_at = self._now()
        self._on_change()
