"""The gate between the wire and the session: matches responses with requests and rejects the rest.

Pure, except that it fills the inbox. It gives each request an id that a server cannot guess (measured:
with sequential ids a response sent ahead of its request was taken for the real one), fails a call at once
when its response is unusable, drops responses that nobody waits for, and enforces the rules of the
protocol version in use.
"""

import asyncio
import contextlib
import secrets
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
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
)
from tui.core.jsonrpc.protocol import (
    METHOD_NOT_FOUND,
    MODERN,
    SUBSCRIPTION_KEY,
    UNSUPPORTED_VERSION,
    VERSION_KEY,
    is_modern,
)
from tui.core.text import clean_line, compact, quoted_name
from tui.host.frames.inbox import WITHDRAWN, Inbox

CONNECTION_CLOSED = -32000
RESULT_TOO_LARGE = -32010
NO_HTTP_ANSWER = -32012
"""mcptui's own error code: HTTP gave no response to a request; the message is a sentence for the user."""

PROBE = "server/discover"
UNANSWERED_PROBE = f"no response to {PROBE}"
CANCELLED = "notifications/cancelled"
NEVER_SENT = "cancelled before it was sent"
ECHO = "the server's response is invalid: it echoes the request, so this is not an MCP server"
UNANSWERED_LIMIT = 1024
"""Maximum server requests that may wait for the session; the gate answers others with an error."""

PAST = 256
"""How many answered or cancelled requests are remembered: an answer to one of them is only late."""


@dataclass(frozen=True, slots=True)
class PendingRequest:
    """A request in flight: the session's id, and its method."""

    id: Id
    method: str


def random_id() -> int:
    """Return an id that cannot be guessed and that every JSON reader keeps exact."""
    return secrets.randbits(31) or 1


def _same_id(returned: object, sent: Iterable[Id]) -> Id | None:
    """Return which of the ids a server returned, also as another type."""
    forms = id_forms(id_text(returned))
    return next((one for one in sent if id_text(one) in forms), None)


class Gate:
    """Decides which messages pass between a session and a server.

    `reply` sends a message to the server on behalf of the session, and must not wait or raise. `given_up` is
    called with the wire id of each request that is failed here, and why. `stray` is the last response
    that belongs to no request, in words, since requests are pending; or "". `version` is the negotiated one.
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
        self._pending: dict[Id, PendingRequest] = {}
        self._own: dict[Id, asyncio.Future[dict[str, Any] | None]] = {}
        self._asked: dict[Id, Id | None] = {}  # by the server, and the request of ours that each came with
        self._late_probe: Id | None = None
        self._late_answer: Response | None = None
        self._late_versions: list[str] = []

    def new_id(self) -> int:
        """Return a random id that no pending request has."""
        wire_id = random_id()
        while wire_id in self._pending:
            wire_id = random_id()
        return wire_id

    @contextlib.contextmanager
    def asking(
        self, message: dict[str, Any]
    ) -> Iterator[tuple[dict[str, Any], asyncio.Future[dict[str, Any] | None]]]:
        """Yield a request of the transport itself with its id, and its result to come, None for an error."""
        wire_id, answer = self.new_id(), asyncio.get_running_loop().create_future()
        self._own[wire_id] = answer
        try:
            yield message | {"id": wire_id}, answer
        finally:
            del self._own[wire_id]

    # ---- session to server ---------------------------------------------------------------------------

    def outgoing(self, message: dict[str, Any]) -> dict[str, Any] | None:
        """Return None if it must not be sent: the protocol forbids it, or the server was asked already."""
        if "method" not in message:
            self._asked.pop(message.get("id", ""), None)
            return None if is_modern(self.version) else message
        if "id" in message:
            if message["method"] == PROBE and self._late_probe is not None:
                # The session probes again: it gets the answer to its first probe, as a server is asked once.
                if self._late_answer is not None:
                    self._inbox.put(Response(message["id"], self._late_answer.result))
                else:
                    self._pending[self._late_probe] = PendingRequest(message["id"], PROBE)
                self._late_probe = None
                return None
            return self._request(message)
        if message["method"] == CANCELLED:
            return self._cancel(message)
        return message

    def _request(self, message: dict[str, Any]) -> dict[str, Any]:
        wire_id = self.new_id()
        if not self.unanswered:
            self.stray = ""
        self._pending[wire_id] = PendingRequest(message["id"], message["method"])
        changed = message | {"id": wire_id}
        params = message.get("params")
        meta = params.get("_meta") if isinstance(params, dict) else None
        if isinstance(params, dict) and isinstance(meta, dict):
            if "progressToken" in meta:
                changed["params"] = params | {"_meta": meta | {"progressToken": wire_id}}
            if VERSION_KEY in meta and message["method"] != PROBE:
                self.version = str(meta[VERSION_KEY])
        return changed

    def _cancel(self, message: dict[str, Any]) -> dict[str, Any] | None:
        params = message.get("params") or {}
        wire_id = self.wire_id(params.get("requestId"))
        if wire_id is None:
            return None  # already answered: nothing is left to cancel
        self._pop(wire_id)
        return message | {"params": params | {"requestId": wire_id}}

    def wire_id(self, session_id: object) -> Id | None:
        return next((wire for wire, sent in self._pending.items() if sent.id == session_id), None)

    # ---- server to session ---------------------------------------------------------------------------

    @property
    def batches(self) -> bool:
        """Whether a line may hold an array of messages: only in 2025-03-26."""
        return self.version == "2025-03-26"

    def incoming(self, message: Message) -> bool:
        """Take a message; return False if it is not valid in the protocol, and failed no request either."""
        match message:
            case Response() | Failure():
                self._answered(message)
            case Notification(method=method) if method == WITHDRAWN:
                pass
            case Notification(method=method, params=params):
                taken = self._inbox.put(Notification(method, self._with_session_ids(params)))
                if taken and method == CANCELLED:
                    self._forget_asked((params or {}).get("requestId"))
            case Request(id=wire_id, method=method):
                if wire_id in self._pending and self._pending[wire_id].method == method:
                    return self.fail((wire_id,), INVALID_ANSWER, ECHO)  # ids are random: no coincidence
                self._asked_by_server(message)
            case Stray():
                why = f"the server's response is invalid: {message.why}"
                return self.fail(message.ids, INVALID_ANSWER, why)
        return True

    @property
    def knows_versions(self) -> bool:
        """Whether the probe was answered after all, but too late for the session."""
        return bool(self._late_versions)

    @property
    def unanswered(self) -> int:
        """Number of pending requests, without those that stay open on purpose."""
        return sum(sent.method != "subscriptions/listen" for sent in self._pending.values())

    def is_pending(self, wire_id: Id) -> bool:
        return wire_id in self._pending or wire_id in self._own

    def is_wanted(self, wire_id: Id) -> bool:
        """Whether a request is to be sent and answered: it is pending, or a probe that was given up."""
        return wire_id in self._pending or (wire_id == self._late_probe and self._late_answer is None)

    def came_with(self, asked: Id, wire_id: Id) -> None:
        """Record that a server request arrived in the response to a request of mcptui, and ends with it."""
        if asked in self._asked and wire_id in self._pending:
            self._asked[asked] = wire_id

    def waits_for(self, message: Message) -> bool:
        return (
            isinstance(message, Response | Failure)
            and message.id is not None
            and self._known(message.id) is not None
        )

    def fail(self, wire_ids: tuple[Id, ...], code: int, message: str) -> bool:
        """Fail the pending requests among `wire_ids`; return whether there was one."""
        waiting = [wire_id for wire_id in map(self._known, wire_ids) if wire_id is not None]
        for wire_id in waiting:
            self._inbox.put(Failure(self._pop(wire_id).id, code, message))
            self._given_up(wire_id, message)
        return bool(waiting)

    def fail_all(self, code: int, message: str) -> None:
        self.fail(tuple(self._pending), code, message)

    def give_up_probe(self, session_id: Id, seconds: float) -> None:
        """Answer `server/discover` for the server, so that the session tries the older handshake.

        The answer of a slow server still counts when it arrives.
        """
        wire_id = self.wire_id(session_id)
        if wire_id is not None and self._pending[wire_id].method == PROBE:
            self._late_probe = wire_id
            self.fail((wire_id,), METHOD_NOT_FOUND, f"{UNANSWERED_PROBE} within {seconds:g} s")

    def lose(self, wire_id: Id | None) -> None:
        """Record that a request gets no answer, not even a late one."""
        if wire_id == self._late_probe and self._late_answer is None:
            self._late_probe = None

    def _known(self, wire_id: object) -> Id | None:
        """Return the pending request that an id belongs to, or None."""
        if isinstance(wire_id, int | str) and wire_id in self._pending:
            return wire_id
        if wire_id is None and [one.method for one in self._pending.values()] == [PROBE]:
            return next(iter(self._pending))  # a server that cannot read the probe answers it without an id
        return _same_id(wire_id, self._pending)

    def _note_stray(self, wire_id: Id | None, said: str = "") -> None:
        is_late = _same_id(wire_id, self._past) is not None
        if not self.unanswered or (wire_id is not None and is_late):
            return
        if wire_id is None:
            self.stray = f"an error without an id: {quoted_name(clean_line(said, 160).rstrip('.'), 160)}"
        else:
            self.stray = f"a response with the id {compact(wire_id, 60)}, which no request has"

    def _pop(self, wire_id: Id) -> PendingRequest:
        """Remove a pending request, and withdraw the server requests that came with it."""
        for asked in [asked for asked, request in self._asked.items() if request == wire_id]:
            self._asked[asked] = None
            self._inbox.put(Notification(WITHDRAWN, {"requestId": asked}))
        self._past.append(wire_id)
        return self._pending.pop(wire_id)

    def _answered(self, answer: Response | Failure) -> None:
        if answer.id in self._own:
            if not (own := self._own[answer.id]).done():
                own.set_result(answer.result if isinstance(answer, Response) else None)
        elif (known := self._known(answer.id)) is not None:
            sent = self._pop(known)
            if isinstance(answer, Failure):
                self._failure(sent, answer)
                return
            if sent.method == "initialize":
                self.version = str(answer.result.get("protocolVersion", ""))[:40]
            self._inbox.put(Response(sent.id, answer.result))
        elif isinstance(answer, Failure):
            self.lose(answer.id)
            self._note_stray(answer.id, answer.message)
        elif answer.id == self._late_probe:
            self._note_versions(answer)
        else:
            self._note_stray(answer.id)

    def _failure(self, sent: PendingRequest, failure: Failure) -> None:
        versions = self._late_versions
        if self._late_probe is not None and failure.code == METHOD_NOT_FOUND:
            # It still will answer the probe: all servers of the older protocol have `initialize`.
            versions = versions or [MODERN]
        if sent.method == "initialize" and versions:
            # Send the session back to its probe, with the error of a server that has settled on the newer
            # protocol.
            data = {"supported": versions, "requested": ""}
            failure = Failure(sent.id, UNSUPPORTED_VERSION, "unsupported protocol version", data)
        self._inbox.put(Failure(sent.id, failure.code, failure.message, failure.data))

    def _note_versions(self, answer: Response) -> None:
        versions = answer.result.get("supportedVersions")
        if isinstance(versions, list):
            self._late_answer = answer
            self._late_versions = [
                known for known in versions[:16] if isinstance(known, str) and len(known) < 40
            ]
        else:
            self._late_probe = None

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

    def _forget_asked(self, cancelled: object) -> None:
        """Stop waiting for the session's response to a request that the server cancelled: there is none."""
        if isinstance(cancelled, int | str):
            same = [one for one in self._asked if str(one) == str(cancelled)]  # some return a number as text
            for one in [one for one in same if one == cancelled] or same:
                del self._asked[one]

    def _with_session_ids(self, params: dict[str, Any] | None) -> dict[str, Any] | None:
        """Replace ids in the params of a notification by those of the session, if they name its requests."""
        if not params:
            return params
        changed = dict(params)
        for key in ("progressToken", "requestId"):
            if isinstance(params.get(key), int | str) and (known := self._known(params[key])) is not None:
                changed[key] = self._pending[known].id
        meta = params.get("_meta")
        if isinstance(meta, dict) and isinstance(meta.get(SUBSCRIPTION_KEY), int | str):
            known = self._known(meta[SUBSCRIPTION_KEY])
            if known is not None:
                changed["_meta"] = meta | {SUBSCRIPTION_KEY: self._pending[known].id}
        return changed
