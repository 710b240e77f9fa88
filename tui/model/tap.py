"""Reports requests to a model's endpoint and its replies as `Captured` values, with bodies as sent."""

import contextlib
import itertools
import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from typing import Any

from tui.core.secrets.secret_names import is_secret_header
from tui.core.traffic import CAUSE, Captured, Direction, Kind, TrafficSink

MAX_KEPT = 8 * 1024 * 1024
"""Maximum bytes recorded of one reply; a longer one is cut to its head."""

MAX_TIMES = 2_000
"""Maximum blocks whose time (milliseconds after the status) and size are recorded."""

WITHHELD = b": not recorded: this reply spells a key of its endpoint in pieces\n\n"

_MARK = "mcptui.exchange"


class ModelTap:
    """Reports each request to one endpoint and each reply to a sink, which must not raise or wait."""

    def __init__(self, name: str, sink: TrafficSink) -> None:
        self._source = f"model:{name}"
        self._sink = sink
        self._numbers = itertools.count(1)

    async def asked(self, request: Any) -> None:
        """Report a request that is about to be sent; a hook of the HTTP client."""
        number = next(self._numbers)
        request.extensions[_MARK] = number
        detail = {
            "exchange": number,
            "http": request.method,
            "url": str(request.url),
            "headers": _headers(request.headers),
        }
        self.tell(Kind.MODEL_REQUEST, request.content, detail)

    def reply(self, response: Any) -> "ReplyTap":
        detail = {
            "exchange": response.request.extensions.get(_MARK, 0),
            "status": response.status_code,
            "headers": _headers(response.headers),
        }
        return ReplyTap(self, detail)

    def refused(self, response: Any) -> None:
        """Report a reply that is not a stream and has been read completely."""
        listening = self.reply(response)
        listening.heard(response.content)
        listening.end()

    def failed(self, request: Any, why: str) -> None:
        detail = {"exchange": request.extensions.get(_MARK, 0), "broken": why}
        self.tell(Kind.MODEL_REPLY, b"", detail)

    def tell(self, kind: Kind, raw: bytes, detail: Mapping[str, Any], size: int = -1) -> None:
        direction = Direction.OUT if kind is Kind.MODEL_REQUEST else Direction.IN
        now, at = time.monotonic_ns(), time.time_ns()
        with contextlib.suppress(Exception):  # a sink must not raise, but if one does, no reply is lost
            self._sink(Captured(self._source, direction, now, at, raw, kind, size, CAUSE.get(), detail))


class ReplyTap:
    """Collects one reply and reports it when it has ended.

    The entry's time is the end of the reply, so that its distance to the request is how long the user waited;
    `first_ms` in its detail is when the first byte arrived, in milliseconds after the status.
    """

    def __init__(self, tap: ModelTap, detail: dict[str, Any]) -> None:
        self._tap = tap
        self._detail = detail
        self._kept = bytearray()
        self._size = self._count = 0
        self._times: list[tuple[float, int]] = []
        self._since = time.monotonic_ns()
        self._first_ms: float | None = None
        self._ended = self._withheld = False

    def withhold(self) -> None:
        """Report no content, because it contains a secret split into pieces."""
        self._withheld = True

    def heard(self, block: bytes) -> None:
        if self._first_ms is None:
            self._first_ms = round((time.monotonic_ns() - self._since) / 1e6, 1)
        self._count += 1
        self._size += len(block)
        if len(self._times) < MAX_TIMES:
            self._times.append((round((time.monotonic_ns() - self._since) / 1e6, 1), len(block)))
        self._kept += block[: max(0, MAX_KEPT - len(self._kept))]

    async def listen(self, blocks: AsyncIterator[bytes]) -> AsyncGenerator[bytes]:
        try:
            async for block in blocks:
                self.heard(block)
                yield block
        except Exception as error:
            self._detail["broken"] = type(error).__name__
            raise

    def end(self) -> None:
        if self._ended:
            return
        self._ended = True
        detail = {**self._detail, "blocks": self._count, "first_ms": self._first_ms}
        detail["times"] = self._times
        if self._withheld:
            detail["withheld"] = True
        body = WITHHELD if self._withheld else bytes(self._kept)
        self._kept.clear()
        self._tap.tell(Kind.MODEL_REPLY, body, detail, self._size)


def _headers(headers: Mapping[str, str]) -> dict[str, str]:
    return {
        name.lower(): "[not kept]" if is_secret_header(name) else value[:2000]
        for name, value in list(headers.items())[:100]
    }
