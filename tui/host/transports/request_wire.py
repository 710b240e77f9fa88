"""A wire on which each message is an HTTP request, and the queue of what is sent in order."""

import asyncio
import logging
from abc import abstractmethod
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Generic, TypeVar

from tui.core.jsonrpc.messages import Id
from tui.core.language.translate import message
from tui.core.units import size as shown_size
from tui.host.frames.id_gate import CANCELLED, NEVER_SENT
from tui.host.transports.http_client import Sending
from tui.host.transports.http_faults import HttpFault
from tui.host.transports.remote import RemoteTransport, Wire

ACCEPT_SECONDS = 30.0
"""How long a server may take to accept a notification or a response."""

LINGER_SECONDS = 10.0
"""How long a server may take to accept a message that is answered already, or to answer a cancelled one."""

WAITING_LIMIT = 32 * 1024 * 1024
"""Maximum bytes that wait to be sent in order, as for a local server."""

OVERHEAD = 1024
"""Bytes of memory that a waiting message takes besides its text."""

T = TypeVar("T")
_log = logging.getLogger(__name__)


class SendQueue(Generic[T]):
    """What waits to be sent in order: a server that asks without reading answers must not fill the memory.

    `on_full` is called with why the connection cannot continue, if more would wait than `WAITING_LIMIT`.
    """

    def __init__(self, on_full: Callable[[HttpFault], None]) -> None:
        self._on_full = on_full
        self._waiting: asyncio.Queue[tuple[T, int]] = asyncio.Queue()
        self._size = 0

    def put(self, item: T, size: int) -> None:
        """Add an item with a text of `size` bytes; never waits."""
        if self._size + size > WAITING_LIMIT:
            text = message(
                "the server does not read its input: {size} are waiting.",
                size=shown_size(WAITING_LIMIT),
            )
            self._on_full(HttpFault(text, next_step=message("Restart it.")))
            return
        self._size += size + OVERHEAD
        self._waiting.put_nowait((item, size))

    async def get(self) -> T:
        """Return the first item, once there is one."""
        item, size = await self._waiting.get()
        self._size -= size + OVERHEAD
        return item

    def clear(self) -> None:
        """Drop what waits."""
        while not self._waiting.empty():
            self._waiting.get_nowait()
        self._size = 0


class RequestWire(Wire):
    """A wire on which each message is an HTTP request: requests at once, everything else in order."""

    def __init__(self, remote: RemoteTransport) -> None:
        self._remote = remote
        self._link = remote.link
        self._gate = remote.gate
        self._sending: dict[Id, Sending] = {}
        self._in_order: SendQueue[tuple[dict[str, Any], bytes, Mapping[str, str]]] = SendQueue(remote.end)

    @abstractmethod
    async def _deliver(self, message: dict[str, Any], body: bytes, headers: Mapping[str, str]) -> None:
        """Send a notification or a response."""

    @abstractmethod
    async def _exchange(self, sending: Sending) -> None:
        """Send a request. Raises HttpFault if there will be no answer."""

    @abstractmethod
    async def _done(self, sending: Sending, fault: HttpFault | None) -> None:
        """Take the end of a request, and why it failed, or None."""

    @property
    def closes(self) -> bool:
        """Whether closing a request cancels it."""
        return False

    def open(self) -> None:
        self._remote.start(self._send_in_order(), "notifications")

    def send(self, message: dict[str, Any], body: bytes, headers: Mapping[str, str]) -> None:
        if "method" in message and "id" in message:
            wanted = partial(self._gate.is_wanted, message["id"])  # not written once it is cancelled
            sending = Sending(message, body, headers, wanted)
            self._sending[sending.id] = sending
            sending.task = self._remote.start(self._run(sending), sending.method)
        elif message.get("method") != CANCELLED or not self._take_back(message["params"]["requestId"]):
            self._in_order.put((message, body, headers), len(body))

    async def _run(self, sending: Sending) -> None:
        fault: HttpFault | None = None
        try:
            await self._exchange(sending)
        except HttpFault as found:
            fault = found
        except Exception:  # a bug must not leave a call pending forever
            _log.exception("a request to %s failed with an internal error", self._remote.spec.name)
            step = message("See mcptui.log for the cause.")
            fault = HttpFault(message("internal error: the response was lost."), next_step=step)
        finally:
            del self._sending[sending.id]
        await self._done(sending, fault)

    def _take_back(self, wire_id: Id) -> bool:
        """Stop sending a cancelled request; return False if the server must be told."""
        if (sending := self._sending.get(wire_id)) is None:
            return self.closes
        if self.closes:
            sending.cancel()
            self._remote.tap.withdrew(wire_id, "cancelled: the request was closed")
        elif sending.take_back():
            self._remote.tap.withdrew(wire_id, NEVER_SENT)
        else:
            self._let_go(wire_id)
            return False
        return True

    def _let_go(self, wire_id: Id) -> None:
        """End an HTTP request that nothing is expected of: each one that is never answered holds a socket."""
        if (sending := self._sending.get(wire_id)) is not None:
            asyncio.get_running_loop().call_later(LINGER_SECONDS, sending.cancel)

    async def _send_in_order(self) -> None:
        """Deliver notifications and responses, one after the other, whether or not they are accepted."""
        while True:
            message, body, headers = await self._in_order.get()
            try:
                async with self._remote.limit(ACCEPT_SECONDS):
                    await self._deliver(message, body, headers)
            except Exception as error:  # the rest must still be sent
                what, kind = message.get("method", "a response"), type(error).__name__
                _log.warning("%s did not accept %s (%s)", self._remote.spec.name, what, kind)
