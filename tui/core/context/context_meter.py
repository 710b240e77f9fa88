"""Measures how full the model's window is: the endpoint's last count plus an estimate of the rest. Pure."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from tui.core.conversation.conversation import AssistantMessage, Attachment, Message, UserMessage
from tui.core.errors import ModelError
from tui.core.jsonrpc.reader import json_text
from tui.core.ports import (
    CallPart,
    ModelPart,
    ModelRequest,
    ReasoningPart,
    ReplyPart,
    RetryPart,
    TextPart,
    ToolSpec,
    Usage,
)
from tui.core.units import octets

ASCII, OTHER = 0.3, 1.3
"""Tokens per character. Measured with several tokenizers: 0.25 for English, 0.33 for code."""

PER_MESSAGE = 4
PICTURE = 1_500
"""Tokens of an image: OpenAI counts 85 for a small one, others up to 3,000 for a large one."""

BYTES_OF_SOUND = 1_500
"""Bytes of audio per token."""

LEAST, MOST = 0.4, 2.5
"""If a count divided by its estimate is outside this range, it is assumed to be of a different request."""

TOO_SMALL = 200
"""Requests of fewer tokens do not change the ratio, because what the endpoint adds distorts it too much."""

WEIGHT = 0.3
"""The weight of the newest count in the moving average."""


def estimate(text: str) -> int:
    """Return the approximate number of tokens of `text`: 0.3 per ASCII character, 1.3 per other one."""
    return round(_tokens(text))


def _tokens(text: str) -> float:
    if text.isascii():
        return len(text) * ASCII
    ascii_count = len(text.encode("ascii", "ignore"))
    return ascii_count * ASCII + (len(text) - ascii_count) * OTHER


def bytes_within(text: str, tokens: int) -> int:
    """Return how many bytes of `text`, from its beginning, take about `tokens`; all of them if it fits.

    A token has 3.3 bytes of English, 2.3 of Chinese and 1.5 of Russian.
    """
    longest = min(len(text), int((tokens + 1) / ASCII))
    end = bisect_right(range(1, longest + 1), tokens, key=lambda size: estimate(text[:size]))
    return octets(text[:end])


def estimate_attachment(attachment: Attachment) -> int:
    """Return the approximate tokens of an attachment."""
    match attachment.kind:
        case "image":
            return PICTURE
        case "audio":
            return attachment.size // BYTES_OF_SOUND
        case kind:
            return estimate(attachment.name) + (estimate(attachment.data) if kind == "text" else 0)


def estimate_message(message: Message) -> int:
    """Return the approximate tokens of a message, including its calls and its wrapping."""
    total = estimate(message.text) + PER_MESSAGE
    if isinstance(message, AssistantMessage):
        return total + sum(estimate(call.name + call.arguments) for call in message.calls)
    return total + sum(map(estimate_attachment, message.attachments))


def estimate_messages(messages: Iterable[Message]) -> int:
    """Return the approximate tokens of messages."""
    return sum(map(estimate_message, messages))


def estimate_tool(tool: ToolSpec) -> int:
    """Return the approximate tokens of a tool definition."""
    return estimate(tool.name + tool.description + json_text(tool.schema)) + PER_MESSAGE


def estimate_request(request: ModelRequest) -> int:
    """Return the approximate tokens of a request, including tool definitions."""
    tools = sum(map(estimate_tool, request.tools))
    return estimate(request.system) + estimate_messages(request.messages) + tools


@dataclass(slots=True)
class RequestTokens:
    """The tokens of one request so far, also if its reply is cut off: the user pays for what was generated.

    Each part of the reply costs the same, however long the reply is already.
    """

    _is_sent: bool = True
    _text: float = 0.0
    _thinking: float = 0.0
    _calls: int = 0
    _forming: dict[str, int] = field(default_factory=dict)
    _reported: Usage | None = None

    def take(self, part: ModelPart) -> None:
        self._is_sent = True
        match part:
            case TextPart(text):
                self._text += _tokens(text)
            case ReasoningPart(text, replaces_text):
                self._text = 0.0 if replaces_text else self._text
                self._thinking += _tokens(text)
            case CallPart(name, size):
                if size < (before := self._forming.get(name, 0)):  # another call of the same tool begins
                    self._calls += before
                self._forming[name] = size
            case RetryPart():
                self._is_sent = False
            case ReplyPart(calls, _, usage, refusal):
                self._calls = 0
                self._forming.clear()
                self._text += _tokens(refusal) + sum(_tokens(call.name + call.arguments) for call in calls)
                self._reported = usage

    def failed(self, error: ModelError) -> None:
        """Record an error: a request that was refused before its reply began costs nothing."""
        if error.generation and not self.generated:
            self._text = _tokens(error.generation)
        self._is_sent = self._is_sent and self.generated > 0

    @property
    def generated(self) -> float:
        return self._text + self._thinking + (self._calls + sum(self._forming.values())) * ASCII

    def usage(
        self, request: ModelRequest, estimated: Callable[[ModelRequest], int] = estimate_request
    ) -> Usage | None:
        """Return what the endpoint reported, otherwise an estimate. None if the request was not answered."""
        if self._reported is not None and (self._reported.prompt or self._reported.completion):
            return self._reported
        return Usage(estimated(request), round(self.generated), estimated=True) if self._is_sent else None


@dataclass(slots=True)
class Calibration:
    """The ratio between an endpoint's token counts and our estimates, because every tokenizer differs.

    `ratio` is counted tokens per estimated token.
    """

    ratio: float = 1.0
    samples: int = 0

    def __call__(self, estimated: int) -> int:
        return round(estimated * self.ratio)

    def learn(self, estimated: int, counted: int) -> None:
        """Adjust the ratio to an endpoint's count, unless it cannot be for the same request.

        Endpoints that truncate the prompt (Ollama with a small window) count only the part that remains.
        """
        if estimated < TOO_SMALL or not LEAST <= counted / estimated <= MOST:
            return
        seen = counted / estimated
        self.ratio = seen if not self.samples else self.ratio + WEIGHT * (seen - self.ratio)
        self.samples += 1


@dataclass(slots=True)
class ContextMeter:
    """Measures the requests of one conversation.

    Attributes:
        window: tokens that fit into one request, or None if unknown.
        tokens: tokens of the last request and its reply.
        estimated: the endpoint gave no count.
        patient: the user wants no compaction until the endpoint rejects a request.
    """

    window: int | None = None
    tokens: int = 0
    estimated: bool = True
    patient: bool = False
    calibration: Calibration = field(default_factory=Calibration)
    _seen: int = 0
    _first: Message | None = None

    def answered(
        self, request: ModelRequest, usage: Usage, lasting: int, withheld: Sequence[ToolSpec] = ()
    ) -> None:
        """Record the usage of a request and its reply.

        `lasting` is how many messages the next request starts with too: not a message that is sent only once,
        nor an empty reply. `withheld` are tools that were omitted from this request only.
        """
        if usage.prompt and not usage.estimated:
            self.calibration.learn(estimate_request(request), usage.prompt)
        self.tokens = usage.prompt + usage.completion + self.calibration(sum(map(estimate_tool, withheld)))
        self.estimated = usage.estimated or bool(withheld)
        self._seen = lasting
        self._first = request.messages[0] if request.messages else None

    def forget(self) -> None:
        """Reset, because the conversation, the model or the content of requests has changed."""
        self.tokens, self.estimated, self._seen, self._first = 0, True, 0, None

    def resized(self, difference: int) -> None:
        """Adjust to earlier messages that now take `difference` more estimated tokens (fewer if negative).

        The tokens are an estimate until the next request is counted.
        """
        tokens = max(0, self.tokens + self.calibration(difference)) if self.tokens else 0
        self.forget()
        self.tokens = tokens

    def recall(self, messages: Sequence[Message]) -> None:
        """Show the largest request of the last turn of a reopened conversation until another is counted.

        The last request may have been sent without tools.
        """
        self.forget()
        for one in reversed(messages):
            if isinstance(one, AssistantMessage) and one.usage is not None:
                tokens = one.usage.prompt + one.usage.completion
                if tokens > self.tokens:
                    self.tokens, self.estimated = tokens, one.usage.estimated
            elif isinstance(one, UserMessage) and self.tokens:
                break

    def expects(self, request: ModelRequest) -> int:
        """Return the approximate tokens of `request`; only new messages are estimated."""
        messages = request.messages
        if self._seen and messages and messages[0] == self._first and len(messages) >= self._seen:
            return self.tokens + self.calibration(estimate_messages(messages[self._seen :]))
        return self.estimate(request)

    def estimate(self, request: ModelRequest) -> int:
        return self.calibration(estimate_request(request))

    def is_full(self, request: ModelRequest, share: float) -> bool:
        return not (self.window is None or self.patient) and self.expects(request) > self.window * share


def tail_within(messages: Sequence[Message], tokens: int) -> int:
    """Return the index from which on `messages` take at most about `tokens`."""
    index, left = len(messages), tokens
    while index > 0:
        left -= estimate_messages(messages[index - 1 : index])
        if left < 0:
            break
        index -= 1
    return index
