"""`[telemetry]`: sends spans and metrics of this run to an endpoint, in a thread of its own.

Nothing waits for it. The recorder hands over what it has stored, already redacted; reading, sending and
retrying happen in the thread. What the endpoint does not take in time is
dropped, the oldest first, and counted.
"""

import asyncio
import logging
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Generic, TypeVar

from tui.addons.telemetry.metrics import Metrics
from tui.addons.telemetry.otlp import batches, metrics, span_text, traces
from tui.addons.telemetry.span import Span
from tui.addons.telemetry.spans import SpanBuilder
from tui.core.background import DaemonThread
from tui.core.errors import McptuiError
from tui.core.secrets.redact import Redactor
from tui.core.server_secrets import resolved_header
from tui.core.traffic import Entry
from tui.core.units import plural

if TYPE_CHECKING:
    from tui.addons.telemetry.sender import Sender
    from tui.settings.schema import TelemetrySettings

PERIOD = 2.0
"""Seconds between two batches of spans."""

METRIC_SECONDS = 15.0

CLOSE_SECONDS, UNREACHABLE_SECONDS = 1.0, 0.1
"""How long the end of the program waits, and how long if the endpoint did not accept a connection."""

MAX_ENTRIES, MAX_SPANS, MAX_BYTES = 10_000, 4_096, 16 * 1024 * 1024
"""What may wait to be read, and to be sent, and the size of each."""

T = TypeVar("T")

_LOG = logging.getLogger(__name__)


class Queue(Generic[T]):
    """What waits. If there is too much, the oldest is dropped, and counted."""

    def __init__(self, most: int, size: Callable[[T], int]) -> None:
        self.dropped = 0
        self.items: deque[T] = deque()
        self._most, self._size, self._total = most, size, 0
        self._lock = threading.Lock()

    def add(self, items: Iterable[T]) -> None:
        with self._lock:
            for item in items:
                self.items.append(item)
                self._total += self._size(item)
                while len(self.items) > self._most or self._total > MAX_BYTES:
                    self._total -= self._size(self.items.popleft())
                    self.dropped += 1

    def take(self, number: int) -> Sequence[T]:
        """Remove the oldest, at most so many of them, and return them."""
        with self._lock:
            taken = [self.items.popleft() for _ in range(min(number, len(self.items)))]
            self._total -= sum(map(self._size, taken))
        return taken


class Exporter:
    """Sends what it is offered until it is closed."""

    def __init__(self, settings: "TelemetrySettings", redactor: Redactor) -> None:
        self._problems: dict[str, str] = {}
        self.settings, self._redactor = settings, redactor
        self._entries: Queue[Entry] = Queue(MAX_ENTRIES, lambda entry: len(entry.body))
        self._spans: Queue[str] = Queue(MAX_SPANS, len)
        self._builder = SpanBuilder(content=settings.content)
        self._metrics = Metrics()
        self._rejected = 0
        self._sender: Sender | None = None
        self._instance, self._start_ns = secrets.token_hex(8), time.time_ns()
        self._metrics_at = 0.0
        self._deadline = float("inf")
        self._thread = DaemonThread("telemetry", self._work)
        self._thread.start()

    @property
    def problem(self) -> str:
        """Why it is not sent, or ""."""
        return next(filter(None, self._problems.copy().values()), "")

    def offer(self, entries: Sequence[Entry]) -> None:
        """Take entries that are recorded. Never waits."""
        self._entries.add(entries)

    def stop(self) -> None:
        """Send what is left, and end, without waiting for that."""
        self._deadline = time.monotonic() + CLOSE_SECONDS
        self._thread.closing.set()

    def close(self) -> None:
        """Send what is left, and end, in at most a second."""
        self.stop()
        if not self._thread.join(UNREACHABLE_SECONDS) and self._sender is not None:
            self._thread.join(CLOSE_SECONDS - UNREACHABLE_SECONDS if self._sender.is_reachable else 0)
        spans = len(self._spans.items) + self._spans.dropped + self._rejected
        lost = (spans, "span"), (self._entries.dropped, "entry")
        if words := ", ".join(plural(number, what) for number, what in lost if number):
            _LOG.warning("telemetry: %s not exported", words)

    # ---- in the thread -------------------------------------------------------------------------------------

    def _work(self) -> None:
        from tui.addons.telemetry.sender import Sender

        try:
            headers = asyncio.run(self._headers())
        except McptuiError as error:
            self._problems["headers"] = str(error)
            return
        with closing(Sender(self.settings.endpoint or "", headers)) as sender:
            self._sender = sender
            self._problems["traces"] = sender.connect()
            while not self._thread.closing.wait(PERIOD):
                self._read(sender)
                self._send(sender)
            self._read(sender)
            self._add(self._builder.finish())
            self._metrics_at = 0.0
            self._send(sender)

    async def _headers(self) -> dict[str, str]:
        return {
            name: await resolved_header(value, f"telemetry.headers.{name}", self._redactor.add)
            for name, value in self.settings.headers.items()
        }

    def _read(self, sender: "Sender") -> None:
        while entries := self._entries.take(MAX_SPANS // 2):
            for entry in entries:
                self._add(self._builder.take(entry))
            if self._entries.items:
                self._send(sender)  # before spans of a burst are dropped
        self._add(self._builder.settle(time.monotonic_ns()))
        for session in self._builder.sessions:
            self._metrics.see_session(session)
        self._builder.sessions.clear()

    def _add(self, spans: Sequence[Span]) -> None:
        for span in spans:
            self._metrics.see(span)
            self._spans.add([span_text(span)])

    def _send(self, sender: "Sender") -> None:
        """Send what waits, unless the endpoint asked for patience."""
        while self._spans.items and sender.is_due:
            batch = next(batches(self._spans.items))
            if not self._sent(sender, "traces", traces(batch, self._instance)):
                return
            self._spans.take(len(batch))
        now = time.monotonic()
        if self.settings.metrics and now - self._metrics_at > METRIC_SECONDS and sender.is_due:
            self._metrics_at = now
            if points := self._metrics.points:
                request = metrics(points, self._start_ns, time.time_ns(), self._instance)
                self._sent(sender, "metrics", request)

    def _sent(self, sender: "Sender", signal: str, request: str) -> bool:
        """Return whether a request is done with, successfully or not; otherwise it is sent again."""
        seconds = max(0.05, min(sender.SECONDS, self._deadline - time.monotonic()))
        # More secrets may be known than when it was recorded.
        body, _ = self._redactor.redact_bytes(request.encode())
        done = sender.send(signal, body, seconds)
        self._rejected += done.rejected
        # An endpoint may take traces, but no metrics. Its last answer counts for each.
        self._problems[signal] = done.problem
        return done.is_final
