"""HTTP whose messages pass stages: the bodies of requests, and those or the events of responses.

What no stage changes passes byte for byte. A message that is lost leaves its response waiting, as a network
does, until the client gives up. Headers that repeat parts of a request follow what a stage changed.
"""

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import httpx2

from tui.core.jsonrpc.headers import MovingHeaders
from tui.core.jsonrpc.reader import json_mapping
from tui.core.traffic import CAUSE, Direction
from tui.core.web import media_type
from tui.host.frames.stage import Stage, all_idle, enter, release
from tui.host.frames.tap import WireTap
from tui.host.passthrough.http_exchange import KEPT, HttpExchange
from tui.host.transports.http_client import EXCHANGE, heard
from tui.host.transports.staged_response import EVENT_STREAM, LENGTH, WholeEvents, as_event, begun, replaced

_OF_A_STREAM = LENGTH | {b"last-event-id", b"accept", b"content-type"}
LATE_SECONDS = 5.0
"""How long a stream that has ended waits for messages that are held or delayed, if it is of no request."""

MOST_AHEAD = 1_000
"""Events that wait for the reader of a response, and messages in it that the stages have not passed on."""

_LIST = b"/list"
"""In each request to list tools, whose response says which headers they ask for."""


class BrokenOff(httpx2.ReadError):
    """A stage broke off the connection of a request."""


class StagedHttp(httpx2.AsyncBaseTransport):
    """Sends requests with `inner`, and hands their messages to `stages`.

    `tap` records what a stage makes of a message. `source` is the name of the server. `told` takes what the
    client is sent before an answer; without it, that is in the response, if this may be an event stream.
    """

    def __init__(
        self,
        inner: httpx2.AsyncBaseTransport,
        source: str,
        stages: Sequence[Stage],
        tap: WireTap,
        told: Callable[[bytes], Coroutine[Any, Any, object]] | None = None,
    ) -> None:
        self.inner, self.source, self.stages, self.tap, self.told = inner, source, stages, tap, told
        self.headers = MovingHeaders()
        self._numbers = itertools.count(1)
        self._tasks: set[asyncio.Task[object]] = set()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        body = await request.aread() if request.method == "POST" else b""
        if all_idle(self.stages) and _LIST not in body:
            return await self.inner.handle_async_request(request)
        passing = Passing(self, request, body, next(self._numbers))
        answering = self._answered(passing, request, body)
        if passing.may_begin:
            answering = begun(answering, passing.notices, passing.ident)
        # It is read as the client sees it: the tap saw what the server sent.
        return heard(await answering, request, HttpExchange("", 0, lambda captured: None, ours=True))

    async def _answered(self, passing: "Passing", request: httpx2.Request, body: bytes) -> httpx2.Response:
        if body:
            found = await passing.asked(body)
            if isinstance(found, httpx2.Response):
                return found
            if found != body:
                request = self._with_body(request, found, request.extensions)
        return await passing.answered(await self.inner.handle_async_request(request))

    def keep(self, work: Coroutine[Any, Any, object]) -> None:
        """Run something that nobody awaits."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def send_more(self, request: httpx2.Request, body: bytes) -> None:
        """Send the server one more message, whose response nobody awaits.

        It is an exchange of its own, and is sent whether or not the request is still wanted.
        """
        if request.method != "POST":
            headers = [
                (name, value) for name, value in request.headers.raw if name.lower() not in _OF_A_STREAM
            ]
            more = [
                (b"accept", b"application/json, text/event-stream"),
                (b"content-type", b"application/json"),
            ]
            request = httpx2.Request("POST", request.url, headers=[*headers, *more])
        try:
            response = await self.inner.handle_async_request(self._with_body(request, body, {}))
            await response.aread()
            await response.aclose()
        except httpx2.HTTPError:
            return  # recorded by the tap

    def _with_body(
        self, request: httpx2.Request, body: bytes, extensions: Mapping[str, Any]
    ) -> httpx2.Request:
        headers = [(name, value) for name, value in request.headers.raw if name.lower() not in LENGTH]
        headers = [*self.headers.moved(headers, request.content, body)]
        known = dict(extensions)
        return httpx2.Request(request.method, request.url, headers=headers, content=body, extensions=known)

    async def aclose(self) -> None:
        for direction in (Direction.OUT, Direction.IN):
            release(self.stages, direction)
        for task in self._tasks:
            task.cancel()
        await self.inner.aclose()


class Passing:
    """One request and its response, on their way: the end of the stages (`PassOn`)."""

    def __init__(self, staged: StagedHttp, request: httpx2.Request, body: bytes, number: int) -> None:
        self.source, self.exchange = staged.source, number
        known = request.extensions.get(EXCHANGE)  # clients may use the same ids
        of = {} if known is None else {"of_exchange": known.number}
        self.event = partial(staged.tap.event_of, CAUSE.get(), **of)
        self._staged, self._request = staged, request
        self.is_post = request.method == "POST"
        has_token = staged.told is None and b"progressToken" in body
        asked = json_mapping(body) if has_token and EVENT_STREAM in request.headers.get("accept", "") else {}
        self.ident = asked.get("id")
        # The response to `initialize` may have the id of the session, so its head must be that of the server.
        self.may_begin = self.ident is not None and asked.get("method") not in (None, "initialize")
        self.notices: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._is_stream = False
        self._sent: asyncio.Future[bytes | httpx2.Response] = asyncio.get_running_loop().create_future()
        self.out: asyncio.Queue[bytes | Exception | None] = asyncio.Queue()
        self.is_gone = False

    def __call__(self, direction: Direction, raw: bytes, /) -> None:
        if direction is Direction.IN:
            if "method" not in json_mapping(raw):
                self._settle(_answer(raw))
            elif (told := self._staged.told) is not None:
                self._staged.keep(told(raw))
            elif self._is_stream:
                self.out.put_nowait(as_event(raw))
            else:
                self.notices.put_nowait(raw)
        elif not self._settle(raw):
            self._staged.keep(self._staged.send_more(self._request, raw))

    def hears(self, direction: Direction) -> bool:
        is_heard = self.may_begin or self._is_stream or self._staged.told is not None
        return is_heard and direction is Direction.IN

    def lose(self) -> None:
        error = BrokenOff("the connection was broken off on purpose", request=self._request)
        if self._sent.done():
            self.out.put_nowait(error)
        else:
            self._sent.set_exception(error)

    def refuse(self, status: int, headers: Mapping[str, str]) -> None:
        self._settle(httpx2.Response(status, headers=dict(headers), stream=httpx2.ByteStream(b"")))

    def _settle(self, found: bytes | httpx2.Response) -> bool:
        """Decide what is sent, or answered instead; return False if that is decided already."""
        if self._sent.done():
            return False
        self._sent.set_result(found)
        return True

    async def asked(self, body: bytes) -> bytes | httpx2.Response:
        """Return what is sent instead of the body, or the response without sending anything."""
        enter(self._staged.stages, self, Direction.OUT, body)
        with self._noticing():
            return await self._sent

    def heard(self, raw: bytes, whole: bytes) -> "Message":
        """Hand a message of the response to the stages."""
        self._staged.headers.learn(raw)
        message = Message(self, raw, whole)
        enter(self._staged.stages, message, Direction.IN, raw)
        return message

    async def answered(self, response: httpx2.Response) -> httpx2.Response:
        """Return the response of the server as the stages pass it on."""
        self._settle(b"")
        kind = media_type(response.headers.get("content-type", ""))
        if kind == EVENT_STREAM and response.headers.get("content-encoding", "identity") == "identity":
            self._is_stream = True
            return replaced(response, _Events(response, self))
        if kind != "application/json":
            return response
        body = await response.aread()
        if not body.strip() or len(body) > KEPT:
            return replaced(response, httpx2.ByteStream(body), len(body))
        self.heard(body, body)
        with self._noticing():
            several = [await self._next()]
        while not self.out.empty():
            several.append(await self._next())
        if len(several) == 1:
            return replaced(response, httpx2.ByteStream(several[0]), len(several[0]))
        events = b"".join(map(as_event, several))
        return replaced(response, httpx2.ByteStream(events), len(events), EVENT_STREAM)

    @contextmanager
    def _noticing(self) -> Iterator[None]:
        """Notice if the client does not wait any more."""
        try:
            yield
        except asyncio.CancelledError:
            self.is_gone = True
            raise

    async def _next(self) -> bytes:
        found = await self.out.get()
        if isinstance(found, Exception):
            raise found
        assert found is not None
        return found


class Message:
    """The end of the stages for one message of a response; `whole` are its bytes with what is around it."""

    def __init__(self, passing: Passing, raw: bytes, whole: bytes) -> None:
        self.source, self.event, self.exchange = passing.source, passing.event, passing.exchange
        self.refuse, self.lose, self.hears = passing.refuse, passing.lose, passing.hears
        self.is_out = asyncio.Event()
        self._passing, self._raw, self._whole = passing, raw, whole

    @property
    def is_gone(self) -> bool:
        return self._passing.is_gone

    def __call__(self, direction: Direction, raw: bytes, /) -> None:
        if direction is Direction.OUT or (raw != self._raw and self._goes_before(raw)):
            self._passing(direction, raw)
            return
        if raw == self._raw:
            raw = self._whole
        elif self._whole != self._raw:
            raw = as_event(raw, self._whole)
        self._passing.out.put_nowait(raw)
        self.is_out.set()

    def _goes_before(self, raw: bytes) -> bool:
        """Whether a message is progress, while the one in the response waits."""
        return "method" in json_mapping(raw) and "method" not in json_mapping(self._raw)


class _Events(httpx2.AsyncByteStream):
    """An event stream whose messages pass stages."""

    def __init__(self, response: httpx2.Response, passing: Passing) -> None:
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        self._stream, self._passing = response.stream, passing
        self._events = WholeEvents()
        self._taken = asyncio.Event()
        self._pumping: asyncio.Task[None] | None = None

    async def __aiter__(self) -> AsyncIterator[bytes]:
        out = self._passing.out
        self._pumping = asyncio.create_task(self._pump())
        try:
            while (found := await out.get()) is not None:
                self._taken.set()
                if isinstance(found, Exception):
                    raise found
                yield found
        finally:
            self._passing.is_gone = True
            self._pumping.cancel()

    async def aclose(self) -> None:
        if self._pumping is not None:
            self._pumping.cancel()
        await self._stream.aclose()

    async def _pump(self) -> None:
        out, waiting = self._passing.out, list[Message]()
        try:
            async for block in self._stream:
                for whole, event in self._events.feed(block):
                    if event is None or event.kind not in ("", "message") or event.size > len(event.data):
                        out.put_nowait(whole)
                        continue
                    waiting.append(self._passing.heard(event.data, whole))
                    waiting = [one for one in waiting if not one.is_out.is_set()][-MOST_AHEAD:]
                while out.qsize() > MOST_AHEAD:  # a slow reader slows down the server
                    self._taken.clear()
                    await self._taken.wait()
            with suppress(TimeoutError):  # without an answer, a request waits for as long as its client
                async with asyncio.timeout(None if self._passing.is_post else LATE_SECONDS):
                    for message in waiting:
                        await message.is_out.wait()
        except httpx2.HTTPError as error:
            out.put_nowait(error)
        if self._events.rest:
            out.put_nowait(bytes(self._events.rest))
        out.put_nowait(None)


def _answer(raw: bytes) -> httpx2.Response:
    headers = {"content-type": "application/json", "content-length": str(len(raw))}
    return httpx2.Response(200, headers=headers, stream=httpx2.ByteStream(raw))
