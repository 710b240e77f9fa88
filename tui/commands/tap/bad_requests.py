"""Says why a request to `mcptui tap --listen` is not HTTP, where uvicorn only says that it is invalid."""

import re
import sys

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

_WORDS = (
    (r"bad content-length", "Content-Length is not a number of bytes"),
    (r"conflicting content-length", "it has two different Content-Length headers"),
    (r"transfer-encoding", "its Transfer-Encoding is not chunked"),
    (r"missing mandatory host", "it has no Host header"),
    (r"multiple host", "it has several Host headers"),
    (r"header (name|line|value)|start of headers", "a header is not valid"),
    (r"request line|method characters|target characters", "its first line is not that of an HTTP request"),
    (r"chunk", "a chunk of its body is not valid"),
    (r"too long", "its headers are too long"),
)
"""Patterns of the messages of h11, and our words for each."""


def words_of(error: BaseException | None) -> str:
    """Return why a request cannot be read."""
    said = str(error).lower()
    why = next((words for pattern, words in _WORDS if re.search(pattern, said)), "it is not HTTP/1.1")
    return f"the request is not valid: {why}"


class TapProtocol(H11Protocol):
    """The HTTP of the tap."""

    def send_400_response(self, msg: str) -> None:
        """Answer with the reason, which is the error that is being handled."""
        if self.cycle is not None:  # the start of the request is on its way: no second response
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.close()  # it has been answered already
            return
        why = words_of(sys.exception())
        super().send_400_response(f"mcptui tap: {why}\n")
