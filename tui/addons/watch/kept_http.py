"""HTTP whose server is replaced while the sessions of its hosts live on, in both eras.

A host keeps its session id; each new server gets the handshake of the host again, before the first request
of that session. Open streams stay open to the host, and are opened again to the server.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator

import httpx2

from tui.addons.watch.agreed import INITIALIZE, LISTEN, LISTS
from tui.addons.watch.kept_http_session import HttpSession, Servers, headers_for
from tui.addons.watch.under_way import UnderWay, failure
from tui.commands.tap.http_passthrough import SESSION
from tui.core.background import first_of
from tui.core.jsonrpc.framing import Event
from tui.core.jsonrpc.messages import Message, Notification, Request, read_line
from tui.core.web import media_type
from tui.host.transports.staged_response import WholeEvents, as_event, replaced

MOST_SESSIONS = 1000

NOTICE_SECONDS = 1.0
"""How long after a connection broke it may turn out that its server has ended."""


class KeptHttp(httpx2.AsyncBaseTransport):
    """Sends requests with `sends` to the server of the moment.

    Attributes:
        down: why there is no server, "" while there is one, or one starts.
        calls: the requests that a server has got, with their streams.
        reopening: the streams that the next server has not continued yet.
        changed: the lists that hosts were told to be others on the last server.
    """

    def __init__(self, sends: httpx2.AsyncBaseTransport) -> None:
        self.servers = Servers(sends)
        self.down = ""
        self.calls: set[Call] = set()
        self.reopening: set[Call] = set()
        self.changed: dict[str, None] = {}
        self.is_up, self._is_down = asyncio.Event(), asyncio.Event()
        self._sessions: OrderedDict[str, HttpSession] = OrderedDict()
        self._shared = HttpSession(self.servers)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        call = Call(self, request, await request.aread())
        return await call.answered()

    async def aclose(self) -> None:
        await self.servers.sends.aclose()

    def session(self, known: str) -> HttpSession:
        """Return the session with an id of a host, or what hosts without one have in common."""
        return self._sessions.get(known, self._shared)

    def begin_session(self, session: HttpSession, known: str) -> None:
        session.begin(known)
        self._sessions[known] = session
        if len(self._sessions) > MOST_SESSIONS:
            self._sessions.popitem(last=False)

    def end_session(self, known: str) -> None:
        self._sessions.pop(known, None)

    async def ready(self, *, fails: bool) -> None:
        """Wait for a server; with `fails`, also until it is clear that there is none."""
        while not (self.is_up.is_set() or (fails and self.down)):
            await (first_of(self.is_up.wait(), self._is_down.wait()) if fails else self.is_up.wait())

    # ---- another server ------------------------------------------------------------------------------------

    def hold(self) -> None:
        """Let requests wait from now on."""
        self.is_up.clear()
        self._is_down.clear()
        self.down = ""

    async def settled(self, seconds: float) -> None:
        """Wait until the server has answered all, at most some seconds."""
        for _ in range(10):
            if any(call.under_way.waits for call in self.calls):
                await asyncio.sleep(seconds / 10)

    def lose(self, why: str) -> int:
        """End what was under way with a server that is gone; return the number of requests that failed."""
        failed = sum(len(call.under_way.asked) for call in self.calls if call.under_way.waits)
        self.reopening, self.changed = {call for call in self.calls if call.is_stream}, {}
        for call in self.calls:
            call.lose(why)
        return failed

    async def told(self, seconds: float) -> list[str]:
        """Return the lists that hosts were told to have changed, at most some seconds after `resume`."""
        for _ in range(10):
            if self.reopening & self.calls:
                await asyncio.sleep(seconds / 10)
        return [*self.changed]

    def fail(self, why: str) -> None:
        """Answer requests with an error, until there is a server."""
        self.hold()
        self.down = why
        self._is_down.set()

    def resume(self, port: int = 0) -> None:
        """Let requests go to a new server."""
        self.hold()
        self.servers.port = port
        self.servers.generation += 1
        self.is_up.set()


class Call:
    """One request of a host, with its response, which may be from several servers one after the other.

    Attributes:
        is_stream: whether it is a stream of notifications, which outlives its server.
    """

    def __init__(self, kept: KeptHttp, request: httpx2.Request, body: bytes) -> None:
        self._kept, self._request, self._body = kept, request, body
        self._said: list[Message] = read_line(body, batches=True) if body else []
        methods = {one.method for one in self._said if isinstance(one, Request)}
        self._begins = INITIALIZE in methods
        known = request.headers.get(SESSION, "")
        self.session = HttpSession(kept.servers) if self._begins else kept.session(known)
        self.under_way = UnderWay(self.session.agreed)
        self.is_stream = request.method == "GET" or LISTEN in methods
        self.out: asyncio.Queue[bytes | Exception | None] = asyncio.Queue()
        self._lost, self._why = asyncio.Event(), ""

    def lose(self, why: str) -> None:
        self._why = why
        self._lost.set()

    async def answered(self) -> httpx2.Response:
        """Return the response for the host, whose stream goes on with the next server."""
        kept, is_open = self._kept, False
        await kept.ready(fails=not self.is_stream)
        if kept.down and not self.is_stream:
            return self._failed(kept.down)
        passes = [self._went(message) for message in self._said]
        if passes and not any(passes):
            return _empty(202)
        kept.calls.add(self)
        try:
            response = await self._exchanged()
            if response is None and self.is_stream:
                response = await self._continued()
            if response is None:
                return self._failed(self._why)
            is_open = _is_event_stream(response)
            return self._seen(response)
        finally:
            if not is_open:
                kept.calls.discard(self)

    def _went(self, message: Message) -> bool:
        """Take a message of the host; return whether it goes to the server."""
        if self.session.known and isinstance(message, Notification):  # one that cancels another call
            for call in self._kept.calls:
                if call.session is self.session:
                    call.under_way.went(message)
        return self.under_way.went(message)

    async def _exchanged(self) -> httpx2.Response | None:
        """Send it, and return the response with all of its body, if it is JSON; None if it is lost."""
        sending = asyncio.ensure_future(self._sent())
        await first_of(sending, self._lost.wait())
        if sending.cancelled():
            return None
        if not isinstance(error := sending.exception(), httpx2.HTTPError):
            return sending.result()
        await first_of(self._lost.wait(), seconds=NOTICE_SECONDS)
        if not self._lost.is_set():
            raise error
        return None

    async def _sent(self) -> httpx2.Response:
        await self.session.restored(self._request)
        request = self.session.addressed(self._request, self._body)
        response = await self._kept.servers.sends.handle_async_request(request)
        if _kind(response) == "application/json":
            await response.aread()
        return response

    def _seen(self, response: httpx2.Response) -> httpx2.Response:
        """Return a response as the host gets it."""
        if self._begins and (known := response.headers.get(SESSION, "")):
            self._kept.begin_session(self.session, known)
        if self._request.method == "DELETE":
            self._kept.end_session(self.session.known)
        if self.session.known and SESSION in response.headers:
            response.headers[SESSION] = self.session.known
        if _is_event_stream(response):
            return replaced(response, _Stream(self, response))
        if _kind(response) != "application/json":
            return response
        body = self.under_way.came(response.content) or b""
        return replaced(response, httpx2.ByteStream(body), len(body))

    def _failed(self, why: str) -> httpx2.Response:
        """Return a response that says why there is none of the server."""
        errors = [failure(one.id, why) for one in self._said if isinstance(one, Request)]
        if not errors:
            return _empty(202 if self._request.method == "POST" else 200)
        is_batch = self._body.lstrip().startswith(b"[")
        body = b"[" + b",".join(errors) + b"]" if is_batch else errors[0]
        headers = {"content-type": "application/json", "content-length": str(len(body))}
        return httpx2.Response(200, headers=headers, stream=httpx2.ByteStream(body))

    # ---- streams -------------------------------------------------------------------------------------------

    async def pump(self, response: httpx2.Response) -> None:
        """Put the events for the host into `out`, of this response and those that continue it."""
        following: httpx2.Response | None = response
        try:
            while following is not None:
                try:
                    error = await self._copied(following)
                finally:
                    await following.aclose()
                if error is not None and not self._lost.is_set():
                    await first_of(self._lost.wait(), seconds=NOTICE_SECONDS)
                if not self._lost.is_set():
                    if error is not None:
                        raise error
                    break
                self._end_lost()
                following = await self._continued() if self.is_stream else None
                if following is not None and not _is_event_stream(following):
                    await following.aclose()
                    following = None
        except httpx2.HTTPError as error:
            self.out.put_nowait(error)
        self.out.put_nowait(None)

    async def _copied(self, response: httpx2.Response) -> httpx2.HTTPError | None:
        """Copy a stream to its end, or until it is lost; return why it broke."""
        events = WholeEvents()

        async def copy() -> None:
            assert isinstance(response.stream, httpx2.AsyncByteStream)
            async for block in response.stream:
                for whole, event in events.feed(block):
                    if passed := self._heard(whole, event):
                        self.out.put_nowait(passed)

        copying = asyncio.ensure_future(copy())
        await first_of(copying, self._lost.wait())
        if copying.cancelled():
            return None
        error = copying.exception()
        if error is not None and not isinstance(error, httpx2.HTTPError):
            raise error
        return error

    def _heard(self, whole: bytes, event: Event | None) -> bytes | None:
        """Take an event with its bytes; return what the host gets, None for nothing."""
        if event is not None and event.kind == "endpoint":
            self.is_stream = False  # HTTP+SSE: the session is this stream, and ends with it
        if event is None or not event.data:
            return whole
        passed = self.under_way.came(event.data)
        return whole if passed == event.data else passed and as_event(passed, whole)

    def _end_lost(self) -> None:
        """Answer what the server that is gone has not, and take back what it asked."""
        for raw in self.under_way.lose(self._why):
            self.out.put_nowait(as_event(raw))

    async def _continued(self) -> httpx2.Response:
        """Return the response of the next server; if it is a stream, the host is told what has changed."""
        self.under_way.repeated()
        self._request.extensions = {}
        self._request.headers = httpx2.Headers(headers_for(self._request, without=(b"last-event-id",)))
        while True:
            await self._kept.ready(fails=False)
            self._lost.clear()
            if (response := await self._exchanged()) is not None:
                break
        for method in await self.session.changes(self._request) if _is_event_stream(response) else ():
            for raw in self.under_way.notes(method, is_plain=self._request.method == "GET"):
                self.out.put_nowait(as_event(raw))
                self._kept.changed[LISTS[method]] = None
        self._kept.reopening.discard(self)
        return response

    def end(self) -> None:
        self._kept.calls.discard(self)


class _Stream(httpx2.AsyncByteStream):
    """The events of a call."""

    def __init__(self, call: Call, response: httpx2.Response) -> None:
        self._call, self._response = call, response
        self._pumping: asyncio.Task[None] | None = None

    async def __aiter__(self) -> AsyncIterator[bytes]:
        self._pumping = asyncio.create_task(self._call.pump(self._response))
        while (found := await self._call.out.get()) is not None:
            if isinstance(found, Exception):
                raise found
            yield found

    async def aclose(self) -> None:
        self._call.end()
        if self._pumping is not None:
            self._pumping.cancel()
            await asyncio.gather(self._pumping, return_exceptions=True)
        await self._response.aclose()


def _is_event_stream(response: httpx2.Response) -> bool:
    return response.status_code == 200 and _kind(response) == "text/event-stream"


def _kind(response: httpx2.Response) -> str:
    return media_type(response.headers.get("content-type", ""))


def _empty(status: int) -> httpx2.Response:
    return httpx2.Response(status, stream=httpx2.ByteStream(b""))
