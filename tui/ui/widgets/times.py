"""Times as text: clocks, time spans, and ages. Pure: the current time is passed in."""

import math
import time
from enum import IntEnum

from tui.core.units import local_time

MS = 1_000_000
SECOND = 1_000_000_000


class TimeMode(IntEnum):
    """Content of the first column of the traffic list."""

    CLOCK = 0
    START = 1
    PREVIOUS = 2


def since(ns: int) -> str:
    """Return a time since the start, to the millisecond: "0.004", "12.345", "1:02:03.456"."""
    seconds, ms = divmod(max(0, ns) // MS, 1000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}:{minutes:02d}:{seconds:02d}.{ms:03d}"
    return f"{minutes}:{seconds:02d}.{ms:03d}" if minutes else f"{seconds}.{ms:03d}"


def share(latency_ns: int) -> float:
    """Return the length of a latency's bar, from 0 to 1, on a logarithmic scale from 1 ms to 10 s."""
    if latency_ns <= MS:
        return 0.02
    return min(1.0, math.log10(latency_ns / MS) / 4)


def bar(part: float, cells: int, blocks: str) -> str:
    """Return a bar of at most `cells`, in parts of a cell, at least its smallest part."""
    steps = max(1, round(part * cells * len(blocks)))
    full, rest = divmod(steps, len(blocks))
    return (blocks[-1] * full + (blocks[rest - 1] if rest else ""))[:cells]


DAY = 86_400
LATEST = 2**35
"""Latest plausible time in a file, in seconds since the epoch."""


def when(then: float, now: float) -> str:
    """Return when `then` was, in local time: "3 min ago", "14:02", "20 Nov", "20 Nov 2025".

    Both are seconds since the epoch; a `then` of 0 is "never".
    """
    if not then:
        return "never"
    passed = now - then
    if passed < 60:
        return "just now"
    if passed < 3600:
        return f"{passed // 60:.0f} min ago"
    moment, today = local_time(then), local_time(now)
    clock = f"{moment.tm_hour:02d}:{moment.tm_min:02d}"
    if moment[:3] == today[:3]:
        return clock
    if moment[:3] == local_time(now - DAY)[:3]:
        return f"yesterday {clock}"
    day = f"{moment.tm_mday} {time.strftime('%b', moment)}"
    return day if moment.tm_year == today.tm_year else f"{day} {moment.tm_year}"


def message_time(then: float, now: float) -> str:
    """Return the time of a message: "14:02" today, "20 Nov 2026 14:02" for earlier days; "" if unknown."""
    if not 0 < then < LATEST:
        return ""
    same_day = local_time(then)[:3] == local_time(now)[:3]
    return exactly(then)[-5:] if same_day else exactly(then)


def exactly(then: float) -> str:
    """Return day and time of `then` (seconds since the epoch): "20 Nov 2026 14:02"."""
    if not then:
        return "unknown"
    moment = local_time(then)
    return f"{moment.tm_mday} {time.strftime('%b %Y %H:%M', moment)}"
