"""What the core needs of the world, as Protocols, and the values that pass through them."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from tui.core.conversation.conversation import CallRequest, Message
from tui.core.conversation.conversation import Usage as Usage
from tui.core.tools import ProgressSink, Tool, ToolResult

# ---- the model -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as a model reads it.

    Attributes:
        name: qualified, `^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`.
        description: cleaned and bounded.
        schema: JSON Schema of the arguments, made acceptable for the model.
        server: whose it is; for dialects that write server and tool apart, and for the demo model.
        tool: its own name on that server.
    """

    name: str
    description: str
    schema: Mapping[str, Any]
    server: str = ""
    tool: str = ""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One request to a model.

    Attributes:
        system: system text, or "".
        messages: the conversation, sanitised.
        tools: what it may call; empty for the last request of a turn at its limit.
        stop: the reply ends before the first of these texts, where the endpoint can do that; at most 4.
        verbatim: the text of the reply is wanted as the model wrote it, tags of thinking included.
        best: names of the tools that matter most, the most first, for an endpoint that turns out to take
            fewer; empty if nobody knows.
    """

    system: str
    messages: Sequence[Message]
    tools: Sequence[ToolSpec] = ()
    stop: tuple[str, ...] = ()
    verbatim: bool = False
    best: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TextPart:
    """A piece of visible text."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningPart:
    """A piece of thinking text.

    Attributes:
        text: the piece.
        replaces_text: everything given as text so far in this reply was thinking, and `text` is all of
            it: some endpoints say so only when the thinking ends (a closing tag without an opening one).
    """

    text: str
    replaces_text: bool = False


@dataclass(frozen=True, slots=True)
class CallPart:
    """A call is being written: enough to say so on screen, never enough to run it."""

    name: str
    size: int


@dataclass(frozen=True, slots=True)
class RetryPart:
    """The request failed and will be sent again in `delay` seconds; nothing was shown yet."""

    attempt: int
    attempts: int
    delay: float
    reason: str


@dataclass(frozen=True, slots=True)
class ReplyPart:
    """The end of a reply; always the last part of a stream that did not fail.

    Attributes:
        calls: finished calls, truncated ones marked.
        finish: the endpoint's finish reason ("stop", "tool_calls", "length", …).
        usage: tokens, or None if the endpoint did not say.
        refusal: the model's refusal text, or "".
        echo: provider fields to be sent back with this message.
        warning: what a person should know of the endpoint ("it seems to cut what it is sent"), or "".
    """

    calls: tuple[CallRequest, ...] = ()
    finish: str = "stop"
    usage: Usage | None = None
    refusal: str = ""
    echo: Mapping[str, Any] | None = None
    warning: str = ""


ModelPart = TextPart | ReasoningPart | CallPart | RetryPart | ReplyPart


MAX_TOOLS = 128
"""What OpenAI accepts in one request; more is answered with 400 "array too long"."""


@dataclass(frozen=True, slots=True)
class ModelCapabilities:
    """What a model accepts, as far as is known.

    Attributes:
        max_tools: number of tools in one request.
        tool_marks: what its endpoint does not accept of a tool, in words, by the tool's qualified name.
    """

    max_tools: int = MAX_TOOLS
    tool_marks: Mapping[str, str] = field(default_factory=dict)


class ChatModel(Protocol):
    """A model with function calling, native or emulated by a dialect."""

    @property
    def label(self) -> str:
        """What a person reads ("gpt-5.1", "demo model, offline")."""

    @property
    def notice(self) -> str:
        """A line that must stand under each reply ("demo model: rule-based, …"), or ""."""

    @property
    def capabilities(self) -> ModelCapabilities:
        """What the model accepts; may change as its endpoint refuses things."""

    def restrict(self, *, tools: bool | None, images: bool | None) -> None:
        """Take note of what the endpoint says the model cannot do (False); None says nothing."""

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelPart]:
        """Send `request` and yield the reply as it arrives.

        Closing the generator or cancelling the task that iterates closes the connection at once.

        Raises:
            ModelError: the endpoint could not be reached, refused, or broke the stream.
        """

    async def connect(self) -> None:
        """Do ahead of time what the first request would have to wait for."""

    async def aclose(self) -> None:
        """Close the connections now."""

    async def retire(self) -> None:
        """Close the connections once the replies under way have ended."""


# ---- tools ----------------------------------------------------------------------------------------


class Toolbox(Protocol):
    """All tools of all running servers."""

    def tools(self) -> Sequence[Tool]:
        """Return what can be called now, in a stable order."""

    async def check(self, tool: Tool, arguments: Mapping[str, Any]) -> str:
        """Return what is wrong with `arguments` under the tool's own schema, or "".

        Bounded in time whatever the schema is.
        """

    async def call(
        self, tool: Tool, arguments: Mapping[str, Any], *, seconds: float, progress: ProgressSink
    ) -> ToolResult:
        """Call and return the result; failures are results too.

        Cancelling it cancels the call on the wire.
        """


# ---- the person ------------------------------------------------------------------------------------


class Answer(StrEnum):
    """What a person can say to an approval."""

    ONCE = "once"
    SESSION = "session"
    ALWAYS = "always"
    NO = "no"


@dataclass(frozen=True, slots=True)
class Decision:
    """The answer to an approval, and for a no the reason that the model is told.

    `by_person` is false if there was nobody to give it.
    """

    answer: Answer
    reason: str = ""
    by_person: bool = True


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """A call that needs a yes.

    Attributes:
        call_id: the call's id.
        tool: what would run.
        arguments: with what, whole.
        why: why it asks ("not read-only", "destructive, says the server").
    """

    call_id: str
    tool: Tool
    arguments: Mapping[str, Any]
    why: str


class Approver(Protocol):
    """Someone who can say yes or no: a person at a dialog, flags without a screen, a script in tests."""

    async def ask(self, request: ApprovalRequest) -> Decision:
        """Wait for the answer. Limits' clocks stand still meanwhile. Cancelled when the turn is."""


# ---- time and bytes --------------------------------------------------------------------------------


class Clock(Protocol):
    """Monotonic time, so that tests own it."""

    def now_ns(self) -> int:
        """Return monotonic nanoseconds."""

    def sleep(self, seconds: float) -> Awaitable[None]:
        """Wait."""


class MonotonicClock:
    """Monotonic time of this machine."""

    def now_ns(self) -> int:
        """Return monotonic nanoseconds."""
        return time.monotonic_ns()

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model that can be asked.

    Attributes:
        name: the profile's name, by which it is asked for.
        model: the endpoint's id of the model.
        where: its address, or "offline".
        source: who named it: "configuration", "environment", "found on this machine", "built in".
        window: tokens that fit into one request, or None if nobody knows.
        facts: what is known of it, a few words each ("text protocol xml", "refuses temperature").
        current: it is the one that is asked now.
        problem: why it cannot be asked, or "".
    """

    name: str
    model: str
    where: str
    source: str
    window: int | None = None
    facts: tuple[str, ...] = ()
    current: bool = False
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Meters:
    """What the conversation has used up.

    Attributes:
        context: tokens that the last request took.
        window: tokens that fit into one, or None.
        estimated: `context` and `tokens` are estimates, shown with "~".
        tokens: of all requests of this session.
        cost: of all requests, or None without prices.
        currency: of `cost`.
    """

    context: int = 0
    window: int | None = None
    estimated: bool = False
    tokens: int = 0
    cost: float | None = None
    currency: str = "USD"
