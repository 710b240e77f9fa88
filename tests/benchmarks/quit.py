"""How long it takes to quit with three sample servers running.

The time is measured from the key (ctrl+q) until the alternate screen is left, and until the process and every
process that it started have ended. The budget of one second applies to the slowest run of each.
"""

import statistics
import tempfile
import time

from tests.benchmarks.figures import Figure, noise
from tests.benchmarks.program import QUIT, SAMPLES, pressed, program, with_servers
from tests.terminal.pty_app import alive

LEFT = b"\x1b[?1049l"


def milliseconds_to_leave(home: str) -> tuple[float, float]:
    """Start the program and quit it; return the milliseconds until the terminal is back and all is gone."""
    with program(home, "--demo", "--config", with_servers(home, *SAMPLES), draws=True) as app:
        app.shows("3 of 3")
        processes = app.children()
        began = time.perf_counter()
        screen = pressed(app, QUIT, LEFT)
        app.until(lambda: app.process.poll() is not None and not alive(processes))
        return screen, (time.perf_counter() - began) * 1000


def measure(runs: int = 7) -> list[Figure]:
    with tempfile.TemporaryDirectory() as home:
        taken = zip(*(milliseconds_to_leave(home) for _ in range(runs)), strict=True)
    return [
        Figure(name, max(times), "ms", 1000, noise(times), f"median {statistics.median(times):.0f} ms")
        for name, times in zip(("terminal back", "everything gone"), taken, strict=True)
    ]
