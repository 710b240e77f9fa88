"""`mcptui test` from its start: the first two ctrl+c end it in order, with the reports that were asked for.

Imports nothing heavy, because ctrl+c may come while the rest of the command is imported.
"""

import argparse
import signal
from contextlib import suppress


class HeldInterrupt:
    """Notes ctrl+c while no event loop handles it. The third one raises KeyboardInterrupt."""

    def __init__(self) -> None:
        self.count = 0

    def note(self, number: int, frame: object) -> None:
        """Handle the signal."""
        self.count += 1
        if self.count > 2:
            raise KeyboardInterrupt


INTERRUPTED = 130


def test(args: argparse.Namespace) -> int:
    """Run the command and return its exit code."""
    held, code = HeldInterrupt(), 0
    with suppress(ValueError):  # not in the main thread
        signal.signal(signal.SIGINT, held.note)
    try:
        from tui.addons.tests.run.command import test as run

        code = run(args, lambda: held.count)
        return code
    finally:
        # One that comes at the end of an interrupted process would kill it, instead of its exit code.
        is_ending = code == INTERRUPTED or held.count
        with suppress(ValueError):
            signal.signal(signal.SIGINT, signal.SIG_IGN if is_ending else signal.default_int_handler)
