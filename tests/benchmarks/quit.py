"""How long it takes to quit with three sample servers running.

Run it: python tests/benchmarks/quit.py [RUNS]
The time is measured from the key (ctrl+q) until the alternate screen is left, and until the process and every
process that it started have ended. The budget of one second applies to the slowest run of each.
"""

import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.benchmarks.figures import Figure, judged, noise  # noqa: E402
from tests.terminal.pty_app import TerminalApp, alive, home_in  # noqa: E402

SAMPLES = ("weather", "notes", "slow")
BUDGET_MS = 1000
LEFT = b"\x1b[?1049l"


def configuration(folder: Path) -> Path:
    """Write a configuration that starts every sample server."""
    path = folder / "config.toml"
    tables = []
    for name in SAMPLES:
        script = ROOT / "sample_config" / "servers" / f"{name}.py"
        tables.append(
            f"[servers.{name}]\ncommand = {json.dumps(sys.executable)}\nargs = [{json.dumps(str(script))}]"
        )
    path.write_text("\n".join(tables), encoding="utf-8")
    return path


def milliseconds_to_leave(config: Path) -> tuple[float, float]:
    """Start the program and quit it; return the milliseconds until the terminal is back and all is gone."""
    with TerminalApp.real("--demo", "--config", str(config), env=home_in(config.parent)) as app:
        app.shows("3 of 3", seconds=30)
        processes = app.children()
        began = time.perf_counter()
        app.send("\x11")
        app.until(lambda: LEFT in app.raw)
        screen = time.perf_counter() - began
        app.until(lambda: app.process.poll() is not None and not alive(processes))
        return screen * 1000, (time.perf_counter() - began) * 1000


def main() -> int:
    """Measure; return the exit code."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    with tempfile.TemporaryDirectory() as folder:
        config = configuration(Path(folder))
        taken = [milliseconds_to_leave(config) for _ in range(runs)]
    names = ("terminal back", "everything gone")
    return judged(
        [
            Figure(
                name, max(times), "ms", BUDGET_MS, noise(times), f"median {statistics.median(times):.0f} ms"
            )
            for name, times in zip(names, zip(*taken, strict=True), strict=True)
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
