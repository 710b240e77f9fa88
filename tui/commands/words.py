"""What the commands without a screen say of a turn, a line an event. Pure."""

import json
from collections.abc import Mapping
from typing import Any

from tui.core import units
from tui.core.errors import sentences
from tui.core.events import (
    EndReason,
    Event,
    LimitReached,
    Notice,
    RetryScheduled,
    StepEnded,
    ToolCallEnded,
    ToolCallProposed,
    ToolProgress,
    TurnEnded,
    TurnError,
    TurnStarted,
)
from tui.core.text import clean_line
from tui.core.units import duration

_CUT = {
    EndReason.CUT: "! the answer is cut: it reached the most tokens that the model may write (max_tokens)",
    EndReason.FILTERED: "! the answer is cut: the provider's content filter ended it",
}


def arguments_line(arguments: Mapping[str, Any], limit: int = 120) -> str:
    """Return arguments as `name=value …` on one line."""
    pairs = (
        f"{name}={json.dumps(value, ensure_ascii=False, default=str)}" for name, value in arguments.items()
    )
    return clean_line(" ".join(pairs), limit)


def trace_line(event: Event) -> str:
    """Return what stderr says of `event`, or "" if it says nothing."""
    match event:
        case TurnStarted(model=model, tools=tools, notice=notice):
            return clean_line(f"· {model}, {tools} tools" + (f" · {notice}" if notice else ""), 300)
        case StepEnded(step, ms, usage):
            tokens = f"{'~' if usage.estimated else ''}{usage.prompt + usage.completion} tokens"
            return f"· step {step}  model {duration(ms)}  {tokens}"
        case ToolCallProposed(_, _, server, tool, arguments):
            name = f"{server} › {tool}" if server else tool
            return f"→ {clean_line(name, 120)}  {arguments_line(arguments)}"
        case ToolProgress(_, _, progress, total, message):
            return f"  … {units.progress(progress, total or None, clean_line(message, 80).strip())}"
        case ToolCallEnded():
            name = f"{event.server} › {event.tool}" if event.server else event.tool
            mark = "✗" if event.is_error else "✓"
            return f"{mark} {clean_line(name, 120)}  {duration(event.ms)}  {clean_line(event.text, 160)}"
        case RetryScheduled(delay=0, reason=reason):
            return f"· {clean_line(reason, 160)}"
        case RetryScheduled(_, attempt, attempts, delay, reason):
            when = f"in {delay:.0f} s" if delay >= 0.5 else "at once"
            return f"· {clean_line(reason, 160)}; asking again {when}, {attempt} of {attempts}"
        case Notice(message):
            return clean_line(f"· {message}", 600)
        case LimitReached(limit, value):
            return f"! limit reached: {limit.value} {value:g}; asking for the best answer from what is known"
        case TurnEnded(reason=reason):
            return _CUT.get(reason, "")
        case TurnError(message, where, next_step):
            return "! " + clean_line(sentences(f"{where}: {message}", next_step), 600)
        case _:
            return ""
