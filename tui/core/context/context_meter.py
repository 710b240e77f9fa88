"""How full the model's window is: the endpoint's last count, and an estimate of what came since. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from tui.core.context.tokens import Calibration, Tally, estimate_messages
from tui.core.conversation.conversation import AssistantMessage, Message
from tui.core.ports import ModelRequest, Usage


@dataclass(slots=True)
class Gauge:
    """Measures requests of one conversation; kept from turn to turn.

    Attributes:
        window: tokens that fit into one request, or None if nobody knows.
        tokens: what the last request and its reply took.
        estimated: the endpoint gave no count.
        patient: the person wants everything told: nothing is full before the endpoint refuses.
        calibration: what the endpoint counts for what is estimated.
    """

    window: int | None = None
    tokens: int = 0
    estimated: bool = True
    patient: bool = False
    calibration: Calibration = field(default_factory=Calibration)
    _tally: Tally = field(default_factory=Tally)
    _seen: int = 0
    _first: Message | None = None

    def answered(self, request: ModelRequest, usage: Usage, lasting: int) -> None:
        """Take in what a request and its reply took.

        `lasting` is how many messages of the two later requests begin with: a message that is sent once is
        not among them, nor is an empty reply.
        """
        if usage.prompt and not usage.estimated:
            self.calibration.learn(self._tally.count(request), usage.prompt)
        self.tokens = usage.prompt + usage.completion
        self.estimated = usage.estimated
        self._seen = lasting
        self._first = request.messages[0] if request.messages else None

    def forget(self) -> None:
        """The conversation, the model or what it is told was changed: count anew."""
        self.tokens, self.estimated, self._seen, self._first = 0, True, 0, None
        self._tally.forget()

    def recall(self, messages: Sequence[Message]) -> None:
        """Show of a conversation that goes on what its last request took; what the next takes is counted."""
        self.forget()
        said = (one.usage for one in reversed(messages) if isinstance(one, AssistantMessage) and one.usage)
        if (usage := next(said, None)) is not None:
            self.tokens, self.estimated = usage.prompt + usage.completion, usage.estimated

    def expects(self, request: ModelRequest) -> int:
        """Return about how many tokens `request` will take; only what is new in it is estimated."""
        messages = request.messages
        if self._seen and messages and messages[0] == self._first and len(messages) >= self._seen:
            return self.tokens + self.calibration(estimate_messages(messages[self._seen :]))
        return self.estimate(request)

    def estimate(self, request: ModelRequest) -> int:
        """Return about how many tokens `request` is, as this endpoint counts; each message once."""
        return self.calibration(self._tally.count(request))

    def is_full(self, request: ModelRequest, share: float) -> bool:
        """Whether `request` will take more than `share` of the window."""
        if self.window is None or self.patient:
            return False
        return self.expects(request) > self.window * share


def tail_within(messages: Sequence[Message], tokens: int) -> int:
    """Return the index from which on `messages` take at most about `tokens`."""
    index, left = len(messages), tokens
    while index > 0:
        left -= estimate_messages(messages[index - 1 : index])
        if left < 0:
            break
        index -= 1
    return index
