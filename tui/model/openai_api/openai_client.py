"""The client of one endpoint: sends requests, returns open responses.

httpx2 is imported on first use, in a thread. The stream is parsed from its bytes: libraries raise on, or
silently change, what many endpoints send (measured on recorded streams).
"""

import asyncio
import contextlib
import itertools
import os
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from types import ModuleType
from typing import Any

from tui import __version__
from tui.core.errors import ModelError, reason_of
from tui.core.library_imports import importing
from tui.core.secrets.secret_names import is_secret_header
from tui.core.traffic import CAUSE, Captured, Direction, Kind, TrafficSink
from tui.core.web import with_headers
from tui.model.endpoints import endpoint_errors as errors
from tui.model.endpoints.listing import client_options
from tui.model.endpoints.profile import ModelProfile
from tui.model.endpoints.providers import provider_of, query_of, usable_key, usable_url
from tui.model.openai_api.reply_stream import ReplyConnection

CONNECT_SECONDS = 15.0
CLOSE_SECONDS = 2.0

WHOLE_REPLY_SECONDS = 600.0
"""How long at least to wait for a reply that is not streamed: its first byte comes after its last token."""

MAX_REFUSAL = 256 * 1024
"""Bytes of an error's body that are read, against endless ones."""

_OF_OPENAI = {"OPENAI_ORG_ID": "OpenAI-Organization", "OPENAI_PROJECT_ID": "OpenAI-Project"}
"""Variables whose values are sent to OpenAI only, and their headers."""


class EndpointClient:
    """Sends chat requests to one endpoint, each once."""

    def __init__(self, profile: ModelProfile, sink: TrafficSink) -> None:
        """Import and open nothing yet. Raises ConfigError if the address or the key is unusable."""
        self._profile = profile
        self._tap = ModelTap(profile.name, sink)
        self._base_url = usable_url(profile)
        self._query = query_of(profile)
        self._key = usable_key(profile)
        self._client: Any = None
        self._httpx: ModuleType | None = None
        self._connecting = asyncio.Lock()
        self._open = 0
        self._retired = False

    async def connect(self) -> None:
        """Import the client library and create the client, so that the first request does not wait for it."""
        async with self._connecting:
            if self._client is None:
                self._client = await asyncio.to_thread(self._build)

    async def aclose(self) -> None:
        async with self._connecting:
            client, self._client = self._client, None
        if client is not None:
            await undisturbed(client.aclose())

    async def retire(self) -> None:
        """Close the connections as soon as no reply is being read, now and after each later reply."""
        self._retired = True
        await self._close_if_idle()

    async def _close_if_idle(self) -> None:
        if self._retired and not self._open:
            await self.aclose()

    def try_version(self) -> bool:
        """Add the missing /v1 to the address, once; return whether it was missing."""
        if errors.has_version(self._base_url):
            return False
        self._base_url += "/v1"
        return True

    def _build(self) -> Any:
        """Import httpx2 and create a client that sends only what the profile says."""
        with importing():
            import httpx2
        self._httpx = httpx2
        return httpx2.AsyncClient(
            **client_options(self._profile, self._base_url, self._query),
            headers=with_headers(self._headers(), self._profile.headers),
            timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS),
            event_hooks={"request": [self._tap.asked]},
        )

    def _headers(self) -> dict[str, str]:
        """Return the headers of each request; those of OpenAI's variables go to OpenAI only."""
        headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
        headers |= {"Authorization": f"Bearer {self._key}", "User-Agent": f"mcptui/{__version__}"}
        provider = provider_of(self._base_url)
        if provider is not None and provider.name == "openai":
            headers |= {name: os.environ[key] for key, name in _OF_OPENAI.items() if os.environ.get(key)}
            lines = os.environ.get("OPENAI_CUSTOM_HEADERS", "").split("\n")
            named = (line.partition(":") for line in lines if ":" in line)
            headers = with_headers(headers, {name.strip(): value.strip() for name, _, value in named})
        return headers

    async def open(self, body: dict[str, Any]) -> ReplyConnection:
        """Send the request and return the open response, which the caller closes.

        Raises ModelError if the endpoint is unreachable or silent, or answers with an error status.
        """
        self._open += 1

        async def close() -> None:
            self._open -= 1
            await self._close_if_idle()

        try:
            await self.connect()
            return await self._opened(body, close)
        except BaseException:
            await undisturbed(close())
            raise

    async def _opened(self, body: dict[str, Any], closed: Callable[[], Awaitable[None]]) -> ReplyConnection:
        assert self._httpx is not None
        seconds = self._profile.first_token_seconds
        if body["stream"] is False:
            seconds = max(seconds, WHOLE_REPLY_SECONDS)
        deadline = asyncio.get_running_loop().time() + seconds
        broken = (self._httpx.HTTPError, self._httpx.StreamError, self._httpx.InvalidURL, OSError)
        request = None
        try:
            async with asyncio.timeout_at(deadline):
                request = self._client.build_request("POST", f"{self._base_url}/chat/completions", json=body)
                response = await self._client.send(request, stream=True)
                if not response.is_success:
                    raise await self._refusal(response)
        except TimeoutError:
            raise errors.stall_error(self._profile, seconds, first=True) from None
        except broken as error:
            if request is not None:
                self._tap.failed(request, reason_of(error))
            raise errors.connection_error(self._profile, error) from None
        listening, source = self._tap.reply(response), response.aiter_bytes()
        blocks = listening.listen(source)

        async def close() -> None:
            listening.end()
            try:
                await blocks.aclose()
                await source.aclose()
                await response.aclose()
            finally:
                await closed()

        kind = response.headers.get("content-type", "")
        return ReplyConnection(blocks, kind, deadline, broken, close, listening.withhold)

    async def _refusal(self, response: Any) -> ModelError:
        """Return the error for an error status, with the beginning of its body."""
        body = bytearray()
        try:
            async for block in response.aiter_bytes():
                body += block
                if len(body) >= MAX_REFUSAL:
                    break
        finally:
            await undisturbed(response.aclose())
        listening = self._tap.reply(response)
        listening.heard(bytes(body[:MAX_REFUSAL]))
        listening.end()
        text = body[:MAX_REFUSAL].decode(response.encoding, "replace")
        return errors.status_error(self._profile, response.status_code, text, response.headers)


async def undisturbed(closing: Coroutine[Any, Any, Any]) -> None:
    """Finish closing even if cancelled again meanwhile, then raise the cancellation.

    A connection whose closing is interrupted stays open and blocks a server with a single slot.
    """

    async def bounded() -> None:
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await closing
        except Exception:
            # The connection is discarded, so a failure to close it does not matter.
            return

    task = asyncio.create_task(bounded())
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled


# ---- recording: requests and replies as `Captured` values, with bodies as sent

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
        self._ended = self._withheld = False

    def withhold(self) -> None:
        """Report no content, because it contains a secret split into pieces."""
        self._withheld = True

    def heard(self, block: bytes) -> None:
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
        first = self._times[0][0] if self._times else None
        detail = {**self._detail, "blocks": self._count, "first_ms": first, "times": self._times}
        detail |= {"withheld": True} if self._withheld else {}
        body = WITHHELD if self._withheld else bytes(self._kept)
        self._kept.clear()
        self._tap.tell(Kind.MODEL_REPLY, body, detail, self._size)


def _headers(headers: Mapping[str, str]) -> dict[str, str]:
    return {
        name.lower(): "[not kept]" if is_secret_header(name) else value[:2000]
        for name, value in list(headers.items())[:100]
    }
