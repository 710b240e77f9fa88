"""Reports what one server's transport saw, as `Captured` values, before anything else handles the bytes."""

import asyncio
import contextlib
import json
import time
from collections.abc import Callable, Sequence
from typing import Any

from tui.core.servers import EraChoice, ServerSpec, Transport
from tui.core.traffic import CAUSE, Captured, Cause, Direction, Kind, TrafficSink
from tui.host.process.process import ProcessExit
from tui.host.process.stderr import StderrSample

ROOM_SECONDS, ROOM_CHECKS = 0.02, 50


class WireTap:
    """Reports what travels to and from one server, and what happens to its process, to a sink.

    The sink promises not to raise and not to wait; if it raises anyway, the server is not affected. Its
    `crowded()`, if it has one, asks for a pause, and its `take_all()` takes many at once.
    """

    def __init__(self, source: str, sink: TrafficSink) -> None:
        self._source = source
        self.sink = sink
        self._crowded: Callable[[], bool] = getattr(sink, "crowded", bool)
        self._take_all: Callable[[Sequence[Captured]], object] = getattr(sink, "take_all", self._take_each)
        self._log = StderrSample()
        self._exit_told = False

    async def wait_for_room(self) -> None:
        """Wait while the sink is crowded, at most a second: the server waits too, so nothing is lost."""
        for _ in range(ROOM_CHECKS):
            if not self._crowded():
                return
            await asyncio.sleep(ROOM_SECONDS)

    def sent(self, line: bytes, cause: Cause | None = None, at_ns: int | None = None) -> None:
        """Report a message; `cause` and `at_ns` are those of an earlier moment, None for now."""
        at_ns = time.monotonic_ns() if at_ns is None else at_ns
        self._report(Direction.OUT, None, at_ns, line, cause=cause or CAUSE.get())

    def received(
        self, line: bytes, at_ns: int, size: int = -1, *, sha256: str = "", ended: bool = True
    ) -> None:
        """Report a line of the server's output, valid or not, without its newline.

        If it is only the head of a line, `size` and `sha256` are of the whole line. `ended`: it had a
        newline.
        """
        detail = ({} if ended else {"newline": False}) | ({"sha256": sha256} if sha256 else {})
        self._report(Direction.IN, None, at_ns, line, size=size, detail=detail)

    def received_all(self, lines: Sequence[bytes], at_ns: int) -> None:
        """Report lines of the server's output that arrived together, each as `received` does."""
        with contextlib.suppress(Exception):
            wall_ns, source = time.time_ns() - (time.monotonic_ns() - at_ns), self._source
            self._take_all([Captured(source, Direction.IN, at_ns, wall_ns, line) for line in lines])

    def heard(self, chunk: bytes) -> None:
        """Report the next bytes of stderr, line by line; a flood is omitted, and the gap reported."""
        at = time.monotonic_ns()
        lines = self._log.lines(chunk, at / 1e9)
        if lines:
            self._tell_log_gap()
        for line in lines:
            self._report(Direction.NONE, Kind.STDERR, at, line)

    def heard_all(self) -> None:
        if (last := self._log.finish()) is not None:
            self._report(Direction.NONE, Kind.STDERR, time.monotonic_ns(), last)
        self._tell_log_gap()

    def spawned(self, spec: ServerSpec, pid: int) -> None:
        """Report the start of the process, with the names of its environment variables, not their values."""
        argv, more = [*spec.shown_command], _more(spec, Transport.STDIO)
        self.event("spawn", pid=pid, argv=argv, cwd=spec.starts_in or "", env=sorted(spec.env), **more)

    def connected(self, spec: ServerSpec, where: str) -> None:
        """Report the connection to a remote server at an address without secrets."""
        self.event("connect", url=where, **_more(spec, Transport.HTTP))

    def signalled(self, name: str) -> None:
        self.event("signal", signal=name)

    def gave_up(self, wire_id: object, why: str) -> None:
        """Report that a request is no longer waited for, although its server has not answered."""
        self.event("gave up", id=wire_id, why=why)

    def withdrew(self, wire_id: object, why: str) -> None:
        """Report that a request was cancelled here, and its server is not told: nothing has failed."""
        self.event("gave up", id=wire_id, why=why, cancelled=True)

    def refused(self, wire_id: object, why: str) -> None:
        """Report that a request was refused before it had any effect, and is sent again with the same id."""
        self.event("gave up", id=wire_id, why=why, again=True)

    def exited(self, ended: ProcessExit | None, pending: int = 0) -> None:
        """Report the end of the process; `pending` requests get no response."""
        if ended is None or self._exit_told:
            return
        self._exit_told = True
        more = {"pending": pending} if pending else {}
        seconds = round(ended.after_seconds, 3)
        self.event("exit", code=ended.code, signal=ended.signal, seconds=seconds, **more)

    def event(self, word: str, **what: Any) -> None:
        """Report what happened to the connection or its process ("spawn", "exit", …); `what` is JSON."""
        self.event_of(None, word, **what)

    def event_of(self, cause: Cause | None, word: str, **what: Any) -> None:
        """Report what happened to a message of a turn."""
        detail = {"event": word, **what}
        raw = json.dumps(detail, ensure_ascii=False).encode("utf-8", "backslashreplace")
        self._report(Direction.NONE, Kind.EVENT, time.monotonic_ns(), raw, detail=detail, cause=cause)

    def _take_each(self, several: Sequence[Captured]) -> None:
        for captured in several:
            with contextlib.suppress(Exception):
                self.sink(captured)

    def _tell_log_gap(self) -> None:
        missing, self._log.omitted = self._log.omitted, 0
        if missing:
            self.event("log left out", bytes=missing)

    def _report(self, direction: Direction, kind: Kind | None, at_ns: int, raw: bytes, **more: Any) -> None:
        with contextlib.suppress(Exception):
            # Both clocks give the same moment, also for bytes that had to wait before they were parsed.
            wall_ns = time.time_ns() - (time.monotonic_ns() - at_ns)
            self.sink(Captured(self._source, direction, at_ns, wall_ns, raw, kind, **more))


def _more(spec: ServerSpec, usual: Transport) -> dict[str, Any]:
    """Return what else is known: transport, era, acted host, server, references to the environment."""
    found: dict[str, Any] = {} if spec.transport is usual else {"transport": spec.transport.value}
    found |= {} if spec.era is EraChoice.AUTO else {"era": spec.era.value}
    found |= {"acts_as": spec.act_as} if spec.act_as else {}
    found |= {"server": spec.process_of} if spec.process_of not in ("", spec.name) else {}
    plain = {place: one.text for place, one in spec.references.items() if one.is_plain}
    return found | ({"references": plain} if plain else {})
