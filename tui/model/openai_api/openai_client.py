"""The client of one endpoint: sends requests, returns open responses.

openai is imported on first use, in a thread: it takes about half a second. mcptui uses the requests,
authentication and errors of its client; the stream is parsed from its bytes, because the client's own
decoding raises on, or silently changes, what many endpoints send (measured on recorded streams).
"""

import asyncio
import itertools
import os
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

from tui.core.background import completed
from tui.core.errors import reason_of
from tui.core.library_imports import importing, load_openai
from tui.core.secrets.secret_names import is_secret_header
from tui.core.traffic import CAUSE, Captured, Direction, Kind, TrafficSink
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
"""Bytes of an error's body that are read; openai would read an endless one."""

_OF_THE_BODY = frozenset({b"content-encoding", b"content-length", b"transfer-encoding"})
"""Headers that describe a body as it was sent."""


class _ErrorStatus(Exception):
    """An endpoint answered with an error status; `response` has the beginning of its body."""

    def __init__(self, response: Any) -> None:
        super().__init__(f"HTTP {response.status_code}")
        self.response = response


async def _raise_error_status(response: Any) -> None:
    """Read an error's body up to a limit, and raise _ErrorStatus; a hook of the HTTP client."""
    if response.is_success:
        return
    body = bytearray()
    async for block in response.aiter_bytes():
        body += block
        if len(body) >= MAX_REFUSAL:
            break
    kept = [one for one in response.headers.raw if one[0].lower() not in _OF_THE_BODY]
    read = type(response)(
        response.status_code, headers=kept, content=bytes(body[:MAX_REFUSAL]), request=response.request
    )
    raise _ErrorStatus(read)


class EndpointClient:
    """Sends chat requests to one endpoint, each once; its sink gets them and the replies, as sent."""

    def __init__(self, profile: ModelProfile, sink: TrafficSink) -> None:
        """Open nothing yet. Raises ConfigError if the address or the key is unusable."""
        self._profile = profile
        self._sink = sink
        self._numbers = itertools.count(1)
        self._base_url = usable_url(profile)
        self._query = query_of(profile)
        self._key = usable_key(profile)
        self._client: Any = None
        self._openai: Any = None
        self._httpx: Any = None
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
            await undisturbed(client.close())

    async def retire(self) -> None:
        """Close the connections as soon as no reply is being read, now and after each later reply."""
        self._retired = True
        if not self._open:
            await self.aclose()

    def try_version(self) -> bool:
        """Add the missing /v1 to the address, once; return whether it was missing."""
        if errors.has_version(self._base_url):
            return False
        self._base_url += "/v1"
        if self._client is not None:
            self._client.base_url = self._base_url
        return True

    def _build(self) -> Any:
        """Import openai and create a client that sends only what the profile says."""
        with importing():
            self._openai = load_openai()
            import httpx2

            self._httpx = httpx2
        timeout = httpx2.Timeout(None, connect=CONNECT_SECONDS)
        http_client = self._openai.DefaultAsyncHttpxClient(
            **client_options(self._profile, self._base_url, self._query),
            timeout=timeout,
            event_hooks={"request": [self._asked], "response": [_raise_error_status]},
        )
        client = self._openai.AsyncOpenAI(
            api_key=self._key,
            base_url=self._base_url,
            max_retries=0,
            timeout=timeout,
            default_headers=dict(self._profile.headers),
            http_client=http_client,
        )
        if not self._is_openai():
            client.organization = client.project = None
        return client

    def _is_openai(self) -> bool:
        provider = provider_of(self._base_url)
        return provider is not None and provider.name == "openai"

    def _headers(self) -> dict[str, Any]:
        """Return headers for one request: no compression, and those of OpenAI's variables only to OpenAI."""
        headers: dict[str, Any] = {"Accept-Encoding": "identity"}
        if self._is_openai():
            return headers
        own = {name.lower() for name in self._profile.headers}
        for line in os.environ.get("OPENAI_CUSTOM_HEADERS", "").split("\n"):
            name = line.partition(":")[0].strip()
            if name.lower() == "authorization" and "authorization" not in own:
                headers["Authorization"] = f"Bearer {self._key}"
            elif name and name.lower() not in own:
                headers[name] = self._openai.Omit()
        return headers

    @asynccontextmanager
    async def reply(self, body: dict[str, Any]) -> AsyncGenerator[ReplyConnection]:
        """Send a request, and yield the open response.

        Raises ModelError if the endpoint is unreachable or silent, or answers with an error status.
        """
        self._open += 1
        try:
            await self.connect()
            seconds = self._profile.first_token_seconds
            if body["stream"] is False:
                seconds = max(seconds, WHOLE_REPLY_SECONDS)
            deadline = asyncio.get_running_loop().time() + seconds
            response = await self._opened(body, deadline, seconds)
            kind = response.headers.get("content-type", "")
            broken = (self._httpx.HTTPError, self._httpx.StreamError, OSError)
            listening = ReplyTap(response.http_response, self._tell)
            source = response.http_response.aiter_bytes()
            blocks = listening.listen(source)
            try:
                yield ReplyConnection(blocks, kind, deadline, broken, listening.withhold)
            finally:
                listening.end()
                await undisturbed(_closed(blocks.aclose, source.aclose, response.close))
        finally:
            self._open -= 1
            if self._retired and not self._open:
                await undisturbed(self.aclose())

    async def _opened(self, body: dict[str, Any], deadline: float, seconds: float) -> Any:
        # extra_body is sent unchanged: with arguments, the client would check every message against its
        # types, which blocks the event loop for 350 ms at two thousand messages (measured).
        manager = self._client.chat.completions.with_streaming_response.create(
            model=body["model"], messages=[], stream=True, extra_body=body, extra_headers=self._headers()
        )
        try:
            async with asyncio.timeout_at(deadline):
                return await manager.__aenter__()
        except TimeoutError:
            raise errors.stall_error(self._profile, seconds, first=True) from None
        except _ErrorStatus as refused:
            answer = refused.response
            listening = ReplyTap(answer, self._tell)
            listening.heard(answer.content)
            listening.end()
            status, text = answer.status_code, answer.text
            raise errors.status_error(self._profile, status, text, answer.headers) from None
        except self._openai.APIConnectionError as error:
            self._tell(error.request, Kind.MODEL_REPLY, b"", {"broken": reason_of(error)})
            raise errors.connection_error(self._profile, error) from None
        except (self._openai.OpenAIError, self._httpx.HTTPError, self._httpx.InvalidURL, OSError) as error:
            raise errors.connection_error(self._profile, error) from None

    async def _asked(self, request: Any) -> None:
        """Report a request that is about to be sent; a hook of the HTTP client."""
        request.extensions[_MARK] = next(self._numbers)
        detail = {"http": request.method, "url": str(request.url), "headers": _headers(request.headers)}
        self._tell(request, Kind.MODEL_REQUEST, request.content, detail)

    def _tell(self, request: Any, kind: Kind, raw: bytes, detail: Mapping[str, Any], size: int = -1) -> None:
        direction = Direction.OUT if kind is Kind.MODEL_REQUEST else Direction.IN
        source, now, at = f"model:{self._profile.name}", time.monotonic_ns(), time.time_ns()
        detail = {"exchange": request.extensions.get(_MARK, 0), **detail}
        with suppress(Exception):  # a sink must not raise, but if one does, no reply is lost
            self._sink(Captured(source, direction, now, at, raw, kind, size, CAUSE.get(), detail))


async def _closed(*closing: Callable[[], Awaitable[object]]) -> None:
    for close in closing:
        await close()


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

    await completed(bounded())


# ---- recording: requests and replies as `Captured` values, with bodies as sent

MAX_KEPT = 8 * 1024 * 1024
"""Maximum bytes recorded of one reply; a longer one is cut to its head."""

MAX_TIMES = 2_000
"""Maximum blocks whose time (milliseconds after the status) and size are recorded."""

WITHHELD = b": not recorded: this reply spells a key of its endpoint in pieces\n\n"

_MARK = "mcptui.exchange"


class ReplyTap:
    """Collects one reply and reports it when it has ended.

    The entry's time is the end of the reply, so that its distance to the request is how long the user waited;
    `first_ms` in its detail is when the first byte arrived, in milliseconds after the status.
    """

    def __init__(self, response: Any, tell: Callable[..., None]) -> None:
        self._request = response.request
        self._tell = tell
        self._detail = {"status": response.status_code, "headers": _headers(response.headers)}
        self._kept = bytearray()
        self._size = self._count = 0
        self._times: list[tuple[float, int]] = []
        self._since = time.monotonic_ns()
        self._withheld = False

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
        first = self._times[0][0] if self._times else None
        detail = {**self._detail, "blocks": self._count, "first_ms": first, "times": self._times}
        detail |= {"withheld": True} if self._withheld else {}
        body = WITHHELD if self._withheld else bytes(self._kept)
        self._kept.clear()
        self._tell(self._request, Kind.MODEL_REPLY, body, detail, self._size)


def _headers(headers: Mapping[str, str]) -> dict[str, str]:
    return {
        name.lower(): "[not kept]" if is_secret_header(name) else value[:2000]
        for name, value in list(headers.items())[:100]
    }
