"""What a transport hands to the session: the messages of the server, and the way to it."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tui.host.frames.inbox import Inbox

NO_ANSWER = "the server's response is invalid"
"""Prefix of our own errors in place of an unusable answer."""


MakeHeaders = Callable[[], Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Link:
    """Both directions of one connection.

    `send` takes a message and what makes its HTTP headers, and returns False if the connection is closed. It
    never waits, and raises TypeError or ValueError, with nothing begun, for what is not JSON or fits in no
    header. `new_id` returns an id for a request, which is also its progress token. After `probe_seconds`,
    `give_up_probe` fails `server/discover`, unless it is answered, so that the older handshake is tried.
    """

    inbox: Inbox
    send: Callable[[dict[str, Any], MakeHeaders], bool]
    new_id: Callable[[], int]
    probe_seconds: float = math.inf
    give_up_probe: Callable[[int, float], None] = lambda known, seconds: None


class RequestError(Exception):
    """The error that a request got in place of a result: from the server, or one of our own (`id_gate`)."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class NoCommonVersion(RequestError):
    """Server and mcptui have no protocol version in common."""
