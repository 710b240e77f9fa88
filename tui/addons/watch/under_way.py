"""The requests that are under way between a host and one server, and end with it, over stdio and HTTP."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from tui.addons.watch.agreed import INITIALIZED, LISTEN, LISTS, Agreed
from tui.core.jsonrpc.messages import (
    Failure,
    Id,
    Message,
    Notification,
    Request,
    Response,
    read_line,
    write_line,
)
from tui.core.jsonrpc.protocol import INTERNAL_ERROR, SUBSCRIPTION_KEY
from tui.core.jsonrpc.reader import json_mapping
from tui.core.text import object_in
from tui.host.frames.id_gate import CANCELLED

ACKNOWLEDGED = "notifications/subscriptions/acknowledged"


class UnderWay:
    """The requests of a host, or of one HTTP request of it. `outlive` are methods that the next server gets.

    Attributes:
        agreed: what the session has agreed on, which is kept up to date.
        asked: the requests of the host that are not answered, by id.
    """

    def __init__(self, agreed: Agreed, outlive: Iterable[str] = (LISTEN,)) -> None:
        self.agreed = agreed
        self.asked: dict[Id, Request] = {}
        self._outlive = frozenset(outlive)
        self._questions: set[Id] = set()
        self._silent: set[Id] = set()

    @property
    def waits(self) -> bool:
        """Whether the host waits for an answer that is lost if the server goes."""
        return any(one.method not in self._outlive for one in self.asked.values())

    def went(self, message: Message) -> bool:
        """Take a message of the host; return whether it goes to the server."""
        agreed = self.agreed
        match message:
            case Request(id=known):
                self.asked[known] = message
                agreed.asked(message)
            case Notification(method=method) if method == INITIALIZED:
                agreed.is_initialized = True
            case Notification(method=method, params=params) if method == CANCELLED:
                if isinstance(known := (params or {}).get("requestId"), int | str):
                    self.asked.pop(known, None)
            case Response(id=known) | Failure(id=known) if known is not None:
                agreed.questions.discard(known)
                if known in agreed.void:
                    agreed.void.discard(known)
                    return False
        return True

    def came(self, raw: bytes) -> bytes | None:
        """Take what a server sends; return what the host gets, None for nothing."""
        before = self.agreed.introduction
        passes = [self._came(message) for message in read_line(raw, batches=True)]
        if not all(passes):
            return None
        return raw if self.agreed.introduction is before else promising(raw)

    def _came(self, message: Message) -> bool:
        match message:
            case Response(id=known, result=result):
                if (asked := self.asked.pop(known, None)) is not None:
                    self.agreed.answered(asked, result)
            case Failure(id=known) if known is not None:
                self.asked.pop(known, None)
            case Request(id=known):
                self._questions.add(known)
                self.agreed.questions.add(known)
                self.agreed.void.discard(known)
            case Notification(method=method, params=params) if method == ACKNOWLEDGED:
                known = object_in(params or {}, "_meta").get(SUBSCRIPTION_KEY)
                if isinstance(known, int | str) and known in self._silent:
                    self._silent.discard(known)
                    return False
        return True

    def lose(self, why: str) -> Sequence[bytes]:
        """End what a server that is gone has not answered; return what its host has to be sent.

        What it asked is cancelled.
        """
        lost = [one.id for one in self.asked.values() if one.method not in self._outlive]
        for known in lost:
            del self.asked[known]
        questions = self._questions & self.agreed.questions
        self._questions.clear()
        self.agreed.questions -= questions
        self.agreed.void |= questions
        return [*(_cancelled(known, why) for known in questions), *(failure(known, why) for known in lost)]

    def notes(self, method: str, *, is_plain: bool) -> Sequence[bytes]:
        """Return what tells each change stream that has asked for it that a list has changed.

        `is_plain` adds a notification without a stream.
        """
        note: dict[str, Any] = {"jsonrpc": "2.0", "method": f"notifications/{LISTS[method]}/list_changed"}
        wanted = f"{LISTS[method]}ListChanged"
        asked = [one for one in self._streams if object_in(one.params or {}, "notifications").get(wanted)]
        told = [note] if is_plain else []
        told += [{**note, "params": {"_meta": {SUBSCRIPTION_KEY: one.id}}} for one in asked]
        return [write_line(one) for one in told]

    @property
    def _streams(self) -> Sequence[Request]:
        """The requests that have opened a change stream."""
        return [one for one in self.asked.values() if one.method == LISTEN]

    def repeated(self) -> Sequence[bytes]:
        """Return the requests that the next server gets, whose acknowledgments stay here."""
        self._silent |= {one.id for one in self._streams}
        again = [one for one in self.asked.values() if one.method in self._outlive]
        return [json.dumps(_request(one)).encode() for one in again]


def promising(raw: bytes) -> bytes:
    """Return the answer to a handshake with `listChanged` for each list that the server has.

    The host is told of changes at restarts. Clients such as that of the TypeScript SDK listen only if the
    server has promised to tell them.
    """
    answer = json_mapping(raw)
    offered = object_in(object_in(answer, "result"), "capabilities")
    silent = [one for kind in LISTS.values() if isinstance(one := offered.get(kind), dict)]
    silent = [one for one in silent if one.get("listChanged") is not True]
    for one in silent:
        one["listChanged"] = True
    return json.dumps(answer).encode() if silent else raw


def failure(known: Id, why: str) -> bytes:
    """Return an error that answers a request."""
    return write_line({"jsonrpc": "2.0", "id": known, "error": {"code": INTERNAL_ERROR, "message": why}})


def _cancelled(known: Id, why: str) -> bytes:
    params = {"requestId": known, "reason": why}
    return write_line({"jsonrpc": "2.0", "method": CANCELLED, "params": params})


def _request(asked: Request) -> dict[str, Any]:
    params = {} if asked.params is None else {"params": asked.params}
    return {"jsonrpc": "2.0", "id": asked.id, "method": asked.method, **params}
