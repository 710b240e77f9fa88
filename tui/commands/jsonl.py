"""Events as the JSON objects of `mcptui run --json`, one a line. Pure.

ASCII only: a lone surrogate, an escape sequence or a narrow locale cannot break a line.
"""

import json
from typing import Any

from tui.core.events import (
    Event,
    LimitReached,
    Notice,
    ReasoningDelta,
    RetryScheduled,
    StepStarted,
    TextDelta,
    ToolCallEnded,
    ToolCallProposed,
    TurnEnded,
    TurnError,
    TurnStarted,
)
from tui.core.ports import Usage


def _usage(usage: Usage) -> dict[str, Any]:
    return {
        "prompt_tokens": usage.prompt,
        "completion_tokens": usage.completion,
        "total_tokens": usage.prompt + usage.completion,
        "estimated": usage.estimated,
    }


def as_object(event: Event) -> dict[str, Any] | None:
    """Return the object for `event`, or None for events that are only for a screen."""
    match event:
        case TurnStarted(model=model, tools=tools, notice=notice):
            started = {"type": "turn_started", "model": model, "tools": tools}
            return started | {"notice": notice} if notice else started
        case StepStarted(step):
            return {"type": "step_started", "step": step}
        case TextDelta(step, text):
            return {"type": "text", "step": step, "text": text}
        case ReasoningDelta(step, text, replaces_text):
            thought = {"type": "reasoning", "step": step, "text": text}
            return thought | {"replaces_text": True} if replaces_text else thought
        case RetryScheduled():
            return {
                "type": "retry",
                "step": event.step,
                "attempt": event.attempt,
                "attempts": event.attempts,
                "delay": round(event.delay, 3),
                "reason": event.reason,
            }
        case ToolCallProposed():
            return _tool_call(event)
        case ToolCallEnded():
            return _tool_result(event)
        case Notice(message, kind):
            return {"type": "notice", "kind": kind, "message": message}
        case LimitReached(limit, value):
            return {"type": "limit_reached", "limit": limit.value, "value": value}
        case TurnError(message, where, next_step):
            return error_object(message, where, next_step)
        case TurnEnded():
            return _turn_ended(event)
        case _:
            return None


def _tool_call(event: ToolCallProposed) -> dict[str, Any]:
    proposed = {
        "type": "tool_call",
        "step": event.step,
        "id": event.id,
        "server": event.server,
        "tool": event.tool,
        "arguments": dict(event.arguments),
    }
    return proposed | {"recovered": True} if event.recovered else proposed


def _tool_result(event: ToolCallEnded) -> dict[str, Any]:
    return {
        "type": "tool_result",
        "step": event.step,
        "id": event.id,
        "server": event.server,
        "tool": event.tool,
        "is_error": event.is_error,
        "text": event.text,
        "ms": round(event.ms, 3),
        "why": event.why,
    }


def _turn_ended(event: TurnEnded) -> dict[str, Any]:
    return {
        "type": "turn_ended",
        "reason": event.reason.value,
        "limit": event.limit.value if event.limit is not None else None,
        "text": event.text,
        "steps": event.steps,
        "tool_calls": event.tool_calls,
        "usage": _usage(event.usage),
        "ms": round(event.ms, 3),
    }


def error_object(message: str, where: str, next_step: str = "") -> dict[str, Any]:
    """Return the object for something that failed."""
    found = {"type": "error", "message": message, "where": where}
    return found | {"next_step": next_step} if next_step else found


def line(value: dict[str, Any]) -> str:
    """Return `value` as one line without its newline."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"), default=str)
