"""Sends requests of OTLP/HTTP to an endpoint, as its specification says about retries. Blocks.

The client of the standard library, because every command with telemetry waits for what is imported here:
that of the servers takes 0.2 s.
"""

import base64
import socket
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import unquote, urlsplit

from tui import __version__
from tui.core.background import RetryDelay
from tui.core.errors import reason_of, sentences
from tui.core.http_waits import retry_after
from tui.core.jsonrpc.reader import json_mapping
from tui.core.secrets.commands_and_urls import masked
from tui.core.text import clean_line, mapping
from tui.core.units import whole
from tui.core.web import host_of, is_loopback, proxy_for, proxy_problem, tls_context

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
        base = endpoint.rstrip("/")
        for signal in _SIGNALS:  # as documentation of products shows them
            base = base.removesuffix(signal)
        self._base, self._where = base, clean_line(masked(base), 200)
        self._headers = {
            "user-agent": f"mcptui/{__version__}",
            **_authorization("authorization", base),
            **{name.lower(): value for name, value in headers.items()},
            "content-type": "application/json",
        }
        self._connection: HTTPConnection | None = None
        self._target = urlsplit(base).path
        # Spans for this machine do not leave it.
        self._is_direct = is_loopback(host_of(base))
        self._delay = RetryDelay(longest=LONGEST_RETRY)
        self._due_at = 0.0
        self.is_reachable = False
        """Whether the endpoint accepted the last connection."""

    @property
    def is_due(self) -> bool:
        """Whether a request may be sent now."""
        return time.monotonic() >= self._due_at

    def connect(self) -> str:
        """Connect before there is something to send; return why that is impossible, or ""."""
        try:
            self._opened(self.SECONDS).connect()
            self.is_reachable = True
        except (OSError, HTTPException, ValueError) as error:
            return self._failed(error).problem
        return ""

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()

    def send(self, signal: str, body: bytes, seconds: float) -> Done:
        """Send a request. Never raises for anything that an endpoint does."""
        is_old = self._connection is not None and self._connection.sock is not None
        try:
            try:
                status, wait, content = self._exchange(signal, body, seconds)
            except (ConnectionError, HTTPException):
                if not is_old:
                    raise
                self.close()  # it was closed by the endpoint, which keeps it for some seconds only
                status, wait, content = self._exchange(signal, body, seconds)
        except (OSError, HTTPException, ValueError) as error:
            return self._failed(error)
        self.is_reachable = True
        responded = f"{self._where}/v1/{signal} responded with HTTP {status}"
        if status in AGAIN:
            self._wait(retry_after({"retry-after": wait}))
            return Done(False, responded)
        self._delay.reset()
        if not 200 <= status < 300:
            step = "Set metrics = false" if (signal, status) == ("metrics", 404) else _CHECK
            return Done(True, _worded(responded, step))
        part = mapping(json_mapping(content).get("partialSuccess"))
        rejected = whole(part.get("rejectedSpans") or part.get("rejectedDataPoints"), or_text=True) or 0
        if not rejected:
            return Done(True)
        words = clean_line(str(part.get("errorMessage", "")), 200) or "without a reason"
        return Done(True, f"{self._where} rejected some {signal}: {words}", rejected)

    def _exchange(self, signal: str, body: bytes, seconds: float) -> tuple[int, str, bytes]:
        """Return status, Retry-After and the start of the body of a response."""
        connection, late = self._opened(seconds), threading.Event()

        def cut() -> None:
            late.set()
            with suppress(OSError, AttributeError):
                connection.sock.shutdown(socket.SHUT_RDWR)

        watch = threading.Timer(seconds, cut)  # the timeout of a socket starts over with each byte
        watch.daemon = True
        watch.start()
        try:
            connection.request("POST", f"{self._target}/v1/{signal}", body, self._headers)
            answer = connection.getresponse()
            content = answer.read(MAX_ANSWER)
            if not answer.isclosed():  # there is more, of no interest
                connection.close()
            return answer.status, answer.headers.get("retry-after", ""), content
        except (OSError, HTTPException) as error:
            if late.is_set():
                raise TimeoutError from error
            raise
        finally:
            watch.cancel()

    def _opened(self, seconds: float) -> HTTPConnection:
        """Return the connection, which connects when it is used. Raises OSError, also for a bad proxy."""
        connection = self._connection = self._connection or self._made()
        connection.timeout = seconds
        if connection.sock is not None:
            connection.sock.settimeout(seconds)
        return connection

    def _made(self) -> HTTPConnection:
        parts = urlsplit(self._base)
        is_secure = parts.scheme == "https"
        host, port = parts.hostname or "", parts.port or (443 if is_secure else 80)
        proxy = None if self._is_direct else proxy_for(self._base)
        via = urlsplit(proxy.url) if proxy is not None else None
        if proxy is not None and (proxy.fault or via is None or via.scheme != "http"):
            raise OSError(f"telemetry cannot be sent through {proxy.named}")
        place = (host, port) if via is None else (via.hostname or "", via.port or 80)
        if not is_secure:
            if proxy is not None:
                self._target = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
                self._headers |= _authorization("proxy-authorization", proxy.url)
            return HTTPConnection(*place)
        from httpx2 import create_ssl_context  # the certificates by which servers are trusted

        connection = HTTPSConnection(*place, context=tls_context(create_ssl_context, trust_env=True))
        if proxy is not None:
            connection.set_tunnel(host, port, _authorization("proxy-authorization", proxy.url))
        return connection

    def _failed(self, error: Exception) -> Done:
        self.is_reachable = False
        self.close()
        self._wait(None)
        if isinstance(error, TimeoutError):
            return Done(False, _worded(f"{self._where} does not respond"))
        through = None if self._is_direct else proxy_problem(error, self._base, self._where)
        problem, step = through or (f"cannot connect to {self._where}: {reason_of(error)}", _CHECK)
        return Done(False, _worded(problem, step))

    def _wait(self, seconds: float | None) -> None:
        delay = self._delay.after_failure()
        self._due_at = time.monotonic() + (delay if seconds is None else min(seconds, LONGEST_RETRY))


def _authorization(header: str, url: str) -> dict[str, str]:
    """Return the header for the user and password of a URL, if it has any."""
    parts = urlsplit(url)
    if not parts.username:
        return {}
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return {header: f"Basic {base64.b64encode(pair.encode()).decode()}"}


def _worded(problem: str, step: str = _CHECK) -> str:
    """Return a problem with what to do about it, to follow a colon."""
    return sentences(problem, step).rstrip(".")
