"""A program in its own terminal: its output as bytes and as a screen, and sending it keys."""

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, ClassVar
from unicodedata import combining

import psutil
import pyte
from pyte.modes import IRM
from pyte.screens import Char
from wcwidth import wcwidth

from tests.terminal.forking_python import Forks, TerminalFork
from tests.trusted import trusting

ROOT = Path(__file__).parents[2]
FAKE_APP = ROOT / "tests" / "terminal" / "fake_app.py"
WATCHED_APP = ROOT / "tests" / "terminal" / "watched_app.py"

FRAME_BEGINS, FRAME_ENDS = b"\x1b[?2026h", b"\x1b[?2026l"
"""Synchronised output: a terminal shows everything written between them at once."""

_MODE = re.compile(rb"\x1b\[\?([\d;]+)([hl])")
_STYLE = re.compile(rb"\x1b\[[\d;]*m")


@cache
def _cell(character: str) -> Char | None:
    """Return the cell of a character that takes one, None for any other character."""
    return Char(character) if wcwidth(character) == 1 else None


class Screen(pyte.Screen):
    """Draws a text that fits in its line at once: most do. Cells have no style."""

    def draw(self, data: str) -> None:
        cells = [_cell(character) for character in data]
        x, end = self.cursor.x, self.cursor.x + len(cells)
        if end > self.columns or None in cells or self.charset or IRM in self.mode:
            # pyte would drop all that follows a character without width
            super().draw("".join(one for one in data if wcwidth(one) > 0 or combining(one)))
            return
        self.buffer[self.cursor.y].update(zip(range(x, end), cells, strict=True))
        self.cursor.x = end
        self.dirty.add(self.cursor.y)


def alive(processes: Iterable[psutil.Process]) -> list[psutil.Process]:
    """Return the processes that have not ended."""
    found = []
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            if process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def home_in(folder: Path | str) -> dict[str, str]:
    """Return an environment whose home, configuration, data and state directories are in one folder."""
    return dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"), str(folder))


class TerminalApp:
    """Runs `argv` in a pty of `columns` x `rows` and reads it as a terminal would.

    Drawing takes time. Without it only `raw` is known.
    """

    forks: ClassVar[Forks | None] = None
    """Run the Python programs of `fake`, `real` and `watched`, which then start at once. Set by a fixture."""

    process: subprocess.Popen[bytes] | TerminalFork

    def __init__(
        self,
        argv: Sequence[str],
        *,
        columns: int = 120,
        rows: int = 40,
        env: Mapping[str, str] = MappingProxyType({}),
        draws: bool = True,
        cwd: Path = ROOT,
        forks: Forks | None = None,
    ) -> None:
        self.raw = bytearray()
        self.screen = Screen(columns, rows)
        self._stream = pyte.ByteStream(self.screen)
        self._shown = 0
        self._lines: dict[int, str] = {}
        self._draws = draws
        self._master, slave = pty.openpty()
        self._set_size(columns, rows)
        self._line_before = termios.tcgetattr(self._master)
        base = {
            key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "COLUMNS", "LINES")
        }
        base |= {"TERM": "xterm-256color", "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8"}
        if forks:
            self.process = forks.in_terminal(argv[1:], slave, cwd, base | env)
        else:
            self.process = subprocess.Popen(
                argv,
                stdin=slave,
                stdout=slave,
                stderr=slave,
                start_new_session=True,
                cwd=cwd,
                preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
                env=base | env,
            )
        os.close(slave)

    @classmethod
    def fake(cls, scenario: str, *arguments: str, **options: Any) -> "TerminalApp":
        """Run the app over a scenario of `fake_app.py`."""
        return cls([sys.executable, str(FAKE_APP), scenario, *arguments], **{"forks": cls.forks} | options)

    @classmethod
    def real(cls, *arguments: str, **options: Any) -> "TerminalApp":
        """Run the program as a user does. With `forks=None` it also imports its modules as it does there."""
        return cls([sys.executable, "-m", "tui", *trusting(arguments)], **{"forks": cls.forks} | options)

    @classmethod
    def watched(cls, what: str, *arguments: str, **options: Any) -> "TerminalApp":
        """Run the program with `watched_app.py` inside."""
        argv = [sys.executable, str(WATCHED_APP), what, *trusting(arguments)]
        return cls(argv, **{"forks": cls.forks} | options)

    def __enter__(self) -> "TerminalApp":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.hang_up()

    def hang_up(self) -> None:
        """Close the terminal, as closing its window does."""
        if self._master >= 0:
            os.close(self._master)
            self._master = -1

    def send(self, keys: str | bytes) -> None:
        """Press keys."""
        data = memoryview(keys.encode() if isinstance(keys, str) else keys)  # a rest is no copy
        while data:
            self.pump(0)
            if select.select([], [self._master], [], 0.05)[1]:
                data = data[os.write(self._master, data[:1024]) :]

    def _set_size(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def resize(self, columns: int, rows: int) -> None:
        """Change the size of the window."""
        self._set_size(columns, rows)  # the kernel sends SIGWINCH
        self.screen.resize(rows, columns)
        self.screen.reset()

    def children(self) -> list[psutil.Process]:
        """Return every process that the program has started, directly or indirectly."""
        return psutil.Process(self.process.pid).children(recursive=True)

    def pump(self, seconds: float) -> None:
        """Read the output of the program for `seconds`, at least once."""
        if self._master < 0 or not select.select([self._master], [], [], seconds)[0]:
            return
        try:
            data = os.read(self._master, 65536)
        except OSError:
            return
        if b"\x1b[?2026$p" in data:
            os.write(self._master, b"\x1b[?2026;2$y")  # whole frames are known here
        self.raw += data
        self._show(self.painted)

    def _show(self, end: int) -> None:
        if end > self._shown and self._draws:
            self._stream.feed(_STYLE.sub(b"", self.raw[self._shown : end]))
            self._shown = end

    @property
    def painted(self) -> int:
        """The length of the complete frames in `raw`. An unfinished frame is not shown."""
        begun = self.raw.rfind(FRAME_BEGINS)
        return len(self.raw) if self.raw.rfind(FRAME_ENDS) >= begun else begun

    @property
    def lines(self) -> Sequence[str]:
        """The lines of the screen, each as wide as the screen."""
        for row in self.screen.dirty:  # the others are as they were
            line = self.screen.buffer[row]
            cells = [line[x].data for x in range(self.screen.columns)]
            halves = [x for x, cell in enumerate(cells) if not cell and wcwidth(cells[x - 1][:1]) != 2]
            assert not halves, f"the first half of a wide character is overwritten in line {row}"
            self._lines[row] = "".join(cells)
        self.screen.dirty.clear()
        return [self._lines[row] for row in range(self.screen.lines)]

    @property
    def text(self) -> str:
        """The text of the screen."""
        return "\n".join(line.rstrip() for line in self.lines)

    def until(self, condition: Callable[[], object], seconds: float = 30.0) -> None:
        """Read until a condition is true."""
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                raise AssertionError(f"not within {seconds} s; the screen shows\n{self.text}")
            self.pump(0.02)

    def shows(self, *texts: str, seconds: float = 30.0) -> None:
        """Read until the screen shows all these texts."""
        self.until(lambda: all(text in self.text for text in texts), seconds)

    def stopped(self, process: psutil.Process | None = None, seconds: float = 30.0) -> None:
        """Read until the program, or another process, is stopped by a signal."""
        found = process or psutil.Process(self.process.pid)
        self.until(lambda: found.status() == psutil.STATUS_STOPPED, seconds)
        self.settled(0.02)

    def reset(self) -> None:
        """Clear the screen and restore the line discipline, as a shell or `reset` does."""
        termios.tcsetattr(self._master, termios.TCSANOW, self._line_before)
        self._show(len(self.raw))
        self.screen.reset()

    @property
    def echoes(self) -> bool:
        """Whether the line discipline echoes keys, as it does outside full-screen programs."""
        return bool(termios.tcgetattr(self._master)[3] & termios.ECHO)

    def ended(self, seconds: float = 30.0) -> int:
        """Read until the program has exited. Return its exit code."""
        self.until(lambda: self.process.poll() is not None, seconds)
        for _ in range(20):
            self.pump(0.01)
        self._show(len(self.raw))
        return self.process.wait()

    def settled(self, pause: float = 0.3) -> None:
        """Read until painting has stopped: until nothing came for `pause` seconds."""
        size = -1
        while size != len(self.raw):
            size = len(self.raw)
            self.pump(pause)

    def answered(self) -> None:
        """Read until the turn has ended."""
        self.until(lambda: "esc stop" not in self.text)

    def quits(self) -> None:
        """Quit, and check that the terminal is as before and that nothing was raised."""
        self.send("\x11")
        assert self.ended() == 0
        assert self.faults_of_the_terminal() == []
        assert b"Traceback" not in self.raw

    def faults_of_the_terminal(self) -> list[str]:
        """Return the terminal modes that differ from before the program ran. None if all are restored.

        Line wrapping (7) and the cursor (25) are on in an unchanged terminal, all other
        private modes (alternate screen, mouse, focus, bracketed paste, synchronised output) are off.
        """
        on: dict[int, bool] = {}
        for numbers, letter in _MODE.findall(bytes(self.raw)):
            on |= dict.fromkeys(map(int, numbers.split(b";")), letter == b"h")
        faults = [f"mode {number} is left off" for number in (7, 25) if not on.pop(number, True)]
        faults += [f"mode {number} is left on" for number, is_on in on.items() if is_on]
        if self.raw.count(b"\x1b[>") != self.raw.count(b"\x1b[<"):
            faults.append("the keyboard protocol is left on")
        if termios.tcgetattr(self._master) != self._line_before:
            faults.append("the line discipline is another")
        return faults
