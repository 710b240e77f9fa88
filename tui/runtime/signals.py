"""The signals that end a run of mcptui in order, instead of killing it.

`mcptui tap -- COMMAND` forwards signals to its server instead (`tui/commands/tap/passthrough.py`).
"""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

ENDING = ("SIGTERM", "SIGHUP", "SIGQUIT", "SIGINT")


@contextmanager
def on_signals(handle: Callable[[int], None]) -> Iterator[None]:
    """Call `handle` in the running event loop with the number of each ending signal, then as before."""
    loop = asyncio.get_running_loop()
    handled: dict[int, Any] = {}
    for number in [getattr(signal, name) for name in ENDING if hasattr(signal, name)]:
        # On Windows, the event loop has no signal handlers; ctrl+c raises KeyboardInterrupt.
        with suppress(NotImplementedError):
            before = signal.getsignal(number)
            loop.add_signal_handler(number, handle, number)
            handled[number] = before
    try:
        yield
    finally:
        for number, before in handled.items():
            loop.remove_signal_handler(number)
            if before is not None:
                signal.signal(number, before)
