"""Parses messages from any transport for the gate: large ones in a thread, and never for long at a time.

It works in slices and pauses for as long as it has worked, so that a flood takes at most half of the event
loop's time, a few milliseconds at a time. Work is measured in CPU time, so that a busy machine does not slow
a flood down.
"""

import asyncio
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from tui.core.jsonrpc.messages import (
    Message,
    Notification,
    Request,
    Stray,
    is_meant_as_message,
    read_line,
)
from tui.core.jsonrpc.reader import may_be_damaged_listing
from tui.core.text import clean_line, without_styling
from tui.core.units import plural
from tui.host.frames.id_gate import Gate
from tui.host.frames.inbox import STREAMED, Inbox

LARGE = 256 * 1024
"""Messages from this size on are parsed in a thread; smaller ones take a few milliseconds at most."""

SLICE_SECONDS = 0.003

_NOTICE = re.compile(rb'"method" ?: ?"(notifications/[a-z_/]{1,40})"')

T = TypeVar("T")


class MessageReader:
    """Parses messages and passes them to the gate.

    `invalid` counts messages that are invalid, except those that failed a request; `first_invalid` says why
    the first one is. `noise` counts what was not a message; `first_noise` is its first line, cleaned and cut.
    """

    def __init__(self, gate: Gate, inbox: Inbox) -> None:
        self.noise = self.invalid = 0
        self.first_noise = self.first_invalid = ""
        self._gate = gate
        self._inbox = inbox
        self._worked = 0.0
        self._since = 0.0
        self._looked = 0.0

    def drop_surplus(self, raw: bytes) -> bool:
        """Whether `raw` is a notification that would be dropped anyway, decided without parsing it."""
        if len(raw) >= 4096 or b'"id"' in raw or b"\\" in raw:
            return False
        method = _NOTICE.search(raw)
        return method is not None and self._inbox.surplus(method[1].decode())

    async def parse(self, raw: bytes) -> list[Message]:
        """Return the messages of a line, a body or an event."""
        batches = self._gate.batches
        found = await self.read(len(raw), lambda patient: read_line(raw, batches=batches, patient=patient))
        if len(raw) <= LARGE and isinstance(found[0], Stray) and may_be_damaged_listing(raw):
            found = await self._in_thread(lambda patient: read_line(raw, batches=batches, patient=patient))
        return found

    async def read(self, size: int, read: Callable[[bool], T]) -> T:
        """Return the result of `read` for `size` bytes. Its argument says whether it runs in a thread."""
        if size <= LARGE:
            return read(False)
        return await self._in_thread(read)

    async def _in_thread(self, read: Callable[[bool], T]) -> T:
        found = await asyncio.to_thread(read, True)
        self._since = time.thread_time()  # another thread did the work
        return found

    def admit(self, message: Message, size: int) -> bool:
        """Pass one message of `size` bytes to the gate; return False if it is not valid in the protocol."""
        if size > LARGE:
            # The session handles notifications and requests on the event loop.
            if isinstance(message, Notification):
                if not message.method.startswith(STREAMED):
                    return True
                message = replace(message, params=_without_data(message.params or {}))
            if isinstance(message, Request):
                message = Request(message.id, message.method)
        return self._gate.incoming(message)

    @property
    def rejected(self) -> int:
        """How often something arrived that was no valid message."""
        return self.noise + self.invalid

    @property
    def invalid_words(self) -> str:
        """How many messages are invalid, and why the first one is; or ""."""
        first = ", first" if self.invalid > 1 else ""
        count = plural(self.invalid, "invalid message")
        return f"{count}{first}: {self.first_invalid}" if self.invalid else ""

    def reject(self, raw: bytes, why: str) -> bool:
        """Count an invalid message, or what was not meant as one; return whether it was."""
        if is_meant_as_message(raw):
            self.invalid += 1
            self.first_invalid = self.first_invalid or why
            return True
        self.noise += 1
        if self.noise == 1:
            self.first_noise = clean_line(without_styling(raw[:4096].decode("utf-8", "replace")))
        return False

    def begin(self) -> None:
        """Start measuring, because something arrived."""
        looked, self._looked = self._looked, time.perf_counter()
        # Waiting for input is a pause too, so successive calls need no other.
        self._worked = max(0.0, self._worked - (self._looked - looked))
        self._since = time.thread_time()

    @property
    def is_rest_due(self) -> bool:
        """Whether `rest` may pause; cheap, because CPU time never exceeds elapsed time."""
        return self._worked + time.perf_counter() - self._looked > SLICE_SECONDS

    async def rest(self) -> None:
        """Pause if it has worked for long enough since `begin` or the last pause."""
        now = time.thread_time()
        self._worked += now - self._since
        if self._worked > SLICE_SECONDS:
            await asyncio.sleep(self._worked)
            self._worked = 0.0
            now = time.thread_time()
        self._since = now
        self._looked = time.perf_counter()


def _without_data(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return what places a large message in its stream: nothing of a stream is lost without a word."""
    return {key: value for key, value in params.items() if key == "_meta" or isinstance(value, str | bool)}
