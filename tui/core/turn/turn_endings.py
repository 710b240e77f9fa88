"""Why a turn ended, which limit it reached and what failed, in plain sentences. Pure."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence

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
from tui.core.ports import RetryPart
from tui.core.text import clean_line

END_WORDS: Mapping[str, str] = {
    EndReason.ANSWERED: "The model has answered.",
    EndReason.CANCELLED: "Stopped.",
    EndReason.CUT: "The answer is truncated: it reached max_tokens, the limit of one reply.",
    EndReason.FILTERED: "The answer is truncated: the provider's content filter ended it.",
}
"""Sentences for the ends of turns. Limits and failures have their own remarks, made when they happen."""

LIMIT_SENTENCES: Mapping[str, str] = {
    LimitName.MAX_STEPS: "Limit reached: {steps}",
    LimitName.MAX_TOOL_CALLS: "Limit reached: {calls}",
    LimitName.TURN_SECONDS: "Limit reached: {time} for a turn",
    LimitName.CONSECUTIVE_ERRORS: "Limit reached: {steps} in a row in which every call failed",
    LimitName.IDENTICAL_CALLS: "Limit reached: the same call {value} times with the same result",
    LimitName.TURN_TOKENS: "Limit reached: {count} tokens for a turn",
    LimitName.TURN_COST: "Limit reached: {cost} for a turn",
}


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
    for place, message in enumerate(messages):
        while waiting and waiting[0].place <= place and not isinstance(message, ToolMessage):
            yield place, waiting.popleft()
        yield place, message
        if isinstance(message, AssistantMessage) and message.calls:
            if waiting and (waiting[0].place, waiting[0].kind) == (place + 1, "warn"):
                yield place + 1, waiting.popleft()
            yield from ((place, call) for call in message.calls)
    yield from ((len(messages), remark) for remark in waiting)


def words_of(remark: Remark) -> str:
    """Return the text of a remark, without keys; "" for none, or for one of a newer mcptui."""
    match remark.kind:
        case "error":
            place = f"{remark.where}: " if remark.where not in ("", "model") else ""
            words = sentences(f"{place}{remark.text}", remark.next_step)
        case "limit":
            words = _limit_words(remark)
        case "end":
            words = END_WORDS.get(remark.text, "")
        case "retry":
            words = clean_line(remark.text, 400)
        case _:
            words = remark.text
    return f"Imported: {words}" if words and remark.imported else words


def _limit_words(remark: Remark) -> str:
    value = remark.value
    words = LIMIT_SENTENCES.get(remark.text, "").format(
        value=f"{value:g}",
        steps=units.plural(int(value), "step"),
        calls=units.plural(int(value), "tool call"),
        time=units.clock(value),
        count=units.count(value),
        cost=f"{value:g}",
    )
    key = "identical_calls_stop" if remark.text == LimitName.IDENTICAL_CALLS else remark.text
    return f"{words} ({key} in [limits])." if words else ""
