"""A server as a subprocess, over its stdin and stdout.

Rules of the wire: MCP specification, "Transports: stdio", revisions 2024-11-05 to 2026-07-28.
"""

import asyncio
import contextlib
import math
import sys
import time
import uuid
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import Any

from tui.core.addons import brought
from tui.core.background import completed, first_of
from tui.core.jsonrpc.messages import Id, write_line
from tui.core.language.translate import message
from tui.core.servers import ServerSpec, Transport
from tui.core.traffic import CAUSE, Cause, Direction, TrafficSink
from tui.host.frames.id_gate import CANCELLED, CONNECTION_CLOSED, NEVER_SENT, Gate
from tui.host.frames.inbox import Inbox
from tui.host.frames.link import Link
from tui.host.frames.stage import Stage, all_idle, enter, release
from tui.host.frames.stdout_reader import Dialect, Refusal, StdoutReader
from tui.host.frames.tap import WireTap
from tui.host.process.process import KILL, ProcessExit, ServerProcess, exit_sentence, spawn
from tui.host.process.stderr import STDERR_CHUNK, StderrTail, drain
from tui.host.process.stop_ladder import StopGrace, descend, sweep
from tui.host.process.watchdog import Watchdog

if sys.platform == "win32":
    from tui.host.process.thread_pipes import ThreadReader as PipeReader
    from tui.host.process.thread_pipes import ThreadWriter as PipeWriter
else:
    from tui.host.process.pipes import PipeReader, PipeWriter

ENDLESS = 128 * 1024 * 1024
"""Maximum bytes of an unfinished line; until it ends, the server can send nothing else."""

LAST_WORDS = 4 * 1024 * 1024
"""Maximum bytes read from a pipe after its server has exited, because a grandchild may write forever."""

LAST_WORDS_SECONDS = 10.0
"""How long reading them may take; a crowded recording lets every chunk wait up to a second."""

LAST_LINE_SECONDS = 0.2

PROBE_SECONDS = 2.0
"""How long a server may take to answer `server/discover`; some ignore unknown methods."""

_CALL = "call"
"""Key of the line dialect's call, of which there is one at a time."""

EOF_SECONDS = 1.0
"""How long a server may keep running after it closed its stdout and can no longer answer."""


class StdioTransport:
    """One server process and its two streams: a `ServerTransport`, opened as by `open_transport`."""

    is_final = is_reopening = False

    def __init__(
        self,
        spec: ServerSpec,
        *,
        sink: TrafficSink,
        owner: str,
        is_modern: bool = False,
        grace: StopGrace | None = None,
        on_change: Callable[[], None] = lambda: None,
        watchdog: Watchdog | None = None,
        stages: Sequence[Stage] = (),
    ) -> None:
        self.stderr = StderrTail()
        self.fatal = self.next_step = ""
        self.reach = None
        self.leftovers: tuple[int, ...] = ()
        self.exited = asyncio.Event()
        self._spec = spec
        self._tap = WireTap(spec.name, sink)
        self.name, self.event_of = spec.name, self._tap.event_of
        self._mark = f"{owner}/{uuid.uuid4().hex[:12]}"
        self._is_modern = is_modern
        self._grace = grace or StopGrace()
        self._on_change = on_change
        self._watchdog = watchdog
        self.stages = stages
        self._hurry = asyncio.Event()
        self._stopping = False
        self._inbox = Inbox()
        self.gate = Gate(self._inbox, self._put_on_wire, given_up=self._gave_up)
        self._dialect = self._line_dialect() if spec.transport is Transport.LINES else None
        self._intake = StdoutReader(
            self.gate,
            self._inbox,
            self._tap,
            dialect=self._dialect,
            refuse=self._refuse,
            printed=self.stderr.printed,
            stages=stages,
            end=_End(self, None),
        )
        self.messages = self._intake.messages
        self._process: ServerProcess | None = None
        self._stdin: PipeWriter | None = None
        self._pipes: tuple[PipeReader, ...] = ()
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def pid(self) -> int | None:
        alive = self._process is not None and self._process.exit is None
        return self._process.pid if self._process is not None and alive else None

    @property
    def exit(self) -> ProcessExit | None:
        return self._process.exit if self._process is not None else None

    @property
    def noise_hint(self) -> str:
        return self._intake.hint

    @property
    def incomplete(self) -> int:
        return self._intake.incomplete

    async def __aenter__(self) -> Link:
        """Raises ServerError if it cannot be started."""
        popen = spawn(self._spec, self._mark)
        # Nothing is awaited from here to the end, so that no cancellation can lose the process.
        self._process = ServerProcess(popen, self._leader_died, self._signalled)
        self._tap.spawned(self._spec, popen.pid)
        if self._watchdog is not None:
            self._watchdog.add(popen.pid)
        assert popen.stdin is not None and popen.stdout is not None and popen.stderr is not None
        self._stdin = PipeWriter(popen.stdin, broken=self._cannot_write)
        reader = PipeReader(popen.stdout)
        errors = PipeReader(popen.stderr, STDERR_CHUNK)
        self._pipes = (reader, errors)
        listening = asyncio.create_task(drain(errors, self._heard))
        self._tasks = [listening, asyncio.create_task(self._read_stdout(reader, listening))]
        probe_seconds = math.inf if self._is_modern else PROBE_SECONDS
        return Link(self._inbox, self._send, self.gate.new_id, probe_seconds, self.gate.give_up_probe)

    async def __aexit__(self, *_: object) -> None:
        await completed(self._stop())

    async def kill_now(self) -> None:
        """Kill the server; a stop in progress skips its waits."""
        self._hurry.set()
        if self._process is not None:
            self._process.signal_group(KILL)

    def _signalled(self, name: str) -> None:
        self.stderr.cut()
        self._tap.signalled(name)

    async def _stop(self) -> None:
        process, stdin = self._process, self._stdin
        assert process is not None and stdin is not None
        self._stopping = True
        release(self.stages, Direction.OUT)
        release(self.stages, Direction.IN)
        self._tap.event("stop")
        self._inbox.close()
        if self._dialect is not None:
            self._dialect.shutdown()
        try:
            await descend(process, stdin, self._grace, self._hurry)
            patience = 0.0 if self._hurry.is_set() else self._grace.stragglers
            self.leftovers = await asyncio.to_thread(sweep, process, self._mark, patience)
            if process.exit is not None:  # its last output is still in the pipes
                await first_of(asyncio.wait(self._tasks), self._hurry.wait(), seconds=LAST_WORDS_SECONDS)
            for pipe in self._pipes:
                pipe.close()
            await asyncio.gather(*self._tasks)
        finally:
            self._release(process, stdin)

    def _release(self, process: ServerProcess, stdin: PipeWriter) -> None:
        """Clean up completely, even if the stop was interrupted."""
        process.destroy()
        self._tap.heard_all()
        self._tap.exited(process.exit)
        if self._watchdog is not None:
            self._watchdog.remove(process.pid)
        stdin.close()
        for pipe in self._pipes:
            pipe.close()
        for task in self._tasks:
            task.cancel()
        self.exited.set()

    def _send(self, message: dict[str, Any], headers: object = None) -> bool:
        if self.exited.is_set() or self._stopping or self.fatal:
            return False
        line = write_line(message)  # first: what is not JSON must not be pending
        if not self.gate.outgoing(message) or self._takes_back(message):
            return True
        taken = self._put_on_wire(message, line)
        # A server that closed its input is about to exit: pending requests fail then, with the reason.
        return taken or self._stdin is None or self._stdin.closed

    def _put_on_wire(self, message: Mapping[str, Any], line: bytes | None = None) -> bool:
        if self._dialect is not None:
            return self._dialect.outgoing(message)
        key = message.get("id") if "method" in message else None
        return self._write_line(write_line(message) if line is None else line, key)

    def _write_line(self, line: bytes, key: Hashable = None) -> bool:
        if not all_idle(self.stages):
            enter(self.stages, _End(self, CAUSE.get()), Direction.OUT, line)
            return True
        at = time.monotonic_ns()
        is_written = self._stdin is not None and self._stdin.write(line + b"\n", key)
        self._tap.sent(line, at_ns=at)  # the server works meanwhile
        return is_written

    def pass_on(self, direction: Direction, raw: bytes, cause: Cause | None) -> None:
        """Take a message that has passed the stages."""
        if direction is Direction.IN:
            self._intake.put(raw)
        elif self._stdin is not None and not self._stdin.closed:
            self._tap.sent(raw, cause)
            self._stdin.write(raw + b"\n")
        else:
            self._tap.event_of(cause, "not sent", bytes=len(raw))

    def lose(self) -> None:
        """End the server as if the connection to it had been lost."""
        if self._process is not None and not self._stopping:
            self._end(message("the connection was lost on purpose"))

    def _takes_back(self, message: Mapping[str, Any]) -> bool:
        """Whether a message cancels a request that the server never sees."""
        if message.get("method") != CANCELLED or self._dialect is not None:
            return False
        return self._withdraw(wire_id := message["params"]["requestId"], wire_id)

    def _withdraw(self, wire_id: Id, key: Hashable) -> bool:
        """Take back a request that still waits for the server to read; return whether it did."""
        taken = self._stdin is not None and self._stdin.withdraw(key)
        if taken:
            self._tap.withdrew(wire_id, NEVER_SENT)
        return taken

    def _line_dialect(self) -> Dialect:
        made: Dialect = brought("transport", self._spec.transport.value)(
            self.gate,
            self._spec.name,
            write=lambda line: self._write_line(line, _CALL),
            refuse=self._refuse,
            log=self._note,
            gave_up=self._free_call,
        )
        return made

    def _free_call(self, wire_id: str, why: str) -> bool:
        """Give up a call of the line dialect; return whether the server never sees it."""
        taken = self._withdraw(wire_id, _CALL)
        if not taken:
            self._tap.gave_up(wire_id, why)
        return taken

    def _note(self, line: str) -> None:
        self.stderr.feed(line.encode("utf-8", "replace") + b"\n")
        self._tap.event("note", text=line)
        self._changed()

    def _gave_up(self, wire_id: Id, why: str) -> None:
        if self._dialect is not None:
            self._dialect.free(wire_id, why)
        else:
            self._tap.gave_up(wire_id, why)

    def _refuse(self, refusal: Refusal) -> None:
        """Give up a server that does not speak the configured protocol, which ends the session."""
        self.fatal, self.next_step = refusal
        self.gate.fail_all(CONNECTION_CLOSED, refusal.why)

    def _changed(self) -> None:
        with contextlib.suppress(Exception):  # a bug in a listener must not affect the server
            self._on_change()

    async def _read_stdout(self, pipe: PipeReader, listening: asyncio.Task[None]) -> None:
        why = message("it closed its stdout")
        try:
            while chunk := await pipe.read():
                rejected = self.messages.rejected
                await self._intake.take(chunk)
                if self.messages.rejected != rejected:
                    self._changed()
                if self._intake.incomplete > ENDLESS:
                    self._end(message("it wrote {limit} MiB without a line break", limit=ENDLESS // 1024**2))
                    break
            await self._intake.finish()
        except Exception as defect:  # its calls must not wait forever, whatever it wrote
            why = message("cannot read its output: {name}", name=type(defect).__name__)
        await self._over(why, listening)

    def _heard(self, chunk: bytes) -> None:
        self.stderr.feed(chunk)
        self._tap.heard(chunk)
        self._changed()

    def _leader_died(self) -> None:
        if self._stdin is not None:
            self._stdin.close()
        for pipe in self._pipes:
            pipe.expect_no_more(LAST_WORDS)

    def _cannot_write(self, why: str) -> None:
        if not self._stopping:
            self._tasks.append(asyncio.create_task(self._end_unless_gone(why)))

    async def _end_unless_gone(self, why: str) -> None:
        """End a server that cannot be reached, unless it is exiting."""
        assert self._process is not None
        await first_of(self._process.exited.wait(), seconds=EOF_SECONDS)
        if self._process.exit is None and not self._stopping:
            self._end(why)

    def _end(self, why: str) -> None:
        assert self._process is not None
        self.fatal = self.fatal or message("{why}, so mcptui ended it", why=why)
        self._process.signal_group(KILL)

    async def _over(self, why: str, listening: asyncio.Task[None]) -> None:
        """Announce the end: first to pending calls, then through `exited`."""
        assert self._process is not None
        await self._end_unless_gone(why)
        if self._process.exit is None:
            await first_of(self._process.exited.wait(), seconds=EOF_SECONDS)
        await asyncio.wait((listening,), timeout=LAST_LINE_SECONDS)
        if listening.done():
            self._tap.heard_all()
        release(self.stages, Direction.OUT)  # to nobody
        self._tap.exited(self.exit, self.gate.unanswered)
        if self._dialect is not None:
            self._dialect.close()
        self.gate.fail_all(CONNECTION_CLOSED, exit_sentence(self.exit, self.fatal, self.stderr.reason))
        if not self._stopping:
            await self._inbox.hand_over()
        self.exited.set()
        self._changed()


class _End:
    """The end of the stages of one server, for messages of one cause: a `PassOn`."""

    exchange, is_gone = 0, False

    def __init__(self, transport: StdioTransport, cause: Cause | None) -> None:
        self.source, self.lose = transport.name, transport.lose
        self.event = partial(transport.event_of, cause)
        self._pass_on, self._cause = transport.pass_on, cause

    def __call__(self, direction: Direction, raw: bytes, /) -> None:
        self._pass_on(direction, raw, self._cause)

    def hears(self, direction: Direction) -> bool:
        return True

    def refuse(self, status: int, headers: Mapping[str, str]) -> None:
        """Do nothing: there is no status over stdio."""
