"""The gate between the wire and the session: matches responses with requests and rejects the rest.

Pure, except that it fills the inbox. It makes ids for requests that a server cannot guess (measured:
with sequential ids a response sent ahead of its request was taken for the real one), fails a call at once
when its response is unusable, drops responses that nobody waits for, and enforces the rules of the
protocol version in use.
"""

import asyncio
import contextlib
import os
from array import array
from collections import deque
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from typing import Any

from tui.core.jsonrpc.classification import id_forms, id_text
from tui.core.jsonrpc.messages import (
    INVALID_ANSWER,
    Failure,
    Id,
    Message,
    Notification,
    Request,
    Response,
    Stray,
    as_id,
)
from tui.core.jsonrpc.protocol import (
    METHOD_NOT_FOUND,
    STAY_OPEN,
    SUBSCRIPTION_KEY,
    is_modern,
)
from tui.core.language.translate import message
from tui.core.text import clean_line, compact, object_in, quoted_name
from tui.host.frames.inbox import WITHDRAWN, Inbox

CONNECTION_CLOSED = -32000
RESULT_TOO_LARGE = -32010
NO_RESPONSE = -32012
"""mcptui's own error code: there is no response to a request; the message is a sentence for the user."""

PROBE = "server/discover"
UNANSWERED_PROBE = f"no response to {PROBE}"
CANCELLED = "notifications/cancelled"
NEVER_SENT = message("cancelled before it was sent")
ECHO = message("the server's response is invalid: it echoes the request, so this is not an MCP server")
UNANSWERED_LIMIT = 1024
"""Maximum server requests that may wait for the session; the gate answers others with an error."""

PAST = 256
"""How many answered or cancelled requests are remembered: an answer to one of them is only late."""


ID_BYTES = 4 * 64

_ids: list[int] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_ids.clear)


def random_id() -> int:
    """Return an id that cannot be guessed and that every JSON reader keeps exact."""
    try:
        return _ids.pop()
    except IndexError:  # many at once: asking the system releases the interpreter, in the middle of a call
        first, *more = (number >> 1 or 1 for number in array("I", os.urandom(ID_BYTES)))
        _ids.extend(more)
        return first


def same_id(returned: object, *sent: Collection[Id]) -> Id | None:
    """Return which of the ids in `sent`, the first ones first, a server has returned.

    Some servers change the type, so 7, "7" and 7.0 are the same.
    """
    if (found := as_id(returned)) is None:
        return None
    for ids in sent:
        if found in ids:
            return found
    forms = id_forms(id_text(found))
    return next((one for ids in sent for one in ids if id_text(one) in forms), None)


def _as_sent(returned: object, *sent: Collection[Id]) -> Id | None:
    """Return an id as it was sent, or as it is if it is not in `sent`; None for what cannot be one."""
    known = same_id(returned, *sent)
    return as_id(returned) if known is None else known


class Gate:
    """Decides which messages pass between a session and a server.

    `reply` sends a message to the server on behalf of the session, and must not wait or raise. `given_up` is
    called with the wire id of each request that is failed here, and why. `stray` is the last response
    that belongs to no request, in words, since requests are pending; or "". `version` is the negotiated one.
    `knows_versions` is set once a probe that was given up is answered.
    """

    def __init__(
        self,
        inbox: Inbox,
        reply: Callable[[dict[str, Any]], object],
        given_up: Callable[[Id, str], None] = lambda wire_id, why: None,
    ) -> None:
        self.version = ""
        self.stray = ""
        self._past: deque[Id] = deque(maxlen=PAST)
        self._inbox = inbox
        self._reply = reply
        self._given_up = given_up
        self._pending: dict[Id, str] = {}  # methods
        self._own: dict[Id, asyncio.Future[Response | Failure]] = {}
        self._asked: dict[Id, Id | None] = {}  # by the server, and the request of ours that each came with
        self._late_probe: set[Id] = set()
        self.knows_versions = False

    def new_id(self) -> int:
        """Return a random id that no pending request has."""
        wire_id = random_id()
        while wire_id in self._pending:
            wire_id = random_id()
        return wire_id

    @contextlib.contextmanager
    def asking(
        self, message: dict[str, Any]
    ) -> Iterator[tuple[dict[str, Any], asyncio.Future[Response | Failure]]]:
        """Yield a request of the transport itself with its id, and its answer to come."""
        wire_id, answer = self.new_id(), asyncio.get_running_loop().create_future()
        self._own[wire_id] = answer
        try:
            yield message | {"id": wire_id}, answer
        finally:
            del self._own[wire_id]

    # ---- session to server ---------------------------------------------------------------------------

    def outgoing(self, message: dict[str, Any]) -> bool:
        """Return False if it must not be sent: the protocol forbids it, or nothing is left to cancel."""
        if "method" not in message:
            self._asked.pop(message.get("id", ""), None)
            return not is_modern(self.version)
        if "id" in message:
            if not self.unanswered:
                self.stray = ""
            self._pending[message["id"]] = message["method"]
        elif message["method"] == CANCELLED:
            cancelled = message["params"]["requestId"]
            if cancelled not in self._pending:
                return False
            self._pop(cancelled)
        return True

    # ---- server to session ---------------------------------------------------------------------------

    @property
    def batches(self) -> bool:
        """Whether a line may hold an array of messages: only in 2025-03-26."""
        return self.version == "2025-03-26"

    def incoming(self, received: Message) -> bool:
        """Take a message; return False if it is not valid in the protocol, and failed no request either."""
        match received:
            case Response() | Failure():
                self._answered(received)
            case Notification(method=method) if method == WITHDRAWN:
                pass
            case Notification(method=method, params=params):
                params = self._with_known_ids(params) if params else params
                taken = self._inbox.put(Notification(method, params))
                if taken and method == CANCELLED and params and params.get("requestId") in self._asked:
                    del self._asked[params["requestId"]]  # the session will not answer it
            case Request(id=wire_id, method=method):
                known = same_id(wire_id, self._pending)
                if known is not None and self._pending[known] == method:
                    return self.fail((known,), INVALID_ANSWER, ECHO)  # ids are random: no coincidence
                self._asked_by_server(received)
            case Stray():
                why = message("the server's response is invalid: {why}", why=received.why)
                return self.fail(received.ids, INVALID_ANSWER, why)
        return True

    @property
    def unanswered(self) -> int:
        """Number of pending requests, without those that stay open on purpose."""
        return sum(method not in STAY_OPEN for method in self._pending.values())

    def is_pending(self, wire_id: Id) -> bool:
        own = self._own.get(wire_id)
        return wire_id in self._pending or (own is not None and not own.done())

    def is_wanted(self, wire_id: Id) -> bool:
        """Whether a request is to be sent and answered: it is pending, or a probe that was given up."""
        return self.is_pending(wire_id) or wire_id in self._late_probe

    def came_with(self, asked: Id, wire_id: Id) -> None:
        """Record that a server request arrived in the response to a request of mcptui, and ends with it."""
        if asked in self._asked and wire_id in self._pending:
            self._asked[asked] = wire_id

    def waits_for(self, message: Message) -> bool:
        return isinstance(message, Response | Failure) and same_id(message.id, self._pending) is not None

    def fail(self, wire_ids: tuple[Id, ...], code: int, message: str) -> bool:
        """Fail the pending requests among `wire_ids`; return whether there was one."""
        known = dict.fromkeys(same_id(wire_id, self._pending) for wire_id in wire_ids)  # 7 and "7" are one
        waiting = [wire_id for wire_id in known if wire_id is not None]
        for wire_id in waiting:
            self._pop(wire_id)
            self._inbox.put(Failure(wire_id, code, message))
            self._given_up(wire_id, message)
        return bool(waiting)

    def fail_all(self, code: int, message: str) -> None:
        self.fail(tuple(self._pending), code, message)

    def give_up_probe(self, wire_id: Id, seconds: float) -> None:
        """Answer `server/discover` for the server, so that the session tries the older handshake.

        The answer of a slow server is still passed on when it arrives.
        """
        if self._pending.get(wire_id) == PROBE:
            self._late_probe.add(wire_id)
            self.fail(
                (wire_id,),
                METHOD_NOT_FOUND,
                message(
                    "{problem} within {seconds:g} s",
                    problem=UNANSWERED_PROBE,
                    seconds=seconds,
                ),
            )

    def lose(self, wire_id: Id | None) -> None:
        """Record that a request gets no answer, not even a late one."""
        if wire_id is not None and wire_id in self._late_probe:
            self._late_probe.clear()
            self._inbox.put(Failure(wire_id, NO_RESPONSE, UNANSWERED_PROBE))

    def _note_stray(self, wire_id: Id | None, said: str = "") -> None:
        is_late = same_id(wire_id, self._past) is not None
        if not self.unanswered or (wire_id is not None and is_late):
            return
        if wire_id is None:
            self.stray = message(
                "an error without an id: {said}", said=quoted_name(clean_line(said, 160).rstrip("."), 160)
            )
        else:
            self.stray = message("a response with the id {id}, which no request has", id=compact(wire_id, 60))

    def _pop(self, wire_id: Id) -> str:
        """Remove a pending request and return its method; withdraw the server requests that came with it."""
        for asked in [asked for asked, request in self._asked.items() if request == wire_id]:
            self._asked[asked] = None
            self._inbox.put(Notification(WITHDRAWN, {"requestId": asked}))
        self._past.append(wire_id)
        return self._pending.pop(wire_id)

    def _answered(self, answer: Response | Failure) -> None:
        known = same_id(answer.id, self._own, self._pending, self._late_probe)
        if answer.id is None and [*self._pending.values()] == [PROBE]:
            known = next(iter(self._pending))  # a server that cannot read the probe answers it without an id
        if known is None:
            self._note_stray(answer.id, answer.message if isinstance(answer, Failure) else "")
        elif known in self._own:
            if not (own := self._own[known]).done():
                own.set_result(answer)
        elif known in self._pending:
            if self._pop(known) == "initialize" and isinstance(answer, Response):
                self.version = str(answer.result.get("protocolVersion", ""))[:40]
            self._inbox.put(answer if answer.id == known else replace(answer, id=known))
        else:
            self._late_probe.clear()
            self.knows_versions = isinstance(answer, Response)
            self._inbox.put(replace(answer, id=known))

    def _asked_by_server(self, request: Request) -> None:
        if is_modern(self.version):
            return  # the client must not send responses in this protocol either
        if len(self._asked) < UNANSWERED_LIMIT:
            self._asked.setdefault(request.id)
            self._inbox.put(request)
        else:
            said: dict[str, Any] = {"result": {}}
            if request.method != "ping":
                said = {"error": {"code": CONNECTION_CLOSED, "message": "too many pending requests"}}
            self._reply({"jsonrpc": "2.0", "id": request.id, **said})

    def _with_known_ids(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return the params of a notification with ids as they were sent: the session compares exactly."""
        known: dict[str, Any] = {}
        if "progressToken" in params:
            known["progressToken"] = _as_sent(params["progressToken"], self._pending)
        if "requestId" in params:
            known["requestId"] = _as_sent(params["requestId"], self._asked, self._pending)
        if SUBSCRIPTION_KEY in (meta := object_in(params, "_meta")):
            known["_meta"] = {**meta, SUBSCRIPTION_KEY: _as_sent(meta[SUBSCRIPTION_KEY], self._pending)}
        return params | known
