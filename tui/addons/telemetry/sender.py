"""Sends requests of OTLP/HTTP to an endpoint, as its specification says about retries."""

import asyncio
import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Self

import httpx2

from tui.core.background import RetryDelay
from tui.core.errors import reason_of, sentences
from tui.core.jsonrpc.reader import json_mapping
from tui.core.secrets.commands_and_urls import masked
from tui.core.text import clean_line, mapping
from tui.core.units import whole
from tui.core.web import joined, proxy_problem
from tui.host.transports.http_client import RoutedTransport, open_client

AGAIN = frozenset({429, 502, 503, 504})
"""Statuses after which the same request is sent again (OTLP specification, OTLP/HTTP response)."""

LONGEST_RETRY = 60.0
MAX_ANSWER = 64 * 1024

_SIGNALS = ("/v1/traces", "/v1/metrics")
_CHECK = "Check [telemetry] endpoint."


@dataclass(frozen=True, slots=True)
class Done:
    """What came of a request; `is_final`: it is not sent again. `rejected` spans of it were not taken."""

    is_final: bool
    problem: str = ""
    rejected: int = 0


class Sender:
    """A client of one endpoint. Redirects are not followed: the headers may be a key of the endpoint."""

    SECONDS = 10.0
    """Timeout of a request."""

    def __init__(self, endpoint: str, headers: dict[str, str]) -> None:
        self._base = endpoint.rstrip("/")
        for signal in _SIGNALS:  # as documentation of products shows them
            self._base = self._base.removesuffix(signal)
        self._where = clean_line(masked(self._base), 200)
        self._client = open_client(RoutedTransport(), {**headers, "content-type": "application/json"})
        self._delay = RetryDelay(longest=LONGEST_RETRY)
        self._due_at = 0.0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.aclose()

    @property
    def is_due(self) -> bool:
        """Whether a request may be sent now."""
        return time.monotonic() >= self._due_at

    async def send(self, signal: str, body: bytes, seconds: float) -> Done:
        """Send a request. Never raises for anything that an endpoint does."""
        try:
            async with asyncio.timeout(seconds):
                async with self._client.stream("POST", f"{self._base}/v1/{signal}", content=body) as answer:
                    content = await joined(answer.aiter_raw(), MAX_ANSWER) or b""
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:
            return self._failed(error)
        responded = f"{self._where}/v1/{signal} responded with HTTP {answer.status_code}"
        if answer.status_code in AGAIN:
            self._wait(_asked_wait(answer.headers.get("retry-after", "")))
            return Done(False, responded)
        self._delay.reset()
        if not answer.is_success:
            step = "Set metrics = false" if (signal, answer.status_code) == ("metrics", 404) else _CHECK
            return Done(True, _worded(responded, step))
        part = mapping(json_mapping(content).get("partialSuccess"))
        rejected = whole(part.get("rejectedSpans") or part.get("rejectedDataPoints"), or_text=True) or 0
        if not rejected:
            return Done(True)
        words = clean_line(str(part.get("errorMessage", "")), 200) or "without a reason"
        return Done(True, f"{self._where} rejected some {signal}: {words}", rejected)

    def _failed(self, error: Exception) -> Done:
        self._wait(None)
        if isinstance(error, TimeoutError):
            return Done(False, _worded(f"{self._where} does not respond"))
        through = proxy_problem(error, self._base, self._where)
        problem, step = through or (f"cannot connect to {self._where}: {reason_of(error)}", _CHECK)
        return Done(False, _worded(problem, step))

    def _wait(self, seconds: float | None) -> None:
        delay = self._delay.after_failure()
        self._due_at = time.monotonic() + (delay if seconds is None else min(seconds, LONGEST_RETRY))


def _worded(problem: str, step: str = _CHECK) -> str:
    """Return a problem with what to do about it, to follow a colon."""
    return sentences(problem, step).rstrip(".")


def _asked_wait(value: str) -> float | None:
    """Return the seconds of a Retry-After, which may be a date; None for none."""
    if value.strip().isdecimal() and len(value) < 10:
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None
