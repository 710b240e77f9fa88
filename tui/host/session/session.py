"""The JSON-RPC session with one server: our requests by id, and what the server sends.

Our own, and not the SDK's: that accepts or rejects a whole answer (one malformed tool loses the listing),
blocks the event loop for seconds on large results, and spends 0.3 ms on a call (measured on mcp 2.3). A host
that shows what servers really send has to live with bad answers, so results stay raw here. The gate below has
sorted out invalid messages, late answers and what the protocol forbids, and returns ids as they were sent.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from tui import __version__
from tui.core.background import set_within
from tui.core.errors import reason_of
from tui.core.jsonrpc import protocol
from tui.core.jsonrpc.client_profile import ClientProfile
from tui.core.jsonrpc.extensions import OurSide
from tui.core.jsonrpc.headers import HeaderMap, message_headers
from tui.core.jsonrpc.messages import Failure, Message, Notification, Request, Response
from tui.core.language.translate import message
from tui.core.text import object_in
from tui.core.time_limits import TimeLimit
from tui.core.tools import Heard, ProgressSink
from tui.core.units import number_limit
from tui.host.frames.id_gate import CANCELLED, CONNECTION_CLOSED, NO_RESPONSE
from tui.host.frames.inbox import WITHDRAWN, EndOfInbox
from tui.host.frames.link import Link, MakeHeaders, RequestError
from tui.host.session.server_requests import ADDRESS_DONE, Refusal, ServerRequests

US = {"name": "mcptui", "version": __version__}

CLOSING_SECONDS = 0.1
"""How long after an error a connection may take to close."""

IN_A_ROW = 16
"""Messages passed on before other tasks run; an end that follows an error must be seen at once."""

_log = logging.getLogger(__name__)

_Waiting = tuple[asyncio.Future[dict[str, Any]], ProgressSink | None, Heard | None]
_NOBODY = (None, None, None)


class Session:
    """Both directions of one connection.

    `on_notification` must not raise or wait. `requests` answers what the server asks. `stamp` returns members
    to add to the `_meta` of a request, given whether its protocol is 2026-07-28 or later. `profile` is the
    host that mcptui acts as.

    Attributes:
        closed: set once the server can say nothing more.
        version: the negotiated protocol version, "" before the handshake.
        tool_headers: the arguments that a call repeats in HTTP headers, by tool.
    """

    def __init__(
        self,
        link: Link,
        on_notification: Callable[[str, Mapping[str, Any]], None],
        requests: ServerRequests,
        stamp: Callable[[bool], Mapping[str, Any]] = lambda modern: {},
        profile: ClientProfile | None = None,
    ) -> None:
        self.requests = requests
        self.profile = profile
        self.closed = asyncio.Event()
        self.version = ""
        self.tool_headers: Mapping[str, HeaderMap] = {}
        self._link = link
        self._on_notification = on_notification
        self._stamp = stamp
        self._waiting: dict[Any, _Waiting] = {}  # by id; a server names any
        self._replying: dict[asyncio.Task[None], str | int] = {}
        self._is_over = False
        link.inbox.divert = self._diverted

    @property
    def is_modern(self) -> bool:
        """Whether the protocol is 2026-07-28 or later."""
        return protocol.is_modern(self.version)

    async def run(self) -> None:
        """Take what the server sends, until it can send nothing more."""
        in_a_row = 0
        try:
            while True:
                in_a_row = (in_a_row + 1) % IN_A_ROW
                if not in_a_row:
                    await asyncio.sleep(0)
                self.take(await self._link.inbox.get())
        except EndOfInbox:
            pass
        finally:
            if not self._is_over:  # the server ended it, not we
                self.closed.set()
                self._fail_pending()

    async def end(self) -> None:
        """End all requests of both sides; the transport still works, so that the server hears of it."""
        self._fail_pending()
        await asyncio.gather(*self._replying, return_exceptions=True)
        self._link.inbox.close()

    def _fail_pending(self) -> None:
        self._is_over = True
        for replying in self._replying:
            replying.cancel()
        for known in list(self._waiting):
            self._settled(known, closed())

    # ---- our requests ------------------------------------------------------------------------------------

    async def request(
        self,
        method: str,
        params: Mapping[str, Any],
        progress: ProgressSink | None = None,
        heard: Heard | None = None,
    ) -> dict[str, Any]:
        """Send a request and return its raw result. Cancelling this cancels it at the server.

        `heard` gets the notifications of a request that is a stream: those that name its id.

        Raises:
            RequestError: the server returned an error, the connection closed, or `params` is not JSON.
        """
        known = self._link.new_id()
        declared = self.envelope(self.version) if self.is_modern else {}
        meta = {**self._stamp(self.is_modern), **object_in(params, "_meta"), **declared}
        if progress is not None:
            meta["progressToken"] = known
        sent = {key: value for key, value in params.items() if key != "_meta"}
        if meta:
            sent["_meta"] = meta
        message = {"jsonrpc": "2.0", "id": known, "method": method, "params": sent}
        answered = self._begin(message, partial(self._headers, message), progress, heard)
        try:
            return await answered
        except RequestError as error:
            if error.code == CONNECTION_CLOSED:  # servers use it for other errors too
                await set_within(self.closed, CLOSING_SECONDS)
            raise
        except asyncio.CancelledError:
            self.forget(known)
            why = {"requestId": known, "reason": "caller cancelled"}
            self._put({"jsonrpc": "2.0", "method": CANCELLED, "params": why})
            raise

    def open(
        self, method: str, params: Mapping[str, Any], version: str
    ) -> tuple[int, asyncio.Future[dict[str, Any]]]:
        """Send a request of the handshake, which cannot be cancelled; return its id and its answer to come.

        It has neither stamp nor envelope. `version` decides on its HTTP headers; "" if there is none yet.

        Raises:
            RequestError: the connection is closed.
        """
        known = self._link.new_id()
        message = {"jsonrpc": "2.0", "id": known, "method": method, "params": dict(params)}
        return known, self._begin(message, partial(message_headers, message, version, None))

    async def await_probe(self, known: int, answered: asyncio.Future[dict[str, Any]]) -> None:
        """Wait until the answer to `server/discover` is there, and give it up if it takes too long."""
        seconds = self._link.probe_seconds
        with contextlib.suppress(TimeoutError):
            async with self.requests.clocks.within(TimeLimit(seconds)):  # the user may have to sign in
                await asyncio.wait({answered})
        self._link.give_up_probe(known, seconds)

    def expect(self, known: int) -> asyncio.Future[dict[str, Any]]:
        """Return a future for the answer to a request that has failed here, which may still come."""
        answered: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        answered.add_done_callback(lambda done: done.cancelled() or done.exception())  # nobody may want it
        self._waiting[known] = answered, None, None
        return answered

    def forget(self, known: int) -> None:
        """Stop waiting for an answer."""
        self._waiting.pop(known, None)

    def _begin(
        self,
        message: dict[str, Any],
        headers: MakeHeaders,
        progress: ProgressSink | None = None,
        heard: Heard | None = None,
    ) -> asyncio.Future[dict[str, Any]]:
        if self._is_over:
            raise closed()
        known, answered = message["id"], asyncio.get_running_loop().create_future()
        # First, because the answer may arrive while it is sent.
        self._waiting[known] = answered, progress, heard
        try:
            is_sent = self._link.send(message, headers)
        except (TypeError, ValueError, RecursionError) as error:
            del self._waiting[known]
            raise _not_sent(error) from None
        if not is_sent:
            del self._waiting[known]
            raise closed()
        return answered

    def notify(self, method: str) -> None:
        """Send a notification without parameters."""
        self._put({"jsonrpc": "2.0", "method": method})

    def _put(self, message: dict[str, Any]) -> None:
        """Send a notification or a response, unless the connection is closed."""
        self._link.send(message, partial(self._headers, message) if "method" in message else dict)

    def _headers(self, message: Mapping[str, Any]) -> dict[str, str]:
        params = message.get("params", {})
        is_call = message["method"] == "tools/call"
        wanted = self.tool_headers.get(str(params.get("name"))) if is_call else None
        return message_headers(message, self.version, wanted)

    def envelope(self, version: str) -> dict[str, Any]:
        """Return what each request since 2026-07-28 says about mcptui (basic, "Request metadata")."""
        return {
            protocol.VERSION_KEY: version,
            protocol.CLIENT_INFO_KEY: self.info,
            protocol.CAPABILITIES_KEY: self.capabilities(version),
        }

    def capabilities(self, version: str) -> dict[str, Any]:
        """Return what mcptui declares to servers of a protocol version; settings may change meanwhile."""
        found: dict[str, Any] = {"elicitation": {"form": {}, "url": {}}, "roots": {"listChanged": True}}
        if self.requests.may_sample:
            found["sampling"] = {"tools": {}}
        if self.profile is not None:
            found = {key: value for key, value in self.profile.capabilities.items() if key != "extensions"}
        if extensions := self.requests.spec.our_side(version, self.profile).declared:
            found["extensions"] = extensions
        return found

    @property
    def our_side(self) -> OurSide:
        """What decides which extensions are used."""
        return self.requests.spec.our_side(self.version, self.profile)

    @property
    def info(self) -> Mapping[str, Any]:
        """The `clientInfo`."""
        return US if self.profile is None else self.profile.info

    # ---- what the server sends ---------------------------------------------------------------------------

    def take(self, message: Message) -> None:
        match message:
            case Response(id=known, result=result):
                self._settled(known, result)
            case Failure(id=known, code=code, message=text, data=data) if known is not None:
                self._settled(known, RequestError(code, text, data))
            case Notification(method=method, params=params):
                self._notified(method, params or {})
            case Request(id=asked, method="ping"):
                self._put({"jsonrpc": "2.0", "id": asked, "result": {}})
            case Request(id=asked, method=method, params=params):
                reply = self._reply(asked, method, params or {})
                task = asyncio.create_task(reply, name=f"reply to {method[:80]}")
                self._replying[task] = asked
                task.add_done_callback(self._replying.pop)

    def _diverted(self, message: Response | Notification) -> bool:
        if isinstance(message, Response):
            return self._settled(message.id, message.result)
        return self._told_stream(message.method, message.params or {})

    def _settled(self, known: str | int, outcome: dict[str, Any] | RequestError) -> bool:
        """Take the result of a request, or its error; return whether the request waits for it."""
        answered, *_ = self._waiting.pop(known, _NOBODY)
        if answered is None or answered.done():
            return answered is not None
        if isinstance(outcome, RequestError):
            answered.set_exception(outcome)
        else:
            answered.set_result(outcome)
        return True

    def _progressed(self, params: Mapping[str, Any]) -> None:
        """Take a report of progress, if it is valid and for one of our requests."""
        token, done, text = (params.get(key) for key in ("progressToken", "progress", "message"))
        _, report, _ = self._waiting.get(token, _NOBODY)
        if report is not None and (reached := number_limit(done)) is not None:
            try:
                report(reached, number_limit(params.get("total")), text if isinstance(text, str) else "")
            except Exception:  # an error in a listener must not end reading
                _log.exception("a progress callback failed")

    async def _reply(self, asked: str | int, method: str, params: Mapping[str, Any]) -> None:
        """Answer a request of the server, unless the server cancels it meanwhile."""
        try:
            found = await self.requests.answer(method, params, asked=asked)
            said: dict[str, Any] = {"result": found}
            if isinstance(found, Refusal):
                said = {"error": {"code": found.code, "message": found.message}}
                self.requests.refused(method, found.code, found.message)
        except Exception:  # a bug must not leave the server without a reply
            _log.exception("%s was not answered because of an internal error", method[:80])
            said = {"error": {"code": protocol.INTERNAL_ERROR, "message": "internal error"}}
        self._put({"jsonrpc": "2.0", "id": asked, **said})

    def _notified(self, method: str, params: Mapping[str, Any]) -> None:
        if method == WITHDRAWN:
            self.requests.questioner.withdraw(params.get("requestId"))
            return
        self._on_notification(method, params)
        if method == ADDRESS_DONE:
            self.requests.visited(params.get("elicitationId"))
        elif method == "notifications/progress":
            self._progressed(params)
        elif method == CANCELLED:
            self._cancelled(params.get("requestId"))
        else:
            self._told_stream(method, params)

    def _told_stream(self, method: str, params: Mapping[str, Any]) -> bool:
        """Pass a notification to the request that it belongs to; return whether there is one."""
        _, _, heard = self._waiting.get(object_in(params, "_meta").get(protocol.SUBSCRIPTION_KEY), _NOBODY)
        if heard is None:
            return False
        try:
            heard(method, params)
        except Exception:  # an error in a listener must not end reading
            _log.exception("a listener of a stream failed")
        return True

    def _cancelled(self, cancelled: Any) -> None:
        """Take the cancellation of a request, of either side."""
        replying = [task for task, asked in self._replying.items() if asked == cancelled]
        for task in replying:
            task.cancel()
        _, _, heard = self._waiting.get(cancelled, _NOBODY)
        if heard is not None and not replying:
            self._settled(cancelled, closed())  # so a server ends a stream


def closed() -> RequestError:
    """Return the error of a request whose connection is closed."""
    return RequestError(CONNECTION_CLOSED, message("Connection closed"))


def _not_sent(error: Exception) -> RequestError:
    why = message("the values cannot be encoded as JSON ({reason})", reason=reason_of(error))
    if isinstance(error, UnicodeError):
        why = message("a string contains an invalid character (a lone surrogate)")
    return RequestError(NO_RESPONSE, message("not sent: {why}.", why=why))
