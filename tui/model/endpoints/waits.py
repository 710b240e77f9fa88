"""When an endpoint that is limited, or that loads a model, may be asked again. Pure.

The time is in headers, in fields of the body, or in its words. `retry.py` decides how long is waited.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from tui.core.late_compiling import late
from tui.core.web import DURATION, LONGEST_RETRY, delay_until, duration_in, retry_after

_BEFORE = (
    r"(?:\btry\w*(?: (?:your |the )?(?:request|it))? again"
    r"|\bre-?try\w*(?: (?:again|(?:your|the|this) request))?"
    r"|\bwait\w*|\bavailable(?: again)?|\bresets?|\bresetting|\bcool\w*|\bestimated[ _]time)"
)
_BETWEEN = r"(?:[\s\"'=:(~≈]|\b(?:in|after|for|at|least|about|approximately|around|another|until|on)\b){1,8}"
_WAIT = late(rf"{_BEFORE}{_BETWEEN}(?P<time>{DURATION})", re.IGNORECASE)
_WAIT_SECONDS = late(
    r"\bretry[-_ ]?after\b[\s\"'=:]{1,4}(?P<time>\d{1,7}(?:\.\d{1,6})?)(?![\w.:/-])", re.IGNORECASE
)
_WAIT_AFTERWARDS = late(r"(?P<time>\d{1,6}\s?(?:秒钟?|分钟|小时))(?:之?后|以后)", re.IGNORECASE)
_WAIT_UNTIL = late(
    rf"{_BEFORE}{_BETWEEN}(?P<time>\d{{4}}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{{1,9}})?)?"
    r"(?:Z|\s?[+-]\d\d:?\d\d|(?= UTC))?)",
    re.IGNORECASE,
)
_IN_WORDS = (_WAIT, _WAIT_AFTERWARDS, _WAIT_UNTIL, _WAIT_SECONDS)

_DELAYS = frozenset(
    """
    retryafter retryafterseconds retryaftersec retryin retryinseconds retrydelay retrydelayseconds waitseconds
    waittime estimatedtime resetsin resetsinseconds resetinseconds resetafter resetafterseconds
    quotaresetdelay cooldownseconds secondsuntilreset resetsat resetat resettime resettimestamp
    quotaresettimestamp retryat ratelimitreset
    """.split()
)
_DELAYS_MS = frozenset("retryafterms retryinms resetafterms retrydelayms resetinms resetsinms".split())
"""Names of fields with a delay or a moment, without case and marks."""

MOST_FIELDS = 500
MOST_WORDS = 8_000


def asked_wait(body: Any, headers: Mapping[str, str] | None = None, *, limited: bool = False) -> float | None:
    """Return the delay in seconds that an endpoint asks for, or None.

    `body` is decoded JSON or a text; names of `headers` are in lower case. `limited`: a limit was reached, so
    headers that say when limits are reset count, too.
    """
    headers = headers or {}
    delay = retry_after(headers)
    if delay is None:
        delay = _in_fields(body)
    if delay is None:
        delay = _in_words(_text_of(body))
    return retry_after(headers, limited=True) if delay is None and limited else delay


def _text_of(body: Any) -> str:
    if isinstance(body, str):
        return body[:MOST_WORDS]
    try:
        return json.dumps(body, ensure_ascii=False)[:MOST_WORDS]
    except (ValueError, TypeError, RecursionError):
        return ""


def _in_words(text: str) -> float | None:
    for pattern in _IN_WORDS:
        if (found := pattern.search(text)) is not None:
            delay = duration_in(found["time"]) if pattern is not _WAIT_SECONDS else delay_until(found["time"])
            delay = delay_until(found["time"].replace(" +", "+")) if delay is None else delay
            if delay is not None:
                return delay
    return None


def _in_fields(body: Any) -> float | None:
    for name, value in _fields(body):
        if name == "headers" and isinstance(value, Mapping):
            known = {str(key).lower(): str(item) for key, item in list(value.items())[:MOST_FIELDS]}
            if (delay := retry_after(known, limited=True)) is not None:
                return delay
        if isinstance(value, Mapping) and name in _DELAYS:  # google.protobuf.Duration
            value = value.get("seconds")
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            continue
        if name in _DELAYS and (delay := delay_until(_plain(value))) is not None:
            return delay
        if name in _DELAYS_MS and (delay := delay_until(_plain(value))) is not None:
            return min(LONGEST_RETRY, delay / 1000)
    return None


def _plain(value: str | int | float) -> str:
    return value if isinstance(value, str) else f"{value:.3f}" if abs(value) < 1e18 else ""


def _fields(body: Any) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a body with their names in lower case without marks, the outermost first."""
    open_values = [body]
    left = MOST_FIELDS
    while open_values and left > 0:
        value = open_values.pop(0)
        if isinstance(value, Mapping):
            for key, inner in value.items():
                left -= 1
                if left < 0:
                    return
                yield re.sub(r"[-_ ]", "", str(key)[:60]).lower(), inner
                open_values.append(inner)
        elif isinstance(value, list):
            open_values.extend(value[:MOST_FIELDS])
