"""Reads a server's stdout from the pipe to the gate: split into lines, shown to the tap, parsed."""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from tui.core.jsonrpc.framing import LINE_LIMIT, Framer, Oversize
from tui.core.jsonrpc.messages import INVALID_ANSWER, NOT_JSON, Id, Stray, find_ids, find_messages
from tui.core.jsonrpc.noise import HOPELESS, is_hello, noise_kind
from tui.core.language.translate import message
from tui.core.traffic import Direction
from tui.host.frames.id_gate import RESULT_TOO_LARGE, Gate
from tui.host.frames.inbox import Inbox
from tui.host.frames.message_reader import LARGE, MessageReader
from tui.host.frames.stage import PassOn, Stage, all_idle, enter, release
from tui.host.frames.tap import WireTap

_LOOKED_AT = 50
"""Lines of noise that are checked for a known kind; a megabyte of garbage would match every kind."""


class Refusal(NamedTuple):
    """The reason why a server cannot be used with its configuration, and what to do."""

    why: str
    next_step: str


IS_DIALECT = Refusal(
    message('this server speaks the non-standard "hello" line dialect'),
    message('Set transport = "lines" in its configuration.'),
)


class Dialect(Protocol):
    """Translates the lines of a server that does not speak JSON-RPC. None of its methods may wait."""

    def read(self, raw: bytes, *, patient: bool = False) -> Sequence[Any]:
        """Return what a line says, as `read_line` does for JSON-RPC; without an object, why it has none."""

    def incoming(self, line: Any) -> bool:
        """Take what `read` returned; return False if it does not belong to this dialect."""

    def outgoing(self, message: Mapping[str, Any]) -> bool:
        """Take a message of the session; return False if it cannot be sent."""

    def free(self, wire_id: Id | None, why: str, *, has_late: bool = False) -> None:
        """Stop waiting for a call. If it `has_late`, its answer may still come."""

    def shutdown(self) -> None:
        """Ask the server to end."""

    def close(self) -> None:
        """Write nothing more."""


class StdoutReader:
    """Parses lines into messages and passes them to the gate; the tap gets every line first, unchanged.

    With a `dialect`, lines are passed to it instead. `refuse` ends a server that speaks another language than
    the configured one. `printed` gets each line that was not a message; `messages` counts them. Lines pass
    `stages`, whose `end` calls `put`.
    """

    def __init__(
        self,
        gate: Gate,
        inbox: Inbox,
        tap: WireTap,
        *,
        dialect: Dialect | None = None,
        refuse: Callable[[Refusal], None] = lambda why: None,
        printed: Callable[[bytes], None] = lambda line: None,
        stages: Sequence[Stage] = (),
        end: PassOn | None = None,
    ) -> None:
        self._hint = ""
        self._sound = False
        self._ended = False
        self._gate = gate
        self.messages = MessageReader(gate, inbox)
        self._tap = tap
        self._dialect = dialect
        self._refuse = refuse
        self._printed = printed
        self._framer = Framer()
        self._stages, self._end = stages, end
        self._passed: deque[bytes] = deque()
        self._is_taking = False
        self._late: asyncio.Task[None] | None = None

    @property
    def hint(self) -> str:
        """The kind of noise, if it is known, or ""; incomplete lines count too."""
        return self._hint or (noise_kind(self._framer.opening) if self._framer.partial else "")

    @property
    def incomplete(self) -> int:
        return self._framer.partial

    def put(self, line: bytes) -> None:
        """Take a line that has passed the stages, at once or after it waited."""
        self._passed.append(line)
        if not self._is_taking and (self._late is None or self._late.done()):
            self._late = asyncio.create_task(self._passed_lines())

    async def _passed_lines(self) -> None:
        while self._passed:
            await self._line(self._passed.popleft())

    async def _staged(self, line: bytes) -> None:
        """Hand a line to the stages, and take what they pass on."""
        if self._late is not None:
            await self._late
            self._late = None
        if self._end is None or all_idle(self._stages):
            await self._line(line)
            return
        self._is_taking = True
        try:
            enter(self._stages, self._end, Direction.IN, line)
            await self._passed_lines()
        finally:
            self._is_taking = False

    async def take(self, chunk: bytes) -> None:
        at = time.monotonic_ns()
        await self._tap.wait_for_room()
        messages = self.messages
        messages.begin()
        lines = self._framer.feed(chunk)
        whole = [line for line in lines if isinstance(line, bytes)]
        if at_once := len(whole) == len(lines):
            self._tap.received_all(whole, at)
        for line in lines:
            if isinstance(line, Oversize):
                self._oversize(line, at)
            else:
                if not at_once:
                    self._tap.received(line, at)
                if line[:1] != b"{" or not messages.drop_surplus(line.removesuffix(b"\r")):
                    await self._staged(line)
            if messages.is_rest_due:
                await messages.rest()
        await messages.rest()

    async def finish(self) -> None:
        """Take the end of the stream: a complete message without its newline still counts."""
        line = self._framer.finish()
        self._ended = True
        if isinstance(line, Oversize):
            self._oversize(line, time.monotonic_ns())
        elif line is not None:
            self._tap.received(line, time.monotonic_ns(), ended=False)
            await self._line(line)
        release(self._stages, Direction.IN)
        if self._late is not None:
            await self._late

    async def _line(self, line: bytes) -> None:
        start = line[:16].removeprefix(b"\xef\xbb\xbf").lstrip()
        if not start and not line.strip():
            return
        line = line.removesuffix(b"\r")
        if self.messages.noise > _LOOKED_AT and start[:1] not in (b"{", b"[") and b'{"' not in line:
            self.messages.noise += 1  # one more line of a flood of printed output
            self._printed(line)
            return
        if (dialect := self._dialect) is None:
            messages: Sequence[Any] = await self.messages.parse(line)
        else:
            messages = await self.messages.read(
                len(line), lambda patient: dialect.read(line, patient=patient)
            )
        for one in messages:
            self._take(one, line)

    def _take(self, received: Any, line: bytes) -> None:
        if isinstance(received, Stray) and (
            self._ended or (received.why == NOT_JSON and self._rescued(line))
        ):
            self._reject(line, received.why)  # a call whose response is truncated gets the exit as its reason
            return
        if self._dialect is not None:
            taken = self._dialect.incoming(received)
        else:
            taken = self.messages.admit(received, len(line))
        if taken:
            self._sound = True
        elif self._dialect is None and not self._sound and is_hello(line):
            self._refuse(IS_DIALECT)
        else:
            self._reject(line, received.why if isinstance(received, Stray) else "")

    def _rescued(self, line: bytes) -> bool:
        """Take the responses among other output; return whether there was one.

        Only a response to a pending request counts, because a log may quote anything.
        """
        if len(line) > LARGE:
            return False
        found = [one for one in find_messages(line) if self._gate.waits_for(one)]
        for one in found:
            self._gate.incoming(one)
        return bool(found)

    def _reject(self, line: bytes, why: str) -> None:
        """Count an invalid message, or a line that was printed."""
        hint = noise_kind(line) if self.messages.rejected <= _LOOKED_AT else ""
        self._hint = self._hint or hint
        if not self.messages.reject(line, hint or why) or self._ended:
            self._printed(line)
        if hint in HOPELESS and not self._sound:
            self._gate.fail_all(
                INVALID_ANSWER, message("the server's response is invalid: {hint}", hint=hint)
            )

    def _oversize(self, line: Oversize, at: int) -> None:
        said = message("a line of {size} bytes (limit: {limit})", size=line.size, limit=LINE_LIMIT)
        # First, so that the recording and the session agree that the call failed.
        failed = self._gate.fail(
            find_ids(line.head, line.tail), RESULT_TOO_LARGE, message("result too large: {said}", said=said)
        )
        self._tap.received(line.head, at, line.size, sha256=line.sha256, ended=not self._ended)
        self._tap.event("too large", bytes=line.size, limit=LINE_LIMIT)
        if not failed:
            self._reject(line.head, said)
