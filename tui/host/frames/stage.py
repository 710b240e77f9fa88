"""Where messages are held, changed or lost on purpose, on their way between a session and its server.

A transport or a tap with stages hands them each message, and passes on what they give back. What is recorded
as a message is what the server sent or was sent; a stage records by an event what it made of it.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from tui.core.jsonrpc.framing import LINE_LIMIT
from tui.core.traffic import Direction


class PassOn(Protocol):
    """Takes a message onward: OUT to the server, IN to the session.

    May be called at once, later, several times or never, also in the other direction than the message came
    from. `source` is the name of the server, `exchange` the number of the HTTP request, 0 over stdio.
    """

    source: str
    exchange: int

    @property
    def is_gone(self) -> bool:
        """Whether the client has ended the HTTP request of the message, and expects nothing more."""

    def __call__(self, direction: Direction, raw: bytes, /) -> None: ...

    def hears(self, direction: Direction) -> bool:
        """Whether a side can be sent something else before the message."""

    def event(self, word: str, **what: Any) -> None:
        """Record what was made of a message; `what` is JSON."""

    def lose(self) -> None:
        """Break off the connection; over HTTP, that of this request."""

    def refuse(self, status: int, headers: Mapping[str, str]) -> None:
        """Over HTTP, answer the request with a status, instead of the server."""


class Stage(Protocol):
    """Something that messages pass. Its methods neither raise nor wait.

    `is_idle`: it passes everything on at once now, so it need not get it.
    """

    @property
    def is_idle(self) -> bool: ...

    def begin(self) -> None:
        """Called by a tap in its event loop, before the first message."""

    def take(self, direction: Direction, raw: bytes, pass_on: PassOn) -> None:
        """Take a message: a line without its end, the body of a request, or the data of an event."""

    def release(self, direction: Direction) -> None:
        """Pass on what waits in a direction, because nothing follows: its side has closed, or all ends."""


class _At:
    """The place of a stage, from which messages go on to its neighbours."""

    def __init__(self, stages: Sequence[Stage], place: int, end: PassOn) -> None:
        self.source, self.exchange = end.source, end.exchange
        self.event, self.lose, self.refuse, self.hears = end.event, end.lose, end.refuse, end.hears
        self._stages, self._place, self._end = stages, place, end

    @property
    def is_gone(self) -> bool:
        return self._end.is_gone

    def __call__(self, direction: Direction, raw: bytes, /) -> None:
        place = self._place + (1 if direction is Direction.OUT else -1)
        if 0 <= place < len(self._stages):
            self._stages[place].take(direction, raw, _At(self._stages, place, self._end))
        else:
            self._end(direction, raw)


def enter(stages: Sequence[Stage], end: PassOn, direction: Direction, raw: bytes) -> None:
    """Hand a message to the stages, the last of which gives it to `end`: OUT in their order, IN backwards."""
    _At(stages, -1 if direction is Direction.OUT else len(stages), end)(direction, raw)


def all_idle(stages: Sequence[Stage]) -> bool:
    """Return whether nothing happens to messages now."""
    for stage in stages:
        if not stage.is_idle:
            return False
    return True


def release(stages: Sequence[Stage], direction: Direction) -> None:
    """Pass on what waits in a direction, through all stages."""
    for stage in stages if direction is Direction.OUT else reversed(stages):
        stage.release(direction)


class Lines:
    """Cuts bytes into lines: `take` gets each without its end.

    `plain` gets the bytes of a line that is too long to be a message, as they come.
    """

    def __init__(
        self, take: Callable[[bytes], None], plain: Callable[[bytes], None], limit: int = LINE_LIMIT
    ) -> None:
        self._take, self._plain, self._limit = take, plain, limit
        self._partial = bytearray()
        self._is_long = False

    def feed(self, chunk: bytes) -> None:
        *lines, rest = chunk.split(b"\n")
        for line in lines:
            self._add(line)
            if self._is_long:
                self._plain(b"\n")
            else:
                self._take(bytes(self._partial))
            self._partial.clear()
            self._is_long = False
        self._add(rest)

    def finish(self) -> bytes:
        """Return the last line, which has no end, or b""."""
        rest = bytes(self._partial)
        self._partial.clear()
        return rest

    def _add(self, piece: bytes) -> None:
        self._partial += piece
        if self._is_long or len(self._partial) > self._limit:
            self._is_long = True
            if self._partial:
                self._plain(bytes(self._partial))
            self._partial.clear()
