"""Times as text: clocks, time spans, and ages. Pure: the current time is passed in."""

import math
from enum import IntEnum

from tui.core import units
from tui.core.language.translate import _, localized
from tui.core.units import clock_time, day, day_and_time

MS = 1_000_000
SECOND = 1_000_000_000


class TimeMode(IntEnum):
    """Content of the first column of the traffic list."""

    CLOCK = 0
    START = 1
    PREVIOUS = 2


def duration(ms: float) -> str:
    """Return `units.duration` in the user's language."""
    return localized(units.duration(ms))


def span(ns: int) -> str:
    """Return `units.span` in the user's language."""
    return localized(units.span(ns))


def clock(seconds: float) -> str:
    """Return `units.clock` in the user's language."""
    return localized(units.clock(seconds))


def age(seconds: float) -> str:
    """Return `units.age` in the user's language."""
    return localized(units.age(seconds))


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


def when(then: float, now: float) -> str:
    """Return when `then` was, in local time: "3 min ago", "14:02", "yesterday 14:02", "2026-11-20".

    Both are seconds since the epoch; a `then` of 0 is "never".
    """
    if not then:
        return _("never")
    passed = now - then
    if passed < 60:
        return _("just now")
    if passed < 3600:
        return _("{n} min ago", n=int(passed // 60))
    if day(then) == day(now - DAY):
        return _("yesterday {time}", time=day_and_time(then)[-5:])
    return clock_time(then, now) if day(then) == day(now) else day(then)
