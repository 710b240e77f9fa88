"""Cost of the idle app: CPU, wake-ups, bytes to the terminal.

The app runs in a pty with the sample servers and the demo model, at the same time as a bare Textual app.
Wake-ups are voluntary context switches of all threads.
"""

import tempfile
from pathlib import Path

from tests.benchmarks.figures import Figure
from tests.benchmarks.program import bare, cpu_seconds, program, rest
from tests.terminal.pty_app import TerminalApp

SECONDS = 30.0
SETTLE_SECONDS = 75.0
"""By then displayed ages change only once a minute, and the work of the start is done."""


def used(app: TerminalApp) -> tuple[float, int, int]:
    """Return the CPU seconds, the wake-ups and the bytes to the terminal so far."""
    waits = 0
    for status in Path(f"/proc/{app.process.pid}/task").glob("*/status"):
        (line,) = (line for line in status.read_text().splitlines() if line.startswith("voluntary"))
        waits += int(line.split()[1])
    return cpu_seconds(app), waits, len(app.raw)


def measure(seconds: float = SECONDS, settle: float = SETTLE_SECONDS) -> list[Figure]:
    with tempfile.TemporaryDirectory() as home, program(home, "--demo") as app, bare(home) as textual:
        app.until(lambda: b"2 of 3" in app.raw, 60)
        textual.until(lambda: b"ready" in textual.raw)
        rest(app, settle)
        rest(textual, 1)
        before = used(app), used(textual)
        rest(app, seconds)
        rest(textual, 0.1)
        after = used(app), used(textual)
    ours, floor = (
        [(now - then) / seconds for now, then in zip(ends, begins, strict=True)]
        for ends, begins in zip(after, before, strict=True)
    )
    return [
        Figure("CPU", ours[0] * 100, "%", 0.2, 0.02, f"bare Textual {floor[0]:.2%}"),
        Figure("wake-ups", ours[1], "/s", 4, 0.0, f"bare Textual {floor[1]:.1f} /s"),
        Figure("to the terminal", ours[2], "B/s", 0, 0.0, f"bare Textual {floor[2]:.0f} B/s"),
    ]
