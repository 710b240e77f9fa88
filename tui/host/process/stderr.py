"""The last lines that a server wrote to stderr, at a cost that does not grow with their number.

Chunks are kept unchanged, and only the newest 64 KiB; they are split, decoded and cleaned when somebody
looks. Output on stderr is not a sign of an error.
"""

import asyncio
import re
from collections import deque
from collections.abc import Callable

from tui.core.jsonrpc.framing import Framer, Oversize
from tui.core.text import clean
from tui.core.units import size
from tui.host.process.pipes import PipeReader

KEPT = 64 * 1024
LINE_LIMIT = 4096
STDERR_CHUNK = 256 * 1024
REST = 0.004
"""Pause after every read: a flood of any kind, many small writes or few large ones, fills the pipe meanwhile
and costs one read. Drains up to 60 MB/s of a server at a few percent of one core (measured)."""

NOTED_BURST = 256 * 1024
NOTED_PER_SECOND = 64 * 1024.0

_STYLING = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
"""Control sequences (ECMA-48 CSI) such as colors, which a log does not need."""


class StderrTail:
    """A bounded tail of a byte stream, read as lines.

    `revision` grows with everything received; results for one revision stay valid.
    """

    def __init__(self, kept: int = KEPT) -> None:
        self.revision = 0
        self.total = 0
        self._kept = kept
        self._chunks: deque[bytes] = deque()
        self._held = 0
        self._lines: tuple[int, tuple[str, ...]] = (0, ())
        self._last: tuple[int, str] = (0, "")
        self._reason: tuple[int, str] = (0, "")

    def feed(self, chunk: bytes) -> None:
        self.total += len(chunk)
        self.revision += 1
        chunk = chunk[-self._kept :]
        self._chunks.append(chunk)
        self._held += len(chunk)
        while self._held - len(self._chunks[0]) >= self._kept:
            self._held -= len(self._chunks.popleft())
        # Many tiny chunks would each cost an object: join them now and then.
        if len(self._chunks) > 256:
            self._chunks = deque((b"".join(self._chunks)[-self._kept :],))
            self._held = len(self._chunks[0])

    def lines(self) -> tuple[str, ...]:
        """Return the kept lines, oldest first, cleaned, without empty ones."""
        if self._lines[0] != self.revision:
            found = self._read(b"".join(self._chunks), self.total > self._held)
            if not found and self.total > self._held:
                found = (f"… {size(self.total)} without a line break omitted",)
            self._lines = (self.revision, found)
        return self._lines[1]

    @property
    def last(self) -> str:
        if self._last[0] != self.revision:
            recent = b"".join(self._chunks)[-4 * LINE_LIMIT :]
            found = self._read(recent, len(recent) < self.total)
            self._last = (self.revision, found[-1] if found else "")
        return self._last[1]

    @property
    def reason(self) -> str:
        """The line that says why the process ended, the last one if none stands out."""
        if self._reason[0] != self.revision:
            from tui.host.process.reason_line import reason_line  # for servers that ended

            self._reason = (self.revision, reason_line(self.lines()))
        return self._reason[1]

    @staticmethod
    def _read(data: bytes, cut: bool) -> tuple[str, ...]:
        rows = data.split(b"\n")
        if cut and len(rows) > 1:
            del rows[0]  # its beginning is lost
        elif cut:  # a word that has lost its beginning may be a secret
            rows[0] = rows[0].partition(b" ")[2]
        return tuple(text for text in map(_line, rows) if text)


def _line(row: bytes) -> str:
    # A progress bar returns the carriage and overwrites itself: the last version counts.
    overwritten = row.rstrip(b"\r").rsplit(b"\r", 1)[-1]
    cut = overwritten[:LINE_LIMIT]
    text = clean(_STYLING.sub("", cut.decode("utf-8", "replace"))).rstrip()
    return text + "…" if len(cut) < len(overwritten) else text


class StderrSample:
    """Lines of stderr for the recording: all of them while they are few, none during a flood."""

    def __init__(self) -> None:
        self.omitted = 0
        self._framer = Framer(LINE_LIMIT)
        self._allowance = float(NOTED_BURST)
        self._at = 0.0

    def lines(self, chunk: bytes, now: float) -> list[bytes]:
        """Take the next bytes, at monotonic seconds `now`, and return the lines to record."""
        grown = self._allowance + (now - self._at) * NOTED_PER_SECOND
        self._allowance, self._at = min(NOTED_BURST, grown), now
        if len(chunk) > self._allowance:
            self.omitted += len(chunk)
            self._framer.finish()
            return []
        self._allowance -= len(chunk)
        return list(map(_whole, self._framer.feed(chunk)))

    def finish(self) -> bytes | None:
        line = self._framer.finish()
        return None if line is None else _whole(line)


def _whole(line: bytes | Oversize) -> bytes:
    """Return a line; of one that is too long its beginning, whose last word is whole: it may be a secret."""
    if not isinstance(line, Oversize):
        return line.removesuffix(b"\r")
    head = line.head.rpartition(b" ")[0]
    return head + f" … (a line of {size(line.size)})".encode()


async def drain(pipe: PipeReader, heard: Callable[[bytes], None]) -> None:
    """Read a pipe to its end, so that the server never blocks on it; `heard` gets every chunk."""
    while chunk := await pipe.read():
        heard(chunk)
        await asyncio.sleep(REST)
