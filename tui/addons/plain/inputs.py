"""What plain mode reads: lines of a terminal or a pipe, each for the prompt or for a question.

On a terminal, lines are read at any time: one that was typed before a question appeared never answers it, and
waits as a message. From a pipe, a line is only read when one is expected: a question takes the next one.
"""

import asyncio
import os
import select
import sys
import threading
from collections import deque
from collections.abc import Collection
from contextlib import suppress
from typing import Any

from tui.addons.plain.transcript import YOU, Transcript
from tui.core.background import DaemonThread

CLOSE_SECONDS = 1.0
QUITS = frozenset({"/quit", "/exit", ":q", ":quit"})
"""Lines that quit, also at a question."""

QUITS_AT_PROMPT = QUITS | {"quit", "exit"}

PASTE_SECONDS = 0.03
"""Lines that follow on a terminal within this time were pasted together."""

MAX_BYTES = 1024 * 1024
"""Maximum bytes of a line. The rest of a longer one is another line."""


class Inputs:
    """The lines of stdin. `is_over`: they have ended, or one of them quits: `quits`."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._loop: asyncio.AbstractEventLoop | None = None
        self._number = sys.stdin.fileno()
        self.is_terminal = sys.stdin.isatty() and transcript.is_terminal
        self._editor: Any = _editor() if self.is_terminal else None
        if self._editor is not None:
            transcript.typed = self._editor.get_line_buffer
        self._bytes, self._has_ended = b"", False
        self._lines: deque[str] = deque()
        self._asked: asyncio.Future[str | None] | None = None
        self._arrived = asyncio.Event()
        self._wanted, self._wake = threading.Event(), os.pipe()
        self._thread = DaemonThread("read lines", self._run)
        self.is_over = self.quits = False
        self._edits = False
        self._mode = _mode_of(self._number)

    def begin(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._thread.start()

    def close(self) -> None:
        """Read no more, and restore the terminal, which a line that is being edited has changed."""
        self._thread.closing.set()
        os.write(self._wake[1], b"\n")
        if self._thread.join(
            0 if self._editor is not None else CLOSE_SECONDS
        ):  # one that edits a line cannot be woken
            for end in self._wake:
                os.close(end)
        if self._mode is not None:
            import termios

            with suppress(OSError, termios.error):
                termios.tcsetattr(self._number, termios.TCSANOW, self._mode)

    async def message(self, quits: Collection[str] = QUITS_AT_PROMPT) -> str | None:
        """Return the next line that is not an answer, None at the end of input."""
        while not self._lines and not self.is_over:
            if not self.is_terminal:
                self._want()
            self._arrived.clear()
            await self._arrived.wait()
        return self._took(self._lines.popleft(), quits) if self._lines else None

    async def answer(self) -> str | None:
        """Return the next line for a question, None at the end of input."""
        if self._lines and not self.is_terminal:
            return self._took(self._lines.popleft(), QUITS)
        if self.is_over:
            return None
        self._asked = asked = asyncio.get_running_loop().create_future()
        self.expect()
        try:
            line = await asked
        finally:
            self._asked = None
        if line is None or (line := self._took(line, QUITS)) is not None:
            return line
        self._arrived.set()  # nobody waits for a message any longer
        return None

    def expect(self) -> None:
        """Show that a line is expected."""
        if self.is_over:
            return
        if self.is_terminal and (self._editor is None or self._edits):
            self._transcript.prompt()
        self._want()

    def _took(self, line: str, quits: Collection[str]) -> str | None:
        if not self.is_terminal:
            self._transcript.say(YOU, line)
        if line.strip() not in quits:
            return line
        self.is_over = self.quits = True
        self._lines.clear()
        return None

    def _want(self) -> None:
        """Have the thread read a line; on a terminal that edits lines, with a prompt."""
        if not self._wanted.is_set():
            self._wanted.set()
            os.write(self._wake[1], b"\n")

    # ---- in the event loop -------------------------------------------------------------------------

    def _take(self, line: str | None) -> None:
        if line is None:
            self.is_over = True
            self._transcript.end()  # ctrl+d ends no line
        self._transcript.at_prompt = False
        self._transcript.answered()
        if self._asked is not None and not self._asked.done():
            self._asked.set_result(line)
        elif line is not None:
            self._lines.append(line)
        self._arrived.set()

    # ---- in the thread -----------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            while not self._thread.closing.is_set():
                line = self._read()
                if line is not None:
                    self._transcript.at_prompt = False  # now, so that no other line ends this one once more
                if line is not None and self.is_terminal and not line.startswith("/"):
                    line = self._with_pasted(line)
                self._wanted.clear()
                if self._loop is None or self._thread.closing.is_set():
                    return
                self._loop.call_soon_threadsafe(self._take, line)
                if line is None:
                    return
        except RuntimeError:  # the loop was closed meanwhile
            return

    def _read(self) -> str | None:
        """Return the next line; None at the end, and when this is closed."""
        while not self._has_ended:
            is_wanted = self._wanted.is_set()
            if (is_wanted or self.is_terminal) and (line := self._complete()) is not None:
                return line
            # Unless a prompt is shown, the terminal edits the line, so that others can write meanwhile.
            reads = [self._number] if is_wanted or self.is_terminal else []
            ready, _, _ = select.select([self._wake[0], *reads], [], [])
            if self._wake[0] in ready:
                os.read(self._wake[0], 64)
            if self._thread.closing.is_set():
                return None
            if self._number in ready:
                try:
                    piece = os.read(self._number, 64 * 1024)
                except OSError:
                    piece = b""
                if not piece and not self._bytes:
                    return None
                self._bytes += piece or b"\n"
            elif self._editor is not None and self._wanted.is_set():
                return self._edited()
        return None

    def _complete(self) -> str | None:
        """Take the first line of what was read, None if it is not complete."""
        line, ended, _rest = self._bytes[:MAX_BYTES].partition(b"\n")
        if not ended and len(line) < MAX_BYTES:
            return None
        self._bytes = self._bytes[len(line) + len(ended) :]
        return line.decode("utf-8", "replace").rstrip("\r")

    def _with_pasted(self, line: str) -> str:
        """Return a line and those that follow it at once, as one message: they were pasted."""
        lines = [line]
        while sum(map(len, lines)) < MAX_BYTES:
            if (more := self._complete()) is not None:
                lines.append(more)
            elif not select.select([self._number], [], [], PASTE_SECONDS)[0]:
                break
            elif piece := os.read(self._number, 64 * 1024):
                self._bytes += piece.replace(b"\r", b"\n")  # read while a line was edited
            else:
                self._has_ended = True
                break
        return "\n".join(lines)

    def _edited(self) -> str | None:
        begun, self._bytes = self._bytes.decode("utf-8", "replace"), b""
        self._editor.set_startup_hook((lambda: self._editor.insert_text(begun)) if begun else None)
        self._transcript.at_prompt = self._edits = True
        try:
            return input(f"{YOU}: ")
        except (EOFError, OSError):
            return None
        finally:
            self._edits = False


def _mode_of(number: int) -> Any:
    try:
        import termios
    except ImportError:  # Windows
        return None
    try:
        return termios.tcgetattr(number)
    except termios.error:
        return None


def _editor() -> Any:
    """Return the module with which lines can be edited and repeated, None on a terminal that is dumb."""
    if (term := os.environ.get("TERM", "dumb")) == "dumb":
        return None
    os.environ["TERM"] = "dumb"  # it writes no escape sequences to such a terminal, and still reads its keys
    try:
        import readline
    except ImportError:
        return None
    finally:
        os.environ["TERM"] = term
    readline.parse_and_bind("set enable-bracketed-paste off")
    return readline
