"""Reads how long a server asks to wait: `Retry-After`, headers of rate limits, and durations in texts."""

import re
import time
from collections.abc import Mapping
from datetime import UTC, datetime

LONGEST_RETRY = 7 * 86_400.0
"""Maximum seconds that a response can ask to wait."""

_NUMBER = r"\d{1,9}(?:\.\d{1,9})?"
_UNITS: dict[str, float] = {
    r"(?:ms|msecs?|milliseconds?|毫秒)": 0.001,
    r"(?:s|secs?|seconds?|秒钟?)": 1.0,
    r"(?:m|mins?|minutes?|分钟?)": 60.0,
    r"(?:h|hrs?|hours?|小时)": 3_600.0,
    r"(?:d|days?|天)": 86_400.0,
    r"(?:ns|us|µs|μs)": 0.0,
}
_COUNT = rf"(?:{_NUMBER}\s?|\b(?:an?|one)\s)"
_AMOUNT = rf"{_COUNT}(?:{'|'.join(_UNITS)})(?![a-z])"
DURATION = rf"(?:{_AMOUNT}(?:,?\s?(?:and\s)?{_AMOUNT}){{0,4}})"
"""Matches a duration as servers write it, ignoring case: "1m2.5s", "120ms", "2 minutes and 3 seconds"."""

_DURATION = re.compile(DURATION, re.IGNORECASE | re.ASCII)
_AMOUNTS = tuple(
    (re.compile(rf"({_COUNT}){unit}(?![a-z])", re.IGNORECASE | re.ASCII), seconds)
    for unit, seconds in _UNITS.items()
)
_MOMENT = re.compile(r"\d{1,20}(?:\.\d{1,9})?", re.ASCII)
_MOMENT_CHARS = _NAME_CHARS = 100
_EPOCHS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3), (1e9, 1.0))
"""Smallest numbers of nano-, micro-, milliseconds and seconds since 1970; smaller ones are a delay."""

_RESET = re.compile(r"rate-?limit.*\breset\b|\breset\b.*rate-?limit", re.IGNORECASE)
_LIMITS = re.compile(r"\b(?:r|remaining)=(\d{1,12})\b.*?\b(?:t|reset)=(\d{1,9})\b", re.IGNORECASE)


def is_down(status: int) -> bool:
    """Return whether a status says that a server is busy or failed, so that a later request may succeed."""
    return status == 429 or status >= 500


def duration_in(text: str) -> float | None:
    """Return the seconds of a duration such as "1m2.5s", or None if it is none."""
    if not _DURATION.fullmatch(text.strip()):
        return None
    found = ((number[1], seconds) for unit, seconds in _AMOUNTS for number in unit.finditer(text))
    total = sum((float(number) if number[0].isdigit() else 1.0) * seconds for number, seconds in found)
    return min(LONGEST_RETRY, total)


def delay_until(text: str, since: float | None = None) -> float | None:
    """Return the seconds until a moment or of a delay, in any form that servers use, or None.

    Seconds, a duration, seconds or smaller units since 1970, an ISO or an HTTP date. Dates are relative to
    `since`, or to the present; a date without a zone is in UTC.
    """
    text = text.strip()[:_MOMENT_CHARS]
    if _MOMENT.fullmatch(text):
        number = float(text)
        scale = next((scale for least, scale in _EPOCHS if number >= least), 0.0)
        if not scale:
            return min(LONGEST_RETRY, number)
        moment: float | None = number / scale
    elif (delay := duration_in(text)) is not None:
        return delay
    else:
        moment = _date(text)
    if moment is None:
        return None
    return min(LONGEST_RETRY, max(0.0, moment - (time.time() if since is None else since)))


def retry_after(headers: Mapping[str, str], *, limited: bool = False) -> float | None:
    """Return the delay in seconds that the headers of a response ask for, or None (RFC 9110, 10.2.3).

    Names are in lower case. A date is relative to the response's own `Date`, so a wrong local clock does not
    matter; without that header, to the present. `limited`: the response says that a limit was reached, so
    the time at which limits are reset counts, too.
    """
    since = _date(headers.get("date", ""))
    for name, unit in (("retry-after-ms", "ms"), ("x-ms-retry-after-ms", "ms"), ("retry-after", "")):
        value = headers.get(name, "").strip()
        value = f"{value}{unit}" if value.replace(".", "", 1).isdecimal() else value
        if value and (delay := delay_until(value, since)) is not None:
            return delay
    return _reset_delay(headers, since) if limited else None


def _reset_delay(headers: Mapping[str, str], since: float | None) -> float | None:
    """Return when the limits are reset that were reached; if none says so, the first that may have been.

    Each kind of limit has its own headers: OpenAI's `x-ratelimit-remaining-tokens` and
    `x-ratelimit-reset-tokens`, Anthropic's `anthropic-ratelimit-tokens-reset`. A request may need more tokens
    than remain.
    """
    reached: list[float] = []
    possible: list[float] = []
    for name, value in headers.items():
        if name in ("ratelimit", "x-ratelimit"):  # draft-ietf-httpapi-ratelimit-headers
            resets = [(int(left), float(reset)) for left, reset in _LIMITS.findall(value[:1000])]
        elif len(name) <= _NAME_CHARS and _RESET.search(name) and (delay := delay_until(value, since)):
            delay = delay / 1000 if name.endswith("-ms") else delay
            left = _remaining(headers, name)
            if left is None or "token" in name:
                possible.append(delay)
            resets = [(left, delay)] if left is not None else []
        else:
            continue
        reached += [min(LONGEST_RETRY, delay) for left, delay in resets if left == 0 and delay > 0]
    return max(reached) if reached else min(possible, default=None)


def _remaining(headers: Mapping[str, str], name: str) -> int | None:
    value = headers.get(name.replace("reset-after", "remaining").replace("reset", "remaining"), "").strip()
    whole = value.partition(".")[0].removeprefix("-")
    if not (whole.isascii() and whole.isdecimal() and len(whole) < 16):
        return None
    return 0 if value.startswith("-") else int(whole)


def _date(text: str) -> float | None:
    text = text.strip()[:_MOMENT_CHARS]
    if not text:
        return None
    from email.utils import parsedate_to_datetime  # loads much that the first frame does not need

    try:
        iso = text[:4].isdecimal() and text[4:5] == "-"
        found = datetime.fromisoformat(text) if iso else parsedate_to_datetime(text)
        # An HTTP date without a zone is in GMT.
        return (found if found.tzinfo is not None else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
