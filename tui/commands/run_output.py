"""The output of `mcptui run`: a line of text or a JSON object per event, and errors of every command.

JSON is ASCII only: no lone surrogate, escape sequence or narrow locale can break a line.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Any

from tui.commands.streams import err, out
from tui.commands.table import json_line
from tui.core import units
from tui.core.errors import McptuiError, composed, sentences
from tui.core.events import (
    NEVER_RUN,
    CallJudged,
    EndReason,
    Event,
    LimitReached,
    Notice,
    StepEnded,
    StepStarted,
    ToolCallEnded,
    ToolCallProposed,
    ToolProgress,
    TurnEnded,
    TurnError,
    TurnStarted,
    Waiting,
)
from tui.core.language.translate import as_message
from tui.core.language.translate import sentences as in_turn
from tui.core.ports import ReasoningPart, RetryPart, TextPart, Usage
from tui.core.servers import PRINT_STEP, ServerStatus
from tui.core.text import clean, clean_line, compact
from tui.core.turn.prepared_calls import shown_end
from tui.core.units import duration, plural

RESULT_SHOWN, REASON_SHOWN = 160, 600
"""Maximum characters of a result, and of the reason for a call without one, which includes the next step."""

EXIT_CODES = {
    EndReason.ANSWERED: 0,
    EndReason.LIMIT: 3,
    EndReason.MODEL_ERROR: 4,
    EndReason.EMPTY: 4,
    EndReason.CUT: 3,
    EndReason.FILTERED: 4,
    EndReason.CANCELLED: 130,
}

REFUSED = NEVER_RUN | {"denied"}

_CUT = {
    EndReason.CUT: "answer truncated at max_tokens",
    EndReason.FILTERED: "answer truncated by the provider's content filter",
}


def arguments_line(arguments: Mapping[str, Any], limit: int = 120) -> str:
    """Return arguments as `name=value …` on one line."""
    pairs = (f"{name}={compact(value, limit)}" for name, value in arguments.items())
    return clean_line(" ".join(pairs), limit)


def printed_sentence(status: ServerStatus) -> str:
    """Return what a server sent that cannot be read, and what to do about it; or ""."""
    printed = status.printed_words
    if printed and (first := clean_line(status.printed, 200)):
        printed = composed("{where}: {text}", where=printed, text=first)
    step = as_message(PRINT_STEP) if printed else ""
    return in_turn(
        sentences(printed, step), composed("{text}.", text=status.invalid) if status.invalid else ""
    )


def trace_line(event: Event) -> str:
    """Return the line for `event` on stderr, or "" for none."""
    mark, text = marked(event)
    if isinstance(event, ToolCallEnded):
        text = f"{text}  {duration(event.ms)}  {_result_line(event)}"
    return f"{mark} {text}" if text else ""


def marked(event: Event) -> tuple[str, str]:
    """Return the mark of an event and its text on one line, "" for none; of a call that ended, its name."""
    match event:
        case TurnStarted(model=model, tools=tools, notice=notice):
            text = f"{model}, {plural(tools, 'tool')}" + (f" · {notice}" if notice else "")
            return "·", clean_line(text, 298)
        case StepEnded(step, ms, usage):
            tokens = f"{'~' if usage.estimated else ''}{usage.prompt + usage.completion} tokens"
            cached = f", {usage.cached} cached" if usage.cached else ""
            return "·", f"step {step}  model {duration(ms)}  {tokens}{cached}"
        case ToolCallProposed(_, _, server, tool, arguments):
            return "→", f"{_tool(server, tool)}  {arguments_line(arguments)}"
        case CallJudged(rule=rule):
            return " ", f"rule: {clean_line(rule, 300)}" if rule else ""
        case ToolProgress(_, _, progress, total, message):
            return "  …", units.progress(progress, total or None, clean_line(message, 80).strip())
        case ToolCallEnded():
            return "✗" if event.is_error else "✓", _tool(event.server, event.tool)
        case RetryPart(attempt, attempts, delay, reason):
            when = f"in {delay:.0f} s" if delay >= 0.5 else "now"
            again = f". Retrying {when}, {attempt} of {attempts}" if delay else ""
            return "·", f"{clean_line(reason, 160)}{again}"
        case Notice(message) | Waiting(message) if message:
            return "·", clean_line(message, 598)
        case LimitReached(limit, value):
            return "!", f"limit reached: {limit.value} {value:g}. Asking for the best answer so far"
        case TurnEnded(reason=reason):
            return "!", _CUT.get(reason, "")
        case TurnError(message, where, next_step):
            return "!", clean_line(sentences(f"{where}: {message}", next_step), 600)
        case _:
            return "", ""


def _result_line(event: ToolCallEnded) -> str:
    text, warning = shown_end(event)
    text = f"[warning: {warning}] {text}" if warning else text
    return clean_line(text, REASON_SHOWN if event.why in REFUSED else RESULT_SHOWN)


def _tool(server: str, tool: str) -> str:
    return clean_line(f"{server} › {tool}" if server else tool, 120)


_OBJECTS: Mapping[type[Event], tuple[str, str, str]] = {
    TurnStarted: ("turn_started", "model tools", "notice"),
    StepStarted: ("step_started", "step", ""),
    TextPart: ("text", "step text", ""),
    ReasoningPart: ("reasoning", "step text", "replaces_text"),
    RetryPart: ("retry", "step attempt attempts delay reason", ""),
    ToolCallProposed: ("tool_call", "step id server tool arguments", "recovered"),
    CallJudged: ("decision", "step id decision why by", "rule"),
    ToolCallEnded: ("tool_result", "step id server tool is_error text ms why", ""),
    Notice: ("notice", "kind message", ""),
    LimitReached: ("limit_reached", "limit value", ""),
    TurnError: ("error", "message where", "next_step"),
    TurnEnded: ("turn_ended", "reason limit text steps tool_calls usage ms", ""),
}
"""For each event its type and its keys, and the key that it only has if there is a value."""


def as_object(event: Event) -> dict[str, Any] | None:
    """Return the JSON object for `event`, or None for events that only a screen uses."""
    if isinstance(event, Waiting) and event.message:
        event = Notice(event.message)
    if (known := _OBJECTS.get(type(event))) is None:
        return None
    kind, keys, optional = known
    found = {"type": kind} | {key: _value(event, key) for key in keys.split()}
    return found | {optional: more} if optional and (more := _value(event, optional)) else found


def _value(event: Event, key: str) -> Any:
    match getattr(event, "verdict" if key == "decision" else key):
        case Enum(value=value):
            return value
        case float(number) if key in ("ms", "delay"):
            return round(number, 3)
        case Usage() as usage:
            return {
                "prompt_tokens": usage.prompt,
                "completion_tokens": usage.completion,
                "total_tokens": usage.prompt + usage.completion,
                "estimated": usage.estimated,
                **({"cached_tokens": usage.cached} if usage.cached else {}),
            }
        case value:
            return dict(value) if key == "arguments" else value


def error_object(message: str, where: str, next_step: str = "") -> dict[str, Any]:
    """Return the JSON object for a failure."""
    found = {"type": "error", "message": message, "where": where}
    return found | {"next_step": next_step} if next_step else found


def print_object(value: dict[str, Any]) -> None:
    """Print an object as one line of JSON."""
    print(json_line(value), file=out(), flush=True)


def print_error(error: McptuiError, *, as_json: bool = False) -> None:
    """Print an error on stderr, and with `as_json` as an object on stdout."""
    if as_json:
        print_object(error_object(error.message, error.where or "mcptui", error.next_step))
    print(f"mcptui: {clean(str(error))}", file=err())
