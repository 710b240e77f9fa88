"""When something was, as people say it. Pure: the time now is passed in."""

import time

DAY = 86_400
LATEST = 2**35
"""Seconds since the epoch of what no clock shows: a file may say anything."""


def when(then: float, now: float) -> str:
    """Return when `then` was, in the person's own time zone: "3 min ago", "14:02", "20 Nov", "20 Nov 2025".

    Args:
        then: seconds since the epoch; 0 is "never".
        now: seconds since the epoch.
    """
    if not then:
        return "never"
    passed = now - then
    if passed < 60:
        return "just now"
    if passed < 3600:
        return f"{passed // 60:.0f} min ago"
    moment, today = time.localtime(then), time.localtime(now)
    clock = f"{moment.tm_hour:02d}:{moment.tm_min:02d}"
    if moment[:3] == today[:3]:
        return clock
    if moment[:3] == time.localtime(now - DAY)[:3]:
        return f"yesterday {clock}"
    day = f"{moment.tm_mday} {time.strftime('%b', moment)}"
    return day if moment.tm_year == today.tm_year else f"{day} {moment.tm_year}"


def said_at(then: float, now: float) -> str:
    """Return when a message was said: "14:02" today, "20 Nov 2026 14:02" before; "" if nobody knows."""
    if not 0 < then < LATEST:
        return ""
    same_day = time.localtime(then)[:3] == time.localtime(now)[:3]
    return exactly(then)[-5:] if same_day else exactly(then)


def exactly(then: float) -> str:
    """Return day and time of `then`, seconds since the epoch: "20 Nov 2026 14:02"."""
    if not then:
        return "unknown"
    moment = time.localtime(then)
    return f"{moment.tm_mday} {time.strftime('%b %Y %H:%M', moment)}"
