"""Keeps the last 64 KiB that a server wrote to stderr, at a cost that does not grow with its lines.

Lines that it printed to stdout, where only messages belong, are kept among them, marked as such.

Only the newest 64 KiB are kept, with long lines shortened in the middle, so that one line does not displace
all others. Lines are split, decoded and cleaned only when they are shown. Output on stderr does not indicate
an error.

`reason_line` finds the line that says why a server ended. Package runners end their output with advice: npm
with the path of a log, docker with "Run 'docker run --help'", Node.js with its version. The line with the
reason is above.
"""

import asyncio
import os
import re
import time
from collections import deque
from collections.abc import Callable, Sequence

from tui.core.jsonrpc.framing import Framer, Oversize
from tui.core.text import clean, without_styling
from tui.core.units import size
from tui.host.process.pipes import PipeReader

KEPT = 64 * 1024
LINE_LIMIT = 4096
LONG_LINE = 16 * 1024
"""Bytes of a line; longer ones are shortened in the middle."""

PRINTED_BURST, PRINTED_PER_SECOND = 200, 20.0
"""Lines of stdout that are kept at once and per second. A flood must not displace stderr."""

PRINTED_LIMIT = 1024
ON_STDOUT = "stdout: "
"""Begins a line that was printed to stdout. A line of stderr that begins so too gets `stderr: ` before it."""

_END = LINE_LIMIT // 3
STDERR_CHUNK = 256 * 1024
REST = 0.004
"""Pause after every read: a flood of any kind, many small writes or few large ones, fills the pipe meanwhile
and costs one read. Drains up to 60 MB/s of a server at a few percent of one core (measured)."""

NOTED_BURST = 256 * 1024
NOTED_PER_SECOND = 64 * 1024.0


class StderrTail:
    """A bounded tail of a byte stream, read as lines."""

    def __init__(self) -> None:
        self._revision = 0  # grows with everything received
        self._chunks: deque[bytes] = deque()  # whole lines
        self._held = 0
        self._open = bytearray()
        self._open_size = 0
        self._last: tuple[int, str] = (0, "")
        self._reason: tuple[int, str] = (0, "")
        self._cut: tuple[str, str, tuple[str, ...]] | None = None
        self._printed = os.urandom(12).hex().encode()  # marks the lines of stdout: a server cannot know it
        self._allowance, self._printed_at = float(PRINTED_BURST), 0.0
        self._printed_omitted = 0

    def printed(self, line: bytes) -> None:
        """Keep a line of stdout that is not a message. In a flood, lines are only counted."""
        now = time.monotonic()
        grown = self._allowance + (now - self._printed_at) * PRINTED_PER_SECOND
        self._allowance, self._printed_at = min(float(PRINTED_BURST), grown), now
        if self._allowance < 1:
            self._printed_omitted += 1
            return
        self._allowance -= 1
        self._revision += 1
        if self._printed_omitted:
            self._keep(self._printed + f"… {self._printed_omitted:,} lines omitted".encode() + b"\n")
            self._printed_omitted = 0
        if len(line) > PRINTED_LIMIT:  # between words, because part of a word may be part of a secret
            line = line[:PRINTED_LIMIT].rpartition(b" ")[0] + b" \xe2\x80\xa6"
        self._keep(self._printed + line.replace(b"\n", b" ") + b"\n")

    def feed(self, chunk: bytes) -> None:
        self._revision += 1
        first, newline, rest = chunk.partition(b"\n")
        self._extend(first)
        if not newline:
            return
        whole, newline, last = rest.rpartition(b"\n")
        self._keep(
            _shortened(bytes(self._open), self._open_size) + b"\n" + _without_long_lines(whole) + newline
        )
        self._open, self._open_size = bytearray(), 0
        self._extend(last)

    def _extend(self, piece: bytes) -> None:
        """Add a part of the line that has not ended."""
        self._open += piece
        self._open_size += len(piece)
        if len(self._open) > 2 * LONG_LINE:
            del self._open[_END:-LONG_LINE]

    def _keep(self, lines: bytes) -> None:
        lines = self._newest(lines)
        self._chunks.append(lines)
        self._held += len(lines)
        while self._held - len(self._chunks[0]) >= KEPT:
            self._held -= len(self._chunks.popleft())
        # Many tiny chunks would each cost an object: join them now and then.
        if len(self._chunks) > 256:
            self._chunks = deque((self._newest(b"".join(self._chunks)),))
            self._held = len(self._chunks[0])

    def _newest(self, lines: bytes) -> bytes:
        """Return the newest lines, without a truncated first one, because it may be part of a secret."""
        if len(lines) <= KEPT:
            return lines
        return lines[lines.find(b"\n", len(lines) - KEPT - 1) + 1 :]

    def cut(self) -> None:
        """Note that mcptui signals the process: what it writes from now on says nothing about why."""
        if self._cut is None:
            self._cut = self.last, self.reason, self.lines()

    @property
    def own_lines(self) -> tuple[str, ...]:
        """The kept lines from before the first signal of mcptui."""
        return self.lines() if self._cut is None else self._cut[2]

    def lines(self) -> tuple[str, ...]:
        """Return the kept lines, oldest first, cleaned, without empty ones."""
        return self._read(b"".join(self._chunks))

    @property
    def last(self) -> str:
        """The last line that the process wrote before it was signalled."""
        if self._cut is not None:
            return self._cut[0]
        if self._last[0] != self._revision:
            recent = b"".join(self._chunks)[-2 * LONG_LINE :]
            if len(recent) == 2 * LONG_LINE:
                recent = recent.partition(b"\n")[2]
            found = self._read(recent, printed=False)
            self._last = (self._revision, found[-1] if found else "")
        return self._last[1]

    @property
    def reason(self) -> str:
        """The line that says why the process ended, else the last line."""
        if self._cut is not None:
            return self._cut[1]
        if self._reason[0] != self._revision:
            self._reason = (self._revision, reason_line(self._read(b"".join(self._chunks), printed=False)))
        return self._reason[1]

    def _read(self, lines: bytes, *, printed: bool = True) -> tuple[str, ...]:
        rows = [*lines.split(b"\n"), _shortened(bytes(self._open), self._open_size)]
        if not printed:
            rows = [row for row in rows if not row.startswith(self._printed)]
        found = []
        for row in rows:
            text, mark = _line(row.removeprefix(self._printed)), ""
            if row.startswith(self._printed):
                mark = ON_STDOUT
            elif text.startswith(ON_STDOUT):
                mark = "stderr: "
            if text:
                found.append(mark + text)
        return tuple(found)


def _without_long_lines(lines: bytes) -> bytes:
    """Return lines with each long one shortened; finding out costs little if there is none."""
    start = 0
    while len(lines) - start > LONG_LINE:
        end = lines.rfind(b"\n", start, start + LONG_LINE)
        if end < 0:
            return b"\n".join(_shortened(line, len(line)) for line in lines.split(b"\n"))
        start = end + 1
    return lines


def _shortened(line: bytes, length: int) -> bytes:
    """Return a line of `length` bytes, given its beginning and end; a long one is shortened to its ends.

    The cut is between words, because part of a word may be part of a secret.
    """
    if length <= LONG_LINE:
        return line
    head, tail = line[:_END].rpartition(b" ")[0], line[-_END:].partition(b" ")[2]
    mark = f"… {size(length - len(head) - len(tail))} without a line break omitted"
    return b" ".join(part for part in (head, mark.encode(), tail and b"\xe2\x80\xa6 " + tail) if part)


def _line(row: bytes) -> str:
    # A progress bar overwrites itself with carriage returns: only the last version counts.
    overwritten = row.rstrip(b"\r").rsplit(b"\r", 1)[-1]
    cut = overwritten[:LINE_LIMIT]
    text = clean(without_styling(cut.decode("utf-8", "replace"))).rstrip()
    return text + "…" if len(cut) < len(overwritten) else text


class StderrSample:
    """Selects lines of stderr for the recording: all of them at a normal rate, none during a flood.

    `omitted` counts the bytes of a flood until they are reported.
    """

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
    """Return a line, truncated between words if it is too long: part of a word may be part of a secret."""
    if not isinstance(line, Oversize):
        return line.removesuffix(b"\r")
    head = line.head.rpartition(b" ")[0]
    return head + f" … (a line of {size(line.size)})".encode()


async def drain(pipe: PipeReader, heard: Callable[[bytes], None]) -> None:
    """Read a pipe to its end, so that the server never blocks on it; `heard` gets every chunk."""
    while chunk := await pipe.read():
        heard(chunk)
        await asyncio.sleep(REST)


LOOKED_AT = 60
"""Number of last lines that are searched for the reason."""

_NPM = re.compile(r"npm (?:error|ERR!) ?(.*)")
_NPM_FACT = re.compile(
    r"(?:code|syscall|errno|path|dest|command|cwd|signal|A complete log|Log files|\d+\s*$)"
)
_ADVICE = re.compile(
    r"npm (?:notice|warn|WARN|http|info)\b|Run '.*--help'|See '.*--help'|For more information,? try|"
    r"Node\.js v\d|hint:|note:|\s*\}$|\s+at \S|Usage:"
)
_ERROR = re.compile(
    r"(?i:(?:[\w./-]+: )?(?:error|fatal|panic)\b(?:\[\w+\])?:|(?:[\w./-]+: )?error (?:response|during)\b)|"
    r"(?:Uncaught )?(?:\w+\.)*[A-Z]\w*(?:Error|Exception)(?: \[\w+\])?(?::|$)|"
    r"\w+: (?:Cannot|Unable to|Unknown|invalid)\b"
)
_UV_CAUSE = "╰─▶"


def reason_line(lines: Sequence[str]) -> str:
    """Return the line that says why a process ended, else the last line, "" without lines."""
    recent = list(lines[-LOOKED_AT:])
    return _npm(recent) or _uv(recent) or _error(recent) or (recent[-1] if recent else "")


def _npm(lines: Sequence[str]) -> str:
    """Return npm's first line with text: "npm error 404 Not Found - GET …"; its code if there is none."""
    said = [(line, found[1]) for line in lines if (found := _NPM.match(line))]
    codes = [index for index, (_, words) in enumerate(said) if words.startswith("code ")]
    told = said[codes[-1] :] if codes else said
    for line, words in told:
        if words.strip() and not _NPM_FACT.match(words.strip()):
            return line
    return told[0][0] if codes else ""


def _uv(lines: Sequence[str]) -> str:
    """Return uv's cause, which it wraps over several lines."""
    starts = [index for index, line in enumerate(lines) if line.lstrip().startswith(_UV_CAUSE)]
    if not starts:
        return ""
    first = lines[starts[-1]]
    indent = len(first) - len(first.lstrip()) + len(_UV_CAUSE)
    words = [first.lstrip().removeprefix(_UV_CAUSE).strip()]
    for line in lines[starts[-1] + 1 :]:
        if len(line) - len(line.lstrip()) < indent:
            break
        words.append(line.strip())
    return " ".join(words)


def _error(lines: Sequence[str]) -> str:
    """Return the last line that names an error, unless more text follows it."""
    relevant = [line for line in lines if not _ADVICE.match(line)]
    if not relevant or _ERROR.match(relevant[-1]):
        return relevant[-1] if relevant else ""
    starts = [index for index, line in enumerate(lines) if line.startswith("Traceback (most recent call")]
    for line in lines[starts[-1] + 1 :] if starts else ():
        if not line.startswith(" "):
            return line
    # Node.js prints its error above the stack and the fields of the error object.
    for index in range(len(relevant) - 1, -1, -1):
        if _ERROR.match(relevant[index]) and all(
            line.startswith((" ", "}")) for line in relevant[index + 1 :]
        ):
            return relevant[index]
    return relevant[-1] if relevant[-1] != lines[-1] else ""
