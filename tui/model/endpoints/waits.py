"""How long an endpoint asks to wait: in its headers, or in its words. Pure but for the time of day."""

import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_DURATION = r"(?:\d{1,6}(?:\.\d{1,9})?\s?(?:ms|s|m|h)(?:ec\w*|in\w*|ours?)?\s?){1,3}"
_WORDS = re.compile(
    rf"(?:(?:try again|retry|wait)\w*\s(?:in|after|for)\s|[\"']retry_?delay[\"']:\s*[\"'])"
    rf"(?P<time>{_DURATION})",
    re.IGNORECASE,
)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that an endpoint's headers ask to wait, or None (RFC 9110, section 10.2.3).

    A date counts from the response's own `Date`, so a wrong clock here does not matter; without one it
    counts from now.
    """
    for name, scale in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        if re.fullmatch(r"\d{1,9}(?:\.\d{1,6})?", value):
            return float(value) / scale
        if value and name == "retry-after" and (until := _seconds(value)) is not None:
            since = _seconds(headers.get("date", ""))
            return max(0.0, until - (time.time() if since is None else since))
    return None


def asked_wait(words: str) -> float | None:
    """Return the seconds that an endpoint's words ask to wait ("try again in 1m6.5s"), or None.

    Google says it in `retryDelay`, Groq and OpenAI in their sentence.
    """
    found = _WORDS.search(words)
    if found is None:
        return None
    parts = re.findall(r"(\d+(?:\.\d+)?)\s?(ms|s|m|h)", found["time"], re.IGNORECASE)
    return sum(float(number) * _UNITS[unit.lower()] for number, unit in parts)


def _seconds(date: str) -> float | None:
    try:
        return parsedate_to_datetime(date).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
