"""Textual's terminal driver, with robust input, whatever a terminal sends, and correct job control.

Terminals send pasted text between two markers ("bracketed paste", DEC mode 2004) and some leave escape
characters in it. Read as keys, such an escape splits the text and its line ends become the enter key: half
a log would be sent as messages (seen with tmux). So `PasteGate` separates pastes from keys first.
"""

import asyncio
import codecs
import errno
import fcntl
import os
import selectors
import signal
import sys
import termios
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import groupby
from typing import Any

from textual import events
from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver
from textual.geometry import Offset, Size
from textual.message import Message

from tui.core.terminal.attention import kept_title, restored_title, title
from tui.core.text import graphemes
from tui.ui.platform.ambiguous import PROBE, Substitutes, cells_at
from tui.ui.platform.output import shortened
from tui.ui.platform.textual_internals import crash

BEGIN = "\x1b[200~"
END = "\x1b[201~"


class PasteGate:
    """Splits a terminal's characters into keys and pastes; `open` during a paste."""

    def __init__(self) -> None:
        self.open = False
        self._pasted: list[str] = []
        self._held = ""
        self._lone_escape = False

    def feed(self, data: str) -> Iterator[tuple[bool, str]]:
        """Take the next characters and yield (is a paste, text) in order."""
        if self._lone_escape and data.startswith(BEGIN[1:]):
            # The key parser has already read the first character of the marker: give it an empty paste.
            yield False, BEGIN[1:] + END
            data = data[len(BEGIN) - 1 :]
            self.open = True
        self._lone_escape = False
        data, self._held = self._held + data, ""
        while data:
            is_paste, mark = self.open, END if self.open else BEGIN
            text, found, data = data.partition(mark)
            self.open ^= bool(found)
            starts = (size for size in range(len(mark) - 1, 0, -1) if text.endswith(mark[:size]))
            kept = 0 if found else next(starts, 0)  # the end of the text may be the start of the mark
            if kept == 1 and not is_paste:  # most likely the escape key, which must not be delayed
                self._lone_escape = True
            elif kept:
                text, self._held = text[:-kept], text[-kept:]
            if is_paste:
                self._pasted.append(text)
                if found:
                    whole = "".join(self._pasted)
                    self._pasted.clear()
                    yield True, whole
            elif text:
                yield False, text

    def give_up(self) -> str:
        """Return a paste whose end is missing, and stop waiting for the end."""
        text = "".join(self._pasted) + self._held
        self._pasted.clear()
        self.open, self._held = False, ""
        return text


ALT_ENTER, ALT_ENTER_NAMED = "\x1b\r", "\x1b[13;3u"
"""The sequence that most terminals send for alt+enter, and the one that Textual recognizes."""

READ_SIZE = 64 * 1024
LONG = 100
"""Shorter writes only set modes and move the cursor."""
TICK_SECONDS = 0.1
PASTE_SECONDS = 2.0
"""Maximum pause within a paste.

Some terminals lose its end, and later keys must not count as text forever.
"""


MOST_COLUMNS, MOST_ROWS = 1000, 500
"""The largest part of a terminal that is used. `COLUMNS` or a broken terminal may name any size."""


def _limited(columns: int, rows: int) -> tuple[int, int]:
    return min(columns, MOST_COLUMNS), min(rows, MOST_ROWS)


class RobustDriver(LinuxDriver):
    """Reads a paste as a whole, and bytes that are not UTF-8 as replacement characters.

    Textual's own input thread ends at the first byte that is not UTF-8, and reads escape characters inside a
    paste as keys. Its signal handlers leave the screen blank after SIGTSTP and `fg`, start a second reader
    after SIGSTOP, take over the terminal again after the app has left it, can deadlock on the lock of the
    output queue, and post an older size last (Textual 8.2.8). So this class handles them in the event loop.
    """

    _has_terminal = False
    _leaving: tuple[int, int] | None = None
    """A pipe whose reading end becomes ready when the input thread has to end."""

    _erases = False
    _title = "mcptui"

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._substitutes = Substitutes()
        if self._size is None:  # otherwise the app starts with the size that Rich reads, without limits
            self._size = self._get_terminal_size()

    def _get_terminal_size(self) -> tuple[int, int]:
        return _limited(*super()._get_terminal_size())

    def process_message(self, message: Message) -> None:
        """Pass a message of the terminal on; the sizes that it reports are limited too."""
        if isinstance(message, events.CursorPosition):
            self._loop.call_soon_threadsafe(self._take_width, cells_at(Offset(message.x, message.y)))
            return
        if isinstance(message, events.Resize):
            message = events.Resize.from_dimensions(_limited(*message.size), message.pixel_size)
        super().process_message(message)

    def start_application_mode(self) -> None:
        """Take over the terminal. In a background job, wait until the shell hands it over."""
        self._wait_for_foreground()
        self._leaving = os.pipe()
        self._has_terminal = True
        try:
            super().start_application_mode()  # type: ignore[no-untyped-call]
        except BaseException:
            self.stop_application_mode()  # Textual does this only for later failures
            raise
        self._measure()
        self.write(kept_title(os.environ) + title(os.environ, self._title))
        signal.signal(signal.SIGWINCH, lambda *_: self._look_at_size(repaints=True))
        self._look_at_size(repaints=False)  # it may have changed before the handlers were installed

    def stop_application_mode(self) -> None:
        if self._has_terminal:
            self.write(restored_title(os.environ))
        self._has_terminal = False
        super().stop_application_mode()
        self._in_band_window_resize = False  # the app may continue in another terminal, without size reports

    def show_title(self, text: str) -> None:
        """Set the terminal's title until the app leaves it; the shell's own title then returns."""
        if text != self._title and self._has_terminal:
            self.write(title(os.environ, text))
        self._title = text

    def call(self, sequence: str) -> None:
        """Write a notification or a bell, unless another program has the terminal."""
        if sequence and self._has_terminal:
            self.write(sequence)
            self.flush()

    def write(self, data: str) -> None:
        """Write data without redundant escape sequences. `MCPTUI_WHOLE_ESCAPES` keeps them all."""
        data = self._substitutes.of(data)
        if len(data) > LONG and os.environ.get("MCPTUI_WHOLE_ESCAPES", "") in ("", "0"):
            data = shortened(data, erases=self._erases)
        super().write(data)

    def _measure(self) -> None:
        """Ask the terminal for the cells of what has an ambiguous width, unless they are configured.

        The answer arrives after the first frame, which is then drawn again if it is two.
        """
        if configured := getattr(self._app, "ambiguous_width", None):
            self._substitutes.use(configured, configured)
        else:
            self.write(PROBE)

    def _take_width(self, cells: tuple[int, int] | None) -> None:
        if cells is not None and self._has_terminal and self._substitutes.use(*cells):
            self._app.refresh(layout=True)

    def disable_input(self) -> None:
        """End the input thread, which waits without a timeout unless it has read half a sequence."""
        leaving, self._leaving = self._leaving, None
        if leaving is not None:
            os.close(leaving[1])
        super().disable_input()
        if leaving is not None:
            os.close(leaving[0])

    def _sigtstp_application(self, *_: object) -> None:
        if self._loop.is_running():  # in turn: the terminal may be half taken or half left
            self._loop.call_soon_threadsafe(self._suspend)
        else:
            _stop_process()

    def _sigcont_application(self, *_: object) -> None:
        if self._has_terminal:  # after SIGSTOP another program may have changed the terminal
            self._loop.call_soon_threadsafe(self._continue)

    def _look_at_size(self, *, repaints: bool) -> None:
        """Compare the app's size with the terminal's, after all sizes posted so far.

        `repaints`: repaint even if both are the same, since the window had another size in between.
        """

        async def post() -> None:
            self._app.call_later(self._compare_size, repaints)

        asyncio.run_coroutine_threadsafe(post(), self._loop)  # as Textual posts sizes, so in their order

    def _compare_size(self, repaints: bool) -> None:
        if not self._has_terminal or self._in_band_window_resize:
            return
        size = Size(*self._get_terminal_size())
        if size != self._app.size:
            self._app.post_message(events.Resize(size, size))
        elif repaints:
            self._app.refresh(layout=True)

    def suspend_job(self) -> bool:
        """Suspend the app and the other processes of its job, as ctrl+z does in a shell; return after `fg`.

        Return False at once if there is no shell with job control, so that nobody could continue it. Servers
        are not part of the job.
        """
        if os.getpgrp() == os.getsid(0):
            return False
        self.suspend_application_mode()
        handler = signal.signal(signal.SIGTSTP, signal.SIG_IGN)
        os.killpg(0, signal.SIGTSTP)  # a program that started this one, such as uv
        signal.signal(signal.SIGTSTP, handler)
        _stop_process()
        self._resume()
        return True

    def _suspend(self) -> None:
        if had_terminal := self._has_terminal:
            self.suspend_application_mode()
        _stop_process()
        if had_terminal:
            self._resume()

    def _continue(self) -> None:
        if self._has_terminal:
            self._wait_for_foreground()
            self.suspend_application_mode()
            self._resume()

    def _resume(self) -> None:
        self.resume_application_mode()
        # Textual ignores the resize event of a restart if the size is the same.
        self._app.call_later(self._app.refresh, layout=True)

    def _wait_for_foreground(self) -> None:
        """Let the kernel stop a background job that changes the terminal (SIGTTOU)."""
        while True:
            try:
                termios.tcsetattr(self.fileno, termios.TCSANOW, termios.tcgetattr(self.fileno))
            except termios.error as error:
                if error.args[0] == errno.EINTR:  # stopped and continued, perhaps by `bg`
                    continue
            return

    def _run_input_thread(self) -> None:
        """Read input. An error of this thread ends the app with a report, like an error of the app itself."""
        try:
            self.run_input_thread()
        except Exception as error:
            self._loop.call_soon_threadsafe(crash, self._app, error)

    def _terminal_lost(self) -> None:
        """End the app, since its terminal is gone.

        SIGHUP does the same, but is only sent to a login's processes.
        """
        if self._has_terminal and self._app.is_running:
            self._app.exit(return_code=128 + signal.SIGHUP)

    def run_input_thread(self) -> None:
        """Read from the terminal until the app leaves it."""
        parser, gate = XTermParser(getattr(self, "_debug", False)), PasteGate()
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        heard, learned = time.monotonic(), False
        waiting = bytearray(4)
        with suppress(OSError):  # the input is not a terminal
            fcntl.ioctl(self.fileno, termios.FIONREAD, waiting)
        early = int.from_bytes(waiting, sys.byteorder)  # bytes from before, when enter was a newline
        with selectors.SelectSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            if self._leaving is None:
                return
            selector.register(self._leaving[0], selectors.EVENT_READ)
            while not self.exit_event.is_set():
                is_half_read = gate.open or parser._timeout_time is not None
                ready = selector.select(TICK_SECONDS if is_half_read else None)
                if any(key.fd == self.fileno for key, _ in ready):
                    data = b""
                    with suppress(OSError):  # a lost terminal fails in several ways
                        data = os.read(self.fileno, READ_SIZE)
                    if not data:
                        self._loop.call_soon_threadsafe(self._terminal_lost)
                        return
                    if early > 0:
                        data, early = data[:early].replace(b"\n", b"\r") + data[early:], early - len(data)
                    heard = time.monotonic()
                    if not learned:
                        self._learn_terminal()
                        learned = True
                    self._take(gate, parser, decode(data))
                elif gate.open and time.monotonic() - heard > PASTE_SECONDS:
                    self._pasted(gate.give_up())
                for event in parser.tick():
                    self.process_message(event)

    def _learn_terminal(self) -> None:
        """Ask terminfo for the terminal's capabilities, at the first input to not delay the first frame."""
        import curses

        with suppress(curses.error):
            curses.setupterm(fd=self.fileno)
            self._erases = curses.tigetflag("bce") == 1 and curses.tigetstr("ech") is not None

    def _take(self, gate: PasteGate, parser: XTermParser, data: str) -> None:
        for is_paste, text in gate.feed(data):
            if is_paste:
                self._pasted(text)
                continue
            for piece, is_sign in _pieces(text.replace(ALT_ENTER, ALT_ENTER_NAMED)):
                for event in (Sign(piece),) if is_sign else parser.feed(piece):
                    self.process_message(event)

    def _pasted(self, text: str) -> None:
        if text:
            self.process_message(events.Paste(text.replace("\0", "")))


class Sign(events.Key):
    """A typed character of several code points, such as an emoji; alone, its joiners are not printable."""

    def __init__(self, text: str) -> None:
        super().__init__("sign", text)

    @property
    def is_printable(self) -> bool:
        return True


Sign.handler_name = events.Key.handler_name  # otherwise Textual would look for `on_sign`


def _pieces(text: str) -> Iterator[tuple[str, bool]]:
    """Yield typed text in order, with characters of several code points apart (True)."""
    parts = [text] if text.isascii() else graphemes(text)
    for is_sign, group in groupby(parts, lambda part: len(part) > 1 and not part[0].isascii()):
        yield from ((part, is_sign) for part in (group if is_sign else ["".join(group)]))


def _stop_process() -> None:
    """Stop this process; return once it continues. A signal to it could reach another thread, later."""
    signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)
