"""The signals that end a run of mcptui in order, instead of killing it.

`mcptui tap -- COMMAND` forwards signals to its server instead (`tui/host/passthrough/passthrough.py`).
"""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

ENDING = ("SIGTERM", "SIGHUP", "SIGQUIT", "SIGINT")


@contextmanager
def on_signals(handle: Callable[[int], None]) -> Iterator[None]:
    """Call `handle` in the running event loop with the number of each ending signal."""
    loop = asyncio.get_running_loop()
    handled: list[int] = []
    for number in [getattr(signal, name) for name in ENDING if hasattr(signal, name)]:
        # On Windows, the event loop has no signal handlers; ctrl+c raises KeyboardInterrupt.
        with suppress(NotImplementedError):
            loop.add_signal_handler(number, handle, number)
            handled.append(number)
    try:
        yield
    finally:
        for number in handled:
            loop.remove_signal_handler(number)
