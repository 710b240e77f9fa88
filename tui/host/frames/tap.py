"""What one server's transport saw, made into `Captured` values: the first thing that happens to any byte."""

import asyncio
import contextlib
import json
import time
from collections.abc import Callable
from typing import Any

from tui.core.servers import ServerSpec
from tui.core.traffic import CAUSE, Captured, Direction, Kind, TrafficSink
from tui.host.process.process import ProcessExit
from tui.host.process.stderr import StderrSample

ROOM_SECONDS, ROOM_CHECKS = 0.02, 50


class WireTap:
    """Tells a sink of everything that travels to and from one server, and of what happens to its process.

    Args:
        source: the server's name.
        sink: promises not to raise and not to wait; if it raises all the same, no server pays for it. It
            may have `crowded()`, which asks to be given no more for a moment.
    """

    def __init__(self, source: str, sink: TrafficSink) -> None:
        self._source = source
        self._sink = sink
        self._crowded: Callable[[], bool] = getattr(sink, "crowded", bool)
        self._log = StderrSample()
        self._log_gap = 0
        self._exit_told = False

    async def wait_for_room(self) -> None:
        """Wait while the sink is crowded, a second at most: its server waits too, and nothing is lost."""
        for _ in range(ROOM_CHECKS):
            if not self._crowded():
                return
            await asyncio.sleep(ROOM_SECONDS)

    def sent(self, line: bytes) -> None:
        """Note a line that is written to the server, and on whose behalf."""
        self._tell(Direction.OUT, None, time.monotonic_ns(), line, cause=CAUSE.get())

    def received(
        self, line: bytes, at_ns: int, size: int = -1, *, sha256: str = "", ended: bool = True
    ) -> None:
        """Note a line of the server's output, whatever it is.

        Args:
            line: its bytes without the newline, or only their beginning.
            at_ns: monotonic nanoseconds at which its end was read.
            size: its length in bytes if `line` is only its beginning.
            sha256: hex digest of all of it, then.
            ended: whether it had a newline; the last line of a stream may lack it.
        """
        detail = ({} if ended else {"newline": False}) | ({"sha256": sha256} if sha256 else {})
        self._tell(Direction.IN, None, at_ns, line, size=size, detail=detail)

    def heard(self, chunk: bytes) -> None:
        """Note the next bytes of the server's log, line by line; a flood is left out, and that is noted."""
        at = time.monotonic_ns()
        lines = self._log.lines(chunk, at / 1e9)
        if lines:
            self._tell_log_gap()
        for line in lines:
            self._tell(Direction.NONE, Kind.STDERR, at, line)

    def heard_all(self) -> None:
        """Note the end of the server's log."""
        if (last := self._log.finish()) is not None:
            self._tell(Direction.NONE, Kind.STDERR, time.monotonic_ns(), last)
        self._tell_log_gap()

    def spawned(self, spec: ServerSpec, pid: int) -> None:
        """Note that the server's process was started; of its environment only the names are told."""
        self.event("spawn", pid=pid, argv=[*spec.shown_command], cwd=spec.cwd or "", env=sorted(spec.env))

    def signalled(self, name: str) -> None:
        """Note that the server was sent a signal."""
        self.event("signal", signal=name)

    def gave_up(self, wire_id: object, why: str) -> None:
        """Note that a request is waited for no longer, although its server has not answered."""
        self.event("gave up", id=wire_id, why=why)

    def exited(self, ended: ProcessExit | None) -> None:
        """Note how the server's process ended, once."""
        if ended is None or self._exit_told:
            return
        self._exit_told = True
        self.event("exit", code=ended.code, signal=ended.signal, seconds=round(ended.after_seconds, 3))

    def event(self, word: str, **what: Any) -> None:
        """Note what happened to the connection or its process.

        Args:
            word: what happened ("spawn", "stop", "signal", "exit", …).
            what: JSON values.
        """
        detail = {"event": word, **what}
        raw = json.dumps(detail, ensure_ascii=False).encode("utf-8", "backslashreplace")
        self._tell(Direction.NONE, Kind.EVENT, time.monotonic_ns(), raw, detail=detail)

    def _tell_log_gap(self) -> None:
        if (missing := self._log.omitted - self._log_gap) > 0:
            self._log_gap = self._log.omitted
            self.event("log left out", bytes=missing)

    def _tell(self, direction: Direction, kind: Kind | None, at_ns: int, raw: bytes, **more: Any) -> None:
        with contextlib.suppress(Exception):
            # Both clocks tell the same moment, also of what had to wait before it was looked at.
            wall_ns = time.time_ns() - (time.monotonic_ns() - at_ns)
            self._sink(Captured(self._source, direction, at_ns, wall_ns, raw, kind, **more))
