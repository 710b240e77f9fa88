"""The Protocols that the core depends on (model, toolbox, approver, logs, clock), and their values."""

import asyncio
import hashlib
import json
import time
from collections.abc import AsyncGenerator, Awaitable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, Generic, Protocol, TypeVar

from tui.core.conversation.conversation import CallRequest, Message
from tui.core.conversation.conversation import Usage as Usage
from tui.core.language.translate import N_, message
from tui.core.time_limits import NO_CLOCKS, CallTimeout, Pausable
from tui.core.tools import ProgressSink, Tool, ToolResult

Key = TypeVar("Key")
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as a model reads it: description cleaned and bounded, schema converted for the model.

    `name` is qualified, `^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`; `server` and `tool` are for dialects that write
    them apart, and for the demo model.
    """

    name: str
    description: str
    schema: Mapping[str, Any]
    server: str = ""
    tool: str = ""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One request to a model. `messages` are sanitised.

    Attributes:
        tools: the tools it may call; empty for the last request of a turn at its limit.
        stop: texts before which the reply ends, if the endpoint supports it; at most 4.
        verbatim: return the text of the reply unchanged, including thinking tags.
        best: names of the most important tools, in order, for an endpoint that turns out to accept fewer.
        max_tokens: a limit for the reply, besides the profile's; the smaller one applies.
        temperature: instead of the profile's.
        must_call: the reply must call a tool, if the endpoint supports that.
        answer_schema: a JSON Schema that the text of the reply must match, if the endpoint supports one.
    """

    system: str
    messages: Sequence[Message]
    tools: Sequence[ToolSpec] = ()
    stop: tuple[str, ...] = ()
    verbatim: bool = False
    best: tuple[str, ...] = ()
    max_tokens: int | None = None
    temperature: float | None = None
    must_call: bool = False
    answer_schema: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class TextPart:
    """A piece of visible text, raw. The turn passes parts on as events, with the number of their `step`."""

    text: str
    step: int = 0


@dataclass(frozen=True, slots=True)
class ReasoningPart:
    """A piece of thinking text, raw.

    `replaces_text`: all text of this reply so far was thinking, and is repeated in `text`: some endpoints say
    so only when the thinking ends (a closing tag without an opening one).
    """

    text: str
    replaces_text: bool = False
    step: int = 0


@dataclass(frozen=True, slots=True)
class CallPart:
    """A call that is being written, only for display; `size` are the characters of its arguments so far."""

    name: str
    size: int
    step: int = 0


@dataclass(frozen=True, slots=True)
class RetryPart:
    """The request failed and will be sent again in `delay` seconds; nothing was shown yet."""

    attempt: int
    attempts: int
    delay: float
    reason: str
    step: int = 0


@dataclass(frozen=True, slots=True)
class ReplyPart:
    """The end of a reply; always the last part of a stream that did not fail.

    Attributes:
        calls: complete calls, and truncated ones, which are marked.
        finish: the endpoint's finish reason ("stop", "tool_calls", "length", …).
        echo: provider fields to be sent back with this message.
        warning: a warning about the endpoint ("it seems to truncate the prompt"), or "".
    """

    calls: tuple[CallRequest, ...] = ()
    finish: str = "stop"
    usage: Usage | None = None
    refusal: str = ""
    echo: Mapping[str, Any] | None = None
    warning: str = ""


ModelPart = TextPart | ReasoningPart | CallPart | RetryPart | ReplyPart


EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
"""Levels of reasoning, from none to the model's maximum."""

MAX_TOOLS = 128
"""OpenAI's limit for one request; more is answered with 400 "array too long"."""


@dataclass(frozen=True, slots=True)
class ModelCapabilities:
    """The known limits of a model, such as the number of tools in one request.

    `tool_marks` says in words, by the tool's qualified name, which part of it the endpoint rejects. `facts`
    were learned about the endpoint, a few words each. `writes` is False for a model that cannot write a
    title, such as the demo.
    """

    max_tools: int = MAX_TOOLS
    tool_marks: Mapping[str, str] = field(default_factory=dict)
    facts: tuple[str, ...] = ()
    writes: bool = True


NO_MODEL = message("no model")
"""The label in place of a model's, where none is selected."""


class ChatModel(Protocol):
    """A model with function calling, native or emulated by a dialect."""

    @property
    def label(self) -> str:
        """The name that the user sees ("gpt-5.1", "demo model, offline")."""

    @property
    def notice(self) -> str:
        """A line to show under each reply ("demo model: rule-based, …"), or ""."""

    @property
    def capabilities(self) -> ModelCapabilities:
        """The known limits of the model; may change when its endpoint rejects requests."""

    def restrict(self, *, tools: bool | None, images: bool | None) -> None:
        """Record features that the endpoint says the model lacks (False); None means no information."""

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelPart]:
        """Send `request` and yield the reply as it arrives.

        Closing the generator or cancelling the task that iterates closes the connection at once.

        Raises:
            ModelError: the endpoint could not be reached, rejected the request, or broke the stream.
        """

    async def connect(self) -> None:
        """Prepare the connection before the first request."""

    async def aclose(self) -> None:
        """Close the connections now."""

    async def retire(self) -> None:
        """Close the connections once the running replies have ended."""


class Toolbox(Protocol):
    """All tools of all running servers."""

    def tools(self) -> Sequence[Tool]:
        """Return the tools that can be called now, in a stable order."""

    async def check(self, tool: Tool, arguments: Mapping[str, Any]) -> str:
        """Return the problem of `arguments` under the tool's own schema, or "".

        Bounded in time whatever the schema is.
        """

    async def call(
        self,
        tool: Tool,
        arguments: Mapping[str, Any],
        *,
        seconds: float | CallTimeout,
        progress: ProgressSink,
        clocks: Pausable = NO_CLOCKS,
    ) -> ToolResult:
        """Call and return the result; failures are results too.

        Cancelling this cancels the request. `clocks` and `seconds` are paused while the user answers the
        server.
        """


class Answer(StrEnum):
    """The user's answer to a call that needs approval."""

    ONCE = "once"
    SESSION = "session"
    ALWAYS = "always"
    NO = "no"


ANSWER_WORDS = {
    Answer.ONCE: N_("allowed once"),
    Answer.SESSION: N_("allowed until mcptui quits"),
    Answer.ALWAYS: N_("always allowed"),
    Answer.NO: N_("denied"),
}


@dataclass(frozen=True, slots=True)
class Decision:
    """The answer to an approval, and the reason of a denial for the model.

    `by_user` is false if no user could answer.
    """

    answer: Answer
    reason: str = ""
    by_user: bool = True

    @property
    def refusal(self) -> str:
        """What the model reads about a call that is denied by it."""
        if not self.by_user:
            return f"denied: {self.reason}" if self.reason else "denied"
        if not self.reason:
            return message("denied by the user")
        return message("denied by the user: {reason}", reason=self.reason)


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """A call that needs approval, and `why` ("may change something", "found in the text of the reply").

    `once_only`: the same call would ask again after any answer, so no lasting answers are offered.
    `by_skill`: a skill is loaded, so no option allows it either.
    """

    call_id: str
    tool: Tool
    arguments: Mapping[str, Any]
    why: str
    once_only: bool = False
    by_skill: bool = False

    @property
    def warning(self) -> str:
        """A sentence about hidden text in the definition of the tool, or ""."""
        if not self.tool.hidden:
            return ""
        from tui.core.hidden_text.scan import signs_of  # not needed for the first frame

        return message(
            "Its definition has text that you may not see: {signs}.", signs=signs_of(self.tool.hidden)
        )


@dataclass(frozen=True, slots=True)
class TrustQuestion:
    """The question whether to trust the read-only marks and results of the server of `tool`."""

    server: str
    tool: str


class Approver(Protocol):
    """Approves or denies calls: a dialog, flags without a screen, a script in tests."""

    async def ask(self, request: ApprovalRequest) -> Decision:
        """Wait for the answer, with the clocks of the limits paused. Cancelled with the turn."""

    async def trust(self, question: TrustQuestion) -> bool | None:
        """Wait for the answer as `ask` does; None if there was none, so that the next run asks again."""


class TrustStore(Protocol):
    """Knows which servers are trusted, so that their read-only marks and results count."""

    def trusts(self, tool: Tool) -> bool:
        """Whether the server of a tool is trusted now."""

    def trusted(self, server: str) -> bool | None:
        """Whether a server is trusted now, None until the user decides; False if it is unknown."""

    def decide(self, server: str, trusted: bool) -> None:
        """Store the user's answer. Neither waits nor raises."""


class DecisionKind(StrEnum):
    """The kind of thing that was decided."""

    CALL = "call"
    CONSENT = "consent"
    DEFINITIONS = "definitions"
    TRUST = "trust"
    SAMPLING = "sampling"
    ELICITATION = "elicitation"
    ROOTS = "roots"
    SIGN_IN = "sign-in"
    SKILL = "skill"


MODEL, USER = "model", "user"
"""Requesters besides servers."""

BY_KEY, BY_DEFAULT, BY_LIMIT = "key", "default", "limit"
"""Deciders besides rules ("rule deny */delete_*"), options ("option --approve all"), settings, commands."""


@dataclass(frozen=True, slots=True)
class DecisionRecord:
    """One line of the record of decisions: who allowed or denied what. Contains no values of arguments.

    Attributes:
        server: configured name of the server that it is about.
        subject: the tool, or the request in a few words, with the URI of a resource; from a server, so not
            clean.
        by: what decided: `BY_KEY`, `BY_DEFAULT`, `BY_LIMIT`, "rule TEXT", "option TEXT" or "setting TEXT",
            with details in parentheses.
        asked_by: who requested it: `MODEL`, `USER`, or "server NAME".
        asked: whether the user was asked.
        digest: `digest_of` the arguments, or "".
        when: seconds since the epoch.
    """

    kind: DecisionKind
    server: str
    subject: str
    allowed: bool
    by: str
    asked_by: str
    asked: bool = False
    digest: str = ""
    when: float = field(default_factory=time.time)


ACTING_BY: ContextVar[str] = ContextVar("acting_by", default="")
"""What acts in place of this process, for the record of decisions: a command at the door, or ""."""


@contextmanager
def acting_by(who: str) -> Iterator[None]:
    """Record what is done meanwhile, in this task, as done by another process of the user."""
    before = ACTING_BY.set(who)
    try:
        yield
    finally:
        ACTING_BY.reset(before)


def hand_call(
    server: str,
    tool: str,
    arguments: Mapping[str, Any],
    *,
    by: str,
    allowed: bool = True,
    asked: bool = False,
) -> DecisionRecord:
    """Return the decision about a call that the user makes without a model; `by` is as in a record."""
    subject, digest = f"{tool} (by hand)", digest_of(arguments)
    return DecisionRecord(DecisionKind.CALL, server, subject, allowed, by, USER, asked=asked, digest=digest)


def digest_of(arguments: Mapping[str, Any]) -> str:
    """Return a short hash of arguments that does not depend on the order of their names."""
    text = json.dumps(arguments, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


class DecisionLog(Protocol):
    """Records decisions."""

    def add(self, record: DecisionRecord) -> None:
        """Record a decision. Neither waits nor raises, because a failure to write must not affect a call."""


class Undecided:
    """A `DecisionLog` that records nothing."""

    def add(self, record: DecisionRecord) -> None:
        """Ignore the decision."""


class Clock(Protocol):
    """Monotonic time, replaced in tests."""

    def now_ns(self) -> int: ...

    def sleep(self, seconds: float) -> Awaitable[None]: ...


class MonotonicClock:
    """Monotonic time of this machine."""

    def now_ns(self) -> int:
        return time.monotonic_ns()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model that can be chosen. `name` is the profile's, `model` the endpoint's id.

    Attributes:
        where: its address, or "offline".
        source: its origin: "configuration", "environment", "found on this machine", "built in".
        facts: known properties, a few words each ("text protocol xml", "effort high").
        price: of a million tokens sent and received ("$0.27 / $1.10"), or "".
        learned: facts learned about its endpoint, a few words each ("refuses temperature"); can be forgotten.
        problem: why it cannot be used, or "".
    """

    name: str
    model: str
    where: str
    source: str
    window: int | None = None
    facts: tuple[str, ...] = ()
    current: bool = False
    problem: str = ""
    learned: tuple[str, ...] = ()
    price: str = ""


@dataclass(frozen=True, slots=True)
class Meters:
    """Usage of the conversation: tokens of the last request, tokens and cost of all requests.

    With `estimated` the tokens are shown with "~"; `cost` is None without prices.
    """

    context: int = 0
    window: int | None = None
    estimated: bool = False
    tokens: int = 0
    cost: float | None = None
    currency: str = "USD"


class KeyedStore(Protocol[Key, Value]):
    """Stores values by key on disk. Changing neither waits nor raises, because they can be learned again."""

    def read(self) -> dict[Key, Value]: ...

    def change_later(self, put: Mapping[Key, Value], dropped: Collection[Key] = ()) -> None: ...


class Kept(Generic[Key, Value]):
    """Values that outlive a run, unless there is no `store`. It is read on first use."""

    def __init__(self, store: KeyedStore[Key, Value] | None) -> None:
        self._store = store

    @cached_property
    def all(self) -> dict[Key, Value]:
        return self._store.read() if self._store is not None else {}

    def change(self, put: Mapping[Key, Value], dropped: Collection[Key] = ()) -> None:
        for key in dropped:
            self.all.pop(key, None)
        self.all.update(put)
        if self._store is not None:
            self._store.change_later(put, dropped)
