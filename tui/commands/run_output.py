"""The output of `mcptui run`: a line of text or a JSON object per event. Pure.

JSON is ASCII only: no lone surrogate, escape sequence or narrow locale can break a line.
"""

import json
from collections.abc import Mapping
from typing import Any

from tui.core import units
from tui.core.errors import sentences
from tui.core.events import (
    NEVER_RUN,
    CallJudged,
    EndReason,
    Event,
    LimitReached,
    Notice,
    ReasoningDelta,
    RetryScheduled,
    StepEnded,
    StepStarted,
    TextDelta,
    ToolCallEnded,
    ToolCallProposed,
    ToolProgress,
    TurnEnded,
    TurnError,
    TurnStarted,
    Waiting,
)
from tui.core.ports import Usage
from tui.core.servers import PRINT_STEP, ServerStatus
from tui.core.text import clean_line
from tui.core.turn.prepared_calls import plain_reason
from tui.core.units import duration, plural

RESULT_SHOWN, REASON_SHOWN = 160, 600
"""Maximum characters of a result, and of the reason for a call without one, which includes the next step."""

REFUSED = NEVER_RUN | {"denied"}

_CUT = {
    EndReason.CUT: "! answer truncated at max_tokens",
    EndReason.FILTERED: "! answer truncated by the provider's content filter",
}


def arguments_line(arguments: Mapping[str, Any], limit: int = 120) -> str:
    """Return arguments as `name=value …` on one line."""
    pairs = (
        f"{name}={json.dumps(value, ensure_ascii=False, default=str)}" for name, value in arguments.items()
    )
    return clean_line(" ".join(pairs), limit)


def printed_sentence(status: ServerStatus) -> str:
    """Return what a server printed to stdout, where only messages belong, and what to do about it; or ""."""
    line = f": {first}" if (first := clean_line(status.printed, 200)) else ""
    return f"{words}{line}. {PRINT_STEP}" if (words := status.printed_words) else ""


def printed_note(status: ServerStatus) -> str:
    """Return `printed_sentence` with the name of the server, or ""."""
    return f"{clean_line(status.name, 80)}: {said}" if (said := printed_sentence(status)) else ""


def trace_line(event: Event) -> str:
    """Return the line for `event` on stderr, or "" for none."""
    match event:
        case TurnStarted(model=model, tools=tools, notice=notice):
            return clean_line(f"· {model}, {plural(tools, 'tool')}" + (f" · {notice}" if notice else ""), 300)
        case StepEnded(step, ms, usage):
            tokens = f"{'~' if usage.estimated else ''}{usage.prompt + usage.completion} tokens"
            cached = f", {usage.cached} cached" if usage.cached else ""
            return f"· step {step}  model {duration(ms)}  {tokens}{cached}"
        case ToolCallProposed() | CallJudged() | ToolProgress() | ToolCallEnded():
            return _call_line(event)
        case RetryScheduled(delay=0, reason=reason):
            return f"· {clean_line(reason, 160)}"
        case RetryScheduled(_, attempt, attempts, delay, reason):
            when = f"in {delay:.0f} s" if delay >= 0.5 else "now"
            return f"· {clean_line(reason, 160)}. Retrying {when}, {attempt} of {attempts}"
        case Notice(message) | Waiting(message) if message:
            return clean_line(f"· {message}", 600)
        case LimitReached(limit, value):
            return f"! limit reached: {limit.value} {value:g}. Asking for the best answer so far"
        case TurnEnded(reason=reason):
            return _CUT.get(reason, "")
        case TurnError(message, where, next_step):
            return "! " + clean_line(sentences(f"{where}: {message}", next_step), 600)
        case _:
            return ""


def _call_line(event: ToolCallProposed | CallJudged | ToolProgress | ToolCallEnded) -> str:
    match event:
        case ToolCallProposed(_, _, server, tool, arguments):
            name = f"{server} › {tool}" if server else tool
            return f"→ {clean_line(name, 120)}  {arguments_line(arguments)}"
        case CallJudged(rule=rule):
            return f"  rule: {clean_line(rule, 300)}" if rule else ""
        case ToolProgress(_, _, progress, total, message):
            return f"  … {units.progress(progress, total or None, clean_line(message, 80).strip())}"
        case ToolCallEnded():
            name = f"{event.server} › {event.tool}" if event.server else event.tool
            mark = "✗" if event.is_error else "✓"
            text = event.text if event.result is not None else plain_reason(event.text, event.why)
            shown = clean_line(text, REASON_SHOWN if event.why in REFUSED else RESULT_SHOWN)
            return f"{mark} {clean_line(name, 120)}  {duration(event.ms)}  {shown}"


def _usage(usage: Usage) -> dict[str, Any]:
    cached = {"cached_tokens": usage.cached} if usage.cached else {}
    return {
        "prompt_tokens": usage.prompt,
        "completion_tokens": usage.completion,
        "total_tokens": usage.prompt + usage.completion,
        "estimated": usage.estimated,
        **cached,
    }


def as_object(event: Event) -> dict[str, Any] | None:
    """Return the JSON object for `event`, or None for events that only a screen uses."""
    event = _as_notice(event)
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
        case ToolCallProposed() | CallJudged() | ToolCallEnded():
            return _of_call(event)
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


def _as_notice(event: Event) -> Event:
    return Notice(event.message) if isinstance(event, Waiting) and event.message else event


def _of_call(event: ToolCallProposed | CallJudged | ToolCallEnded) -> dict[str, Any]:
    match event:
        case ToolCallProposed():
            return _tool_call(event)
        case CallJudged():
            return _decision(event)
        case ToolCallEnded():
            return _tool_result(event)


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


def _decision(event: CallJudged) -> dict[str, Any]:
    decided = {
        "type": "decision",
        "step": event.step,
        "id": event.id,
        "decision": str(event.verdict),
        "why": event.why,
        "by": event.by,
    }
    return decided | {"rule": event.rule} if event.rule else decided


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
    """Return the JSON object for a failure."""
    found = {"type": "error", "message": message, "where": where}
    return found | {"next_step": next_step} if next_step else found


def line(value: dict[str, Any]) -> str:
    """Return `value` as one line of JSON without its newline."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"), default=str)
