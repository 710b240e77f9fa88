"""Sets how much a model thinks, in the request field that its provider accepts. Pure.

Sources are the providers' documentation, as of November 2026.
"""

from collections.abc import Collection
from enum import StrEnum
from typing import Any

from tui.core.ports import EFFORTS

_BUDGETS = {"minimal": 1_024, "low": 2_048, "medium": 8_192, "high": 16_384, "xhigh": 24_576, "max": 32_768}
"""Tokens of thinking, for providers that take a number."""

LEAST_BUDGET = 1_024


class EffortField(StrEnum):
    """The field that a provider accepts.

    `LEVEL` is OpenAI's `reasoning_effort`. `OBJECT` is OpenRouter's `reasoning`, `BUDGET` is Anthropic's
    `thinking` with a number of tokens, `SWITCH` is `thinking` that is on or off, `SWITCH_AND_LEVEL` has
    `reasoning_effort` beside it, and `ENABLE` is Alibaba's `enable_thinking` and `thinking_budget`.
    """

    LEVEL = "reasoning_effort"
    OBJECT = "reasoning"
    BUDGET = "thinking with a budget"
    SWITCH = "thinking"
    SWITCH_AND_LEVEL = "thinking and reasoning_effort"
    ENABLE = "enable_thinking"


def effort_fields(
    effort: str, field: EffortField, *, taken: Collection[str] = (), max_tokens: int | None = None
) -> dict[str, Any]:
    """Return the fields of a request for an effort, one of `EFFORTS`.

    `taken` are the levels that the endpoint is known to accept, empty if unknown: the nearest is sent. A
    budget is kept below `max_tokens`, which counts thinking too.
    """
    if taken:
        effort = nearest(effort, taken)
    on = effort != "none"
    switch = {"type": "enabled" if on else "disabled"}
    match field:
        case EffortField.LEVEL:
            return {"reasoning_effort": effort}
        case EffortField.OBJECT:
            return {"reasoning": {"effort": effort}}
        case EffortField.SWITCH:
            return {"thinking": switch}
        case EffortField.SWITCH_AND_LEVEL:
            return {"thinking": switch} | ({"reasoning_effort": effort} if on else {})
        case EffortField.ENABLE:
            return {"enable_thinking": on} | ({"thinking_budget": _BUDGETS[effort]} if on else {})
        case EffortField.BUDGET:
            budget = _BUDGETS.get(effort, 0)
            if max_tokens is not None and budget >= max_tokens:
                budget = max_tokens // 2
            if on and budget < LEAST_BUDGET:
                return {}
            return {"thinking": switch | ({"budget_tokens": budget} if on else {})}


def nearest(effort: str, taken: Collection[str]) -> str:
    """Return the level of `taken` that is nearest to `effort`, the lower one of two."""
    wanted = EFFORTS.index(effort)
    known = [level for level in EFFORTS if level in taken]
    return min(known, key=lambda level: abs(EFFORTS.index(level) - wanted), default=effort)
