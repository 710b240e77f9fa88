"""The spans of the trace: turns, steps, calls and notes, with states and previews. Values only."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import Any

from tui.core.attachments import as_shown
from tui.core.events import EndReason
from tui.core.language.translate import N_, message
from tui.core.ports import Answer, Usage
from tui.core.text import Preview, clean_line, compact, preview

MAX_ARGUMENTS = 40
"""Maximum arguments of one call."""

RESULT_CHARS = 2_000
RESULT_LINES = 24


def argument_lines(arguments: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return the arguments of a call as (name, value) pairs of cleaned one-line text, in order.

    More than `MAX_ARGUMENTS` are counted in a last pair ("…", "12 more").
    """
    lines = [
        (clean_line(str(name), 64), compact(value))
        for name, value in islice(arguments.items(), MAX_ARGUMENTS)
    ]
    more = len(arguments) - len(lines)
    if more > 0:
        lines.append(("…", message("{n} more", n=more)))
    return tuple(lines)


def result_preview(text: str) -> Preview:
    """Return the head of a result: a few lines of cleaned text, and how much is omitted."""
    text = as_shown(text)
    return preview(text.strip() if len(text) <= RESULT_CHARS else text, RESULT_CHARS, RESULT_LINES)


class StepState(StrEnum):
    """The state of a model request."""

    ASKED = N_("asked")
    THINKING = N_("thinking")
    ANSWERING = N_("answering")
    CALLING = N_("writing a call")
    RETRYING = N_("retrying")
    DONE = N_("done")
    FAILED = N_("failed")
    CANCELLED = N_("stopped")

    @property
    def over(self) -> bool:
        """Whether the request has ended."""
        return self in (StepState.DONE, StepState.FAILED, StepState.CANCELLED)


class CallState(StrEnum):
    """The state of a tool call."""

    WAITING = N_("waiting")
    ASKING = N_("waiting for approval")
    RUNNING = N_("running")
    DONE = N_("done")
    FAILED = N_("failed")
    DENIED = N_("denied")
    CANCELLED = N_("cancelled")
    NOT_RUN = N_("not run")

    @property
    def over(self) -> bool:
        """Whether the call has ended."""
        return self not in (CallState.WAITING, CallState.ASKING, CallState.RUNNING)


END_WORDS = {
    EndReason.ANSWERED: N_("answered"),
    EndReason.LIMIT: N_("stopped at a limit"),
    EndReason.CANCELLED: N_("stopped"),
    EndReason.MODEL_ERROR: N_("the model failed"),
    EndReason.EMPTY: N_("empty reply"),
    EndReason.CUT: N_("truncated at max_tokens"),
    EndReason.FILTERED: N_("truncated by a content filter"),
}


class NoteKind(StrEnum):
    """The kind of a note."""

    LIMIT = "limit"
    ERROR = "error"
    ENDED = "ended"


@dataclass(slots=True)
class TurnSpan:
    """One user message and everything until its answer. Texts are cleaned.

    Attributes:
        number: counts the turns of the conversation from 1.
        ms: duration in milliseconds; None while it runs, as is `reason`.
        steps, calls: numbers of model requests and of tool calls.
        traffic: its number in the traffic of this run; 0 for a turn of another run.
        past: it was read from saved messages, so its time and duration are unknown.
        place: the index of its question in those messages.
    """

    number: int
    model: str
    started_ns: int
    ms: float | None = None
    reason: EndReason | None = None
    steps: int = 0
    calls: int = 0
    traffic: int = 0
    past: bool = False
    place: int = -1


@dataclass(slots=True)
class StepSpan:
    """One model request, the `number`-th of its turn.

    Attributes:
        detail: about the state (the call that is being written, why it is sent again), cleaned.
        ms: duration in milliseconds; None while it runs.
        final: the request without tools at a limit.
    """

    turn: int
    number: int
    started_ns: int
    state: StepState = StepState.ASKED
    detail: str = ""
    ms: float | None = None
    usage: Usage | None = None
    final: bool = False


@dataclass(slots=True)
class CallSpan:
    """One tool call. Texts are cleaned. Times are monotonic nanoseconds, None if not reached.

    Attributes:
        server: "" if the name that the model wrote does not resolve.
        arguments: (name, value) previews.
        why: why it needs approval, did not run or failed, or "".
        asked_ns, answered_ns: when the user was asked, and when the question ended.
        ms: duration in milliseconds; None while it runs.
        progress, total: as the server reports them; None if unknown.
        result: head of the text that the model reads; None before the end.
        rule: the rule that decided whether it runs, or "".
    """

    turn: int
    step: int
    id: str
    server: str
    tool: str
    arguments: tuple[tuple[str, str], ...]
    state: CallState = CallState.WAITING
    why: str = ""
    asked_ns: int | None = None
    answered_ns: int | None = None
    answer: Answer | None = None
    started_ns: int | None = None
    ms: float | None = None
    progress: float | None = None
    total: float | None = None
    message: str = ""
    result: Preview | None = None
    warning: str = ""
    rule: str = ""

    @property
    def waited_ms(self) -> float:
        """How long the user took to answer, in milliseconds."""
        return ((self.answered_ns or 0) - (self.asked_ns or 0)) / 1e6 if self.answered_ns else 0.0


@dataclass(slots=True)
class NoteSpan:
    """An entry that is neither step nor call: a limit, an error, the end of the turn."""

    turn: int
    kind: NoteKind
    text: str


Span = TurnSpan | StepSpan | CallSpan | NoteSpan


def ended_note(turn: int, reason: EndReason, last: Span | None) -> NoteSpan | None:
    """Return a note on how a turn ended; None if its `last` entry shows it."""
    if isinstance(last, NoteSpan):
        is_shown = last.kind is NoteKind.ERROR and reason in (EndReason.MODEL_ERROR, EndReason.EMPTY)
    else:
        stopped = (StepState.CANCELLED, CallState.CANCELLED, CallState.NOT_RUN)
        is_shown = reason is EndReason.CANCELLED and getattr(last, "state", None) in stopped
    return None if is_shown else NoteSpan(turn, NoteKind.ENDED, END_WORDS[reason])
