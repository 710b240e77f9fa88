"""The session of a host over stdio, which lives on while its server is replaced.

A pure state machine: a `Stage`, the last before the server. It tells the host nothing but what has changed.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from tui.addons.watch.agreed import INITIALIZE, LISTEN, Agreed
from tui.addons.watch.under_way import UnderWay, failure
from tui.core.jsonrpc.messages import Failure, Id, Request, Response, read_line, write_line
from tui.core.traffic import Direction
from tui.host.frames.stage import PassOn

OWN = "mcptui-watch-"
"""Prefix of the ids of our own requests."""

MOST_HELD = 10_000
"""Maximum messages of the host that wait for a server; later requests fail."""


class KeptSession:
    """A session whose server may be replaced.

    Attributes:
        agreed: what the host and its server have agreed on.
        under_way: what is lost if the server goes. A handshake is not: the next server gets it.
        down: why there is no server, "" while there is one.
        courier: has our own requests to the server.
    """

    is_idle = False

    def __init__(self) -> None:
        self.agreed = Agreed()
        self.under_way = UnderWay(self.agreed, (INITIALIZE, LISTEN))
        self.down = ""
        self.courier: Courier | None = None
        self._held: list[bytes] | None = None
        self._place: PassOn | None = None

    def begin(self) -> None:
        """Do nothing: it begins with the first message."""

    # ---- what passes ---------------------------------------------------------------------------------------

    def take(self, direction: Direction, raw: bytes, pass_on: PassOn) -> None:
        self._place = pass_on
        if direction is Direction.IN:
            if self.courier is not None and self.courier.take(raw):
                return
            if (passed := self.under_way.came(raw)) is not None:
                pass_on(Direction.IN, passed)
        elif self._held is not None and len(self._held) < MOST_HELD:
            self._held.append(raw)
        elif self._went(raw):
            pass_on(Direction.OUT, raw)

    def release(self, direction: Direction) -> None:
        """Send what waits, if there is somebody to send it to."""
        if direction is Direction.OUT:
            self.resume()

    def _went(self, raw: bytes) -> bool:
        """Take what the host sends; return whether it goes to the server."""
        passes = not self.down
        for message in read_line(raw, batches=True):
            if self.down and isinstance(message, Request):
                self._tell(failure(message.id, self.down))
            else:
                passes &= self.under_way.went(message)
        return passes

    def _tell(self, raw: bytes) -> None:
        if self._place is not None:
            self._place(Direction.IN, raw)

    # ---- another server ------------------------------------------------------------------------------------

    def hold(self) -> None:
        """Let what the host sends wait, from now on until `resume`."""
        self._held = self._held or []

    def resume(self) -> None:
        """Send what waits to the server."""
        held, self._held = self._held or [], None
        for raw in held:
            if self._place is not None:
                self.take(Direction.OUT, raw, self._place)

    def lose(self, why: str) -> int:
        """End what was under way with a server that is gone; return the number of requests that failed."""
        before = len(self.under_way.asked)
        for raw in self.under_way.lose(why):
            self._tell(raw)
        return before - len(self.under_way.asked)

    def tell_changed(self, methods: Sequence[str]) -> None:
        """Tell the host which lists have changed."""
        for method in methods:
            for raw in self.under_way.notes(method, is_plain=self.agreed.introduction is not None):
                self._tell(raw)


class Courier:
    """Our own requests to one server, by ids that nobody else has."""

    def __init__(self) -> None:
        self._number = 0
        self._waiting: dict[Id, asyncio.Future[Mapping[str, Any] | None]] = {}

    def request(self, method: str, params: Mapping[str, Any]) -> tuple[bytes, asyncio.Future[Any]]:
        """Return a request to send, and its result to come, None for an error."""
        self._number += 1
        known = f"{OWN}{self._number}"
        answer = self._waiting[known] = asyncio.get_running_loop().create_future()
        return write_line({"jsonrpc": "2.0", "id": known, "method": method, "params": params}), answer

    def take(self, raw: bytes) -> bool:
        """Return whether a line answers one of the requests."""
        if OWN.encode() not in raw:
            return False
        for message in read_line(raw):
            if isinstance(message, Response | Failure) and message.id in self._waiting:
                answer = self._waiting.pop(message.id)
                if not answer.done():
                    answer.set_result(message.result if isinstance(message, Response) else None)
                return True
        return False
