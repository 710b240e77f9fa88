"""The events of a turn, as frozen values. The same stream feeds the screen, `run --json` and storage."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from tui.core.language.translate import N_
from tui.core.ports import Answer, ApprovalRequest, CallPart, ReasoningPart, RetryPart, TextPart, Usage
from tui.core.tools import CallFailure, ToolResult


class EndReason(StrEnum):
    """Why a turn ended. Each has one sentence on screen and this code in `--json`.

    CUT and FILTERED: there is an answer, but the model's token limit or the provider's content filter ended
    it.
    """

    ANSWERED = "answered"
    LIMIT = "limit"
    CANCELLED = "cancelled"
    MODEL_ERROR = "model_error"
    EMPTY = "empty"
    CUT = "cut"
    FILTERED = "filtered"


class LimitName(StrEnum):
    """The hard limits that end a turn; the names are those of `[limits]`."""

    MAX_STEPS = "max_steps"
    MAX_TOOL_CALLS = "max_tool_calls"
    TURN_SECONDS = "turn_seconds"
    CONSECUTIVE_ERRORS = "consecutive_errors"
    IDENTICAL_CALLS = "identical_calls"
    TURN_TOKENS = "turn_tokens"
    TURN_COST = "turn_cost"


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """A user message was accepted. `notice` says which tools were left out, or "".

    `turn` is its number in this run of the program, as in `core.traffic.Cause`; 0 if not counted.
    """

    model: str
    tools: int
    notice: str = ""
    turn: int = 0


@dataclass(frozen=True, slots=True)
class StepStarted:
    """One model request starts. Steps count from 1; `final` is the one without tools at a limit."""

    step: int
    max_steps: int
    final: bool = False


@dataclass(frozen=True, slots=True)
class StepEnded:
    """The model's reply is complete. `ms` is the time the model took; usage may be an estimate."""

    step: int
    ms: float
    usage: Usage
    finish: str
    calls: int


@dataclass(frozen=True, slots=True)
class ToolCallProposed:
    """The model proposes a call. `server` and `tool` are "" if the name does not resolve.

    `recovered`: the call was found in the text of the reply.
    """

    step: int
    id: str
    server: str
    tool: str
    arguments: Mapping[str, Any]
    recovered: bool = False


@dataclass(frozen=True, slots=True)
class CallJudged:
    """The judgement of the rules and approvals on a call: "allow", "ask" or "deny".

    `why` is the reason in words. `by` is what decided, as in `DecisionRecord`, and `rule` the rule, or "".
    """

    step: int
    id: str
    verdict: str
    why: str = ""
    by: str = ""
    rule: str = ""


@dataclass(frozen=True, slots=True)
class ApprovalAsked:
    """A call is waiting for approval."""

    step: int
    id: str
    request: ApprovalRequest


@dataclass(frozen=True, slots=True)
class ApprovalGiven:
    """The user answered."""

    step: int
    id: str
    answer: Answer
    reason: str


@dataclass(frozen=True, slots=True)
class ToolCallStarted:
    """The call is being sent to the server."""

    step: int
    id: str


@dataclass(frozen=True, slots=True)
class ToolProgress:
    """The server reports progress; `progress` and `total` are None if unknown, `message` is raw."""

    step: int
    id: str
    progress: float | None
    total: float | None
    message: str


NEVER_RUN = frozenset(
    {
        N_("not run"),
        N_("unknown tool"),
        N_("server not running"),
        N_("turned off"),
        N_("invalid arguments"),
        N_("invalid call"),
    }
)
"""Values of `ToolCallEnded.why` of calls that were never sent to a server."""


def call_end(why: str, is_error: bool) -> str:
    """Return how a call ended: "done", "failed", "denied", "cancelled" or "not run"."""
    if why in NEVER_RUN:
        return "not run"
    return why if why in ("denied", "cancelled") else "failed" if why or is_error else "done"


def call_word(why: str, end: str) -> str:
    """Return `why`, or "" if the `end` says it, or the text says how the server ended."""
    return "" if why in (end, CallFailure.SERVER_DIED) else why


@dataclass(frozen=True, slots=True)
class ToolCallEnded:
    """The call has ended; `text` is what the model reads, `result` is the server's, if it ran.

    `why` is a word for a call that did not run or did not finish: "", "denied", "cancelled", "not run",
    "invalid arguments", "invalid call", "unknown tool", "server not running", "turned off",
    or a `CallFailure`.
    """

    step: int
    id: str
    server: str
    tool: str
    is_error: bool
    text: str
    ms: float
    result: ToolResult | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Steered:
    """A user message was added during the turn; the next step sends it."""

    step: int
    text: str


@dataclass(frozen=True, slots=True)
class Notice:
    """A notice that ends nothing.

    `kind` is "info", "warn", or "room": older messages are compacted for the model from now on.
    """

    message: str
    kind: str = "info"


@dataclass(frozen=True, slots=True)
class Waiting:
    """The turn is waiting: the reason, or "" once it continues. Replaces the previous event of this kind."""

    message: str


@dataclass(frozen=True, slots=True)
class LimitReached:
    """A hard limit was reached; `value` is the limit's value."""

    limit: LimitName
    value: float


@dataclass(frozen=True, slots=True)
class TurnError:
    """Something failed; `where` is "model" or a server's name. The turn ends after it."""

    message: str
    where: str
    next_step: str = ""


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The turn has ended and the conversation is valid for the next one."""

    reason: EndReason
    text: str
    steps: int
    tool_calls: int
    usage: Usage
    ms: float
    limit: LimitName | None = None


Event = (
    TurnStarted
    | StepStarted
    | TextPart
    | ReasoningPart
    | CallPart
    | RetryPart
    | StepEnded
    | ToolCallProposed
    | CallJudged
    | ApprovalAsked
    | ApprovalGiven
    | ToolCallStarted
    | ToolProgress
    | ToolCallEnded
    | Steered
    | Notice
    | Waiting
    | LimitReached
    | TurnError
    | TurnEnded
)

Emit = Callable[[Event], None]
