"""Why a turn ended, and which limit it met, each in one plain sentence. Pure."""

from collections.abc import Mapping

from tui.core import units
from tui.core.events import EndReason, LimitName, LimitReached

END_SENTENCES: Mapping[EndReason, str] = {
    EndReason.ANSWERED: "The model has answered.",
    EndReason.LIMIT: "Press {go_on} to let it go on with fresh limits.",
    EndReason.CANCELLED: "Stopped. Nothing of this turn runs any more.",
    EndReason.MODEL_ERROR: "The turn ended there; what was said is kept. {again} asks again.",
    EndReason.CUT: "The answer is cut: it reached the most tokens that the model may write (max_tokens).",
    EndReason.FILTERED: "The answer is cut: the provider's content filter ended it. {again} asks again.",
    EndReason.EMPTY: "The model ended its turn without a word. {again} asks again.",
}
"""What stands on the screen when a turn has ended; `{go_on}` and `{again}` are keys."""

LIMIT_SENTENCES: Mapping[LimitName, str] = {
    LimitName.MAX_STEPS: "Limit reached: {value} steps",
    LimitName.MAX_TOOL_CALLS: "Limit reached: {value} tool calls",
    LimitName.MAX_CALLS_PER_REPLY: "Limit reached: {value} calls in one reply",
    LimitName.TURN_SECONDS: "Limit reached: {time} for a turn",
    LimitName.TOOL_SECONDS: "Limit reached: {time} for a call",
    LimitName.CONSECUTIVE_ERRORS: "Limit reached: {value} steps in a row in which every call failed",
    LimitName.IDENTICAL_CALLS: "Limit reached: the same call {value} times with the same result",
    LimitName.RESULT_BYTES: "Limit reached: {size} of one result",
    LimitName.TURN_TOKENS: "Limit reached: {count} tokens for a turn",
    LimitName.TURN_COST: "Limit reached: {cost} for a turn",
}


def end_sentence(reason: EndReason, *, go_on: str, again: str) -> str:
    """Return what is said when a turn has ended.

    Args:
        reason: why it ended.
        go_on: the key that goes on after a limit.
        again: the key that asks again.
    """
    return END_SENTENCES[reason].format(go_on=go_on, again=again)


def limit_sentence(event: LimitReached) -> str:
    """Return which limit was met, and where it can be changed."""
    words = LIMIT_SENTENCES[event.limit].format(
        value=f"{event.value:g}",
        time=units.clock(event.value),
        size=units.size(event.value),
        count=units.count(event.value),
        cost=f"{event.value:g}",
    )
    return f"{words} ({event.limit} in [limits])."
