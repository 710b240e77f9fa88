"""Makes room in a conversation that does not fit into the model's window any more: visibly, reversibly."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from tui.core.context import compaction as plans
from tui.core.context.context_meter import Gauge
from tui.core.context.summaries import Summarising, done_with
from tui.core.context.tokens import estimate_messages
from tui.core.conversation.conversation import Compaction, Conversation, Message
from tui.core.events import Notice
from tui.core.ports import ChatModel, Usage
from tui.core.units import plural

REFUSED_SHARE = 0.8
"""How much of what an endpoint refuses as too long is taken to fit, where it does not say how much does."""

LEAST_WINDOW = 4_096
"""Tokens that any model is taken to read, before one refuses less."""

_IN_SHORT = "What is large is told to the model in part now, results of tools in short."


@dataclass(slots=True)
class Compacting:
    """Makes room in one conversation.

    Attributes:
        conversation: in which.
        model: who writes the summary.
        gauge: says how full the window is.
        spent: told what the summaries used up.
    """

    conversation: Conversation
    model: ChatModel
    gauge: Gauge
    spent: Callable[[Usage], object] = lambda usage: None

    async def make_room(self, *, refused: Sequence[Message] = (), by_hand: bool = False) -> Notice | None:
        """Tell results in short, or summarise old turns; return what was done, or None.

        Args:
            refused: the messages that the endpoint has refused as too long, whatever was estimated.
            by_hand: the person asks for a summary.

        Raises:
            ModelError: the model could not be asked for the summary.
        """
        pressing, window = bool(refused), self._window(refused)
        messages, before = self.conversation.messages, self.conversation.compaction
        shorter = plans.shrink(messages, before, window)
        if not by_hand:
            most = plans.NEWEST if pressing else plans.FULL
            shorter = plans.limited(messages, shorter, window, most)
        if shorter != before and not by_hand and not (pressing and self._is_full(shorter, window)):
            return self._take(shorter, _IN_SHORT)
        keep = plans.KEEP_PRESSING if pressing or by_hand else plans.KEEP
        upto = plans.boundary(messages, shorter, window, keep)
        if not upto:
            if not by_hand:
                shorter = plans.limited(messages, shorter, window)
            return self._take(shorter, _IN_SHORT) if shorter != before else None
        summary = await self._summarise(upto, shorter, window)
        turns = plural(plans.count_turns(messages, upto), "turn")
        words = f"{turns} {done_with(summary)}; everything is still here to read."
        return self._take(replace(shorter, upto=upto, summary=summary), words)

    def _is_full(self, compaction: Compaction, window: int) -> bool:
        told = plans.told(self.conversation.messages, compaction)
        return estimate_messages(told) > window * plans.FULL

    def _window(self, refused: Sequence[Message]) -> int:
        """Return how many tokens the messages may take: the window, less than what was refused."""
        if not refused:
            return self.gauge.window or max(LEAST_WINDOW, int(self.gauge.tokens * REFUSED_SHARE))
        # Of the request only its messages can be made shorter, so its tools do not count.
        guess = int(self.gauge.calibration(estimate_messages(refused)) * REFUSED_SHARE)
        return max(1, min(guess, self.gauge.window or guess))

    def _take(self, compaction: Compaction, words: str) -> Notice:
        self.conversation.compact(compaction)
        self.gauge.forget()
        self.gauge.patient = False
        return Notice(words, "room")

    async def _summarise(self, upto: int, compaction: Compaction, window: int) -> str:
        """Have the model write what stands in for the messages before `upto`."""
        shortest = replace(compaction, shrunk=upto)
        old = plans.told(self.conversation.messages[:upto], shortest)
        return await Summarising(self.model, self.gauge, self.spent).of(old, window)
