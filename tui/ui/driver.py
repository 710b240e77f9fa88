"""Textual's terminal driver, with an input that survives whatever a terminal sends."""

import codecs
import os
import selectors
import time

from textual import events
from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver

from tui.ui.pasting import PasteGate

ALT_ENTER, ALT_ENTER_NAMED = "\x1b\r", "\x1b[13;3u"
"""What most terminals send, and the name of it that Textual knows."""

READ_SIZE = 64 * 1024
TICK_SECONDS = 0.1
PASTE_SECONDS = 2.0
"""How long a paste may pause. Some terminals lose its end; keys must not be taken for text for ever."""


class RobustDriver(LinuxDriver):
    """Takes pastes as a whole, and bytes that are no UTF-8 as replacement characters.

    Textual's own input ends for good at the first byte that is no UTF-8, and reads escape characters
    inside a paste as keys.
    """

    def run_input_thread(self) -> None:
        """Read the terminal until the app leaves it."""
        parser, gate = XTermParser(self._debug), PasteGate()
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        heard = time.monotonic()
        with selectors.SelectSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            while not self.exit_event.is_set():
                if selector.select(TICK_SECONDS):
                    data = self._read()
                    if not data:
                        return  # the terminal is gone; SIGHUP is on its way
                    heard = time.monotonic()
                    self._take(gate, parser, decode(data))
                elif gate.open and time.monotonic() - heard > PASTE_SECONDS:
                    self._pasted(gate.give_up())
                for event in parser.tick():
                    self.process_message(event)

    def _read(self) -> bytes:
        try:
            return os.read(self.fileno, READ_SIZE)
        except OSError:  # a terminal that is gone says so in several ways
            return b""

    def _take(self, gate: PasteGate, parser: XTermParser, data: str) -> None:
        for is_paste, text in gate.feed(data):
            if is_paste:
                self._pasted(text)
                continue
            for event in parser.feed(text.replace(ALT_ENTER, ALT_ENTER_NAMED)):
                self.process_message(event)

    def _pasted(self, text: str) -> None:
        if text:
            self.process_message(events.Paste(text.replace("\0", "")))
