"""How long a key takes to echo while three servers flood stderr, compared with three quiet servers.

Run it: python tests/benchmarks/keys_under_flood.py [KEYS]
The real program runs in a pty. Each key types a character that is nowhere else on the screen. The time is
measured from writing it to the terminal until it is painted. At the end, the log of a flooding server is
opened.
"""

import json
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import psutil  # noqa: E402

from tests.benchmarks.figures import Figure, judged, late, noise_of  # noqa: E402
from tests.terminal.pty_app import TerminalApp, home_in  # noqa: E402

SERVERS = {
    "quiet": ROOT / "tests" / "corpus" / "faults" / "crlf.py",
    "flooding": ROOT / "tests" / "benchmarks" / "flooding_server.py",
}
BUDGET_MS = 50
PAUSE = 0.05
QUIT, LOG, ESCAPE = "\x11", "\x0c", "\x1b"


def configuration(folder: Path, script: Path) -> str:
    """Write a configuration of three servers that run `script`."""
    path = folder / "config.toml"
    command = f"command = {json.dumps(sys.executable)}\nargs = [{json.dumps(str(script))}]\n"
    path.write_text("".join(f"[servers.s{n}]\n{command}" for n in range(3)), encoding="utf-8")
    return str(path)


def press(app: TerminalApp, number: int) -> float:
    """Type a character that is not on the screen; return the milliseconds until it is painted."""
    sign = chr(0x2801 + number % 250).encode()
    seen = len(app.raw)
    began = time.perf_counter()
    app.send(sign)
    app.until(lambda: sign in app.raw[seen:])
    return (time.perf_counter() - began) * 1000


def rest(app: TerminalApp, seconds: float) -> None:
    """Read the program's output for a while."""
    over = time.perf_counter() + seconds
    while (left := over - time.perf_counter()) > 0:
        app.pump(left)


def measured(name: str, keys: int) -> tuple[list[float], float]:
    """Return the delays of the keys, and the memory of the program at the end in megabytes."""
    with tempfile.TemporaryDirectory() as home:
        config = configuration(Path(home), SERVERS[name])
        argv = [sys.executable, "-m", "tui", "--demo", "--trust-config", "--config", config]
        with TerminalApp(argv, env=home_in(home), draws=False) as app:
            app.until(lambda: b"3 of 3" in app.raw, 30)
            rest(app, 1.0)
            delays = []
            for number in range(keys):
                delays.append(press(app, number))
                rest(app, PAUSE)
            app.send(LOG)
            app.until(lambda: b"LOG" in app.raw)
            rest(app, 1.0)
            app.send(ESCAPE)
            rest(app, 0.5)
            memory = psutil.Process(app.process.pid).memory_info().rss / 2**20
            app.send(QUIT)
            app.ended()
    return delays, memory


def main() -> int:
    """Measure; return the exit code."""
    keys = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    quiet, _ = measured("quiet", keys)
    delays, memory = measured("flooding", keys)
    beside = f"quiet servers {late(quiet):.1f} ms"
    return judged(
        [
            Figure(
                "key while stderr floods, p95", late(delays), "ms", BUDGET_MS, noise_of(late, delays), beside
            ),
            Figure("key while stderr floods, latest", max(delays), "ms", None, noise_of(max, delays)),
            Figure("memory", memory, "MB"),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
