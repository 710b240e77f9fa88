"""Why a turn ended, which limit it reached and what failed, in plain sentences. Pure."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence

from tui.core import units
from tui.core.conversation.conversation import (
    AssistantMessage,
    CallRequest,
    Message,
    Remark,
    ToolMessage,
)
from tui.core.errors import sentences
from tui.core.events import (
    EndReason,
    Event,
    LimitName,
    LimitReached,
    Notice,
    TurnEnded,
    TurnError,
    TurnStarted,
)
from tui.core.language.translate import message, n_message
from tui.core.ports import RetryPart
from tui.core.text import clean_line

END_WORDS: Mapping[str, str] = {
    EndReason.ANSWERED: message("The model has answered."),
    EndReason.CANCELLED: message("Stopped."),
    EndReason.CUT: message("The answer is truncated: it reached max_tokens, the limit of one reply."),
    EndReason.FILTERED: message("The answer is truncated: the provider's content filter ended it."),
}
"""Sentences for the ends of turns. Limits and failures have their own remarks, made when they happen."""

LIMIT_SENTENCES: Mapping[str, Callable[[float], str]] = {
    LimitName.MAX_STEPS: lambda value: n_message(
        "Limit reached: {n} step", "Limit reached: {n} steps", int(value)
    ),
    LimitName.MAX_TOOL_CALLS: lambda value: n_message(
        "Limit reached: {n} tool call", "Limit reached: {n} tool calls", int(value)
    ),
    LimitName.TURN_SECONDS: lambda value: message(
        "Limit reached: {time} for a turn", time=units.clock(value)
    ),
    LimitName.CONSECUTIVE_ERRORS: lambda value: n_message(
        "Limit reached: {n} step in a row in which every call failed",
        "Limit reached: {n} steps in a row in which every call failed",
        int(value),
    ),
    LimitName.IDENTICAL_CALLS: lambda value: message(
        "Limit reached: the same call {number} times with the same result", number=f"{value:g}"
    ),
    LimitName.TURN_TOKENS: lambda value: message(
        "Limit reached: {number} tokens for a turn", number=units.count(value)
    ),
    LimitName.TURN_COST: lambda value: message("Limit reached: {cost} for a turn", cost=f"{value:g}"),
}
"""Sentences for the limits, without a full stop, by the value of the limit."""


def remark_of(event: Event, place: int) -> Remark | None:
    """Return the remark for an event after `place` messages, None if there is none."""
    match event:
        case TurnStarted(notice=notice) if notice:
            return Remark(place, "notice", notice)
        case Notice(message=message, kind=kind) if kind != "room":  # shown elsewhere while it applies
            return Remark(place, "warn" if kind == "warn" else "notice", message)
        case RetryPart(reason=reason):
            return Remark(place, "retry", reason)
        case LimitReached(limit=limit, value=value):
            return Remark(place, "limit", limit.value, value=value)
        case TurnError(message=message, where=where, next_step=next_step):
            return Remark(place, "error", message, where, next_step)
        case TurnEnded(reason=reason) if reason is not EndReason.ANSWERED:
            return Remark(place, "end", reason.value)
        case _:
            return None


def said_once(remarks: Sequence[Remark]) -> list[Remark]:
    """Return remarks without retry reasons that were given before or that the failure repeats."""
    kept: list[Remark] = []
    for remark in remarks:
        if remark.kind in ("retry", "error"):
            same = (remark.place, "retry", remark.text)
            if remark.kind == "retry" and any((one.place, one.kind, one.text) == same for one in kept):
                continue
            kept = [one for one in kept if (one.place, one.kind, one.text) != same]
        kept.append(remark)
    return kept


def in_order(
    messages: Sequence[Message], remarks: Sequence[Remark]
) -> Iterator[tuple[int, Message | CallRequest | Remark]]:
    """Yield a conversation as it happened, each part with the number of messages before it.

    The calls of a reply come after it. No remark separates a call from its result, but a warning about the
    reply comes before its calls.
    """
    waiting = deque(said_once(remarks))
    for place, said in enumerate(messages):
        while waiting and waiting[0].place <= place and not isinstance(said, ToolMessage):
            yield place, waiting.popleft()
        yield place, said
        if isinstance(said, AssistantMessage) and said.calls:
            if waiting and (waiting[0].place, waiting[0].kind) == (place + 1, "warn"):
                yield place + 1, waiting.popleft()
            yield from ((place, call) for call in said.calls)
    yield from ((len(messages), remark) for remark in waiting)


def words_of(remark: Remark) -> str:
    """Return the text of a remark, without keys; "" for none, or for one of a newer mcptui."""
    words = remark.text
    match remark.kind:
        case "error":
            if remark.where not in ("", "model"):
                words = message("{where}: {problem}", where=remark.where, problem=words)
            words = sentences(words, remark.next_step)
        case "limit":
            words = _limit_words(remark)
        case "end":
            words = END_WORDS.get(remark.text, "")
        case "retry":
            words = clean_line(words, 400)
    return message("Imported: {words}", words=words) if words and remark.imported else words


def _limit_words(remark: Remark) -> str:
    if (sentence := LIMIT_SENTENCES.get(remark.text)) is None:
        return ""
    key = "identical_calls_stop" if remark.text == LimitName.IDENTICAL_CALLS else remark.text
    return message("{words} ({key} in [limits]).", words=sentence(remark.value), key=key)
