"""How long a key takes to its echo while three servers flood their stderr, beside three quiet ones.

Run it: python tests/benchmarks/keys_under_flood.py [KEYS]
The real program in a pty. Each key is a sign that is nowhere else on the screen; the time is from writing
it to the terminal until it comes back painted (budget: 95 % within 50 ms). Meanwhile a task inside measures
how late the event loop is. Memory is that of the program alone; the log of a flooding server is looked at
in the end.
"""

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import psutil  # noqa: E402

from tests.terminal.pty_app import TerminalApp, home_in  # noqa: E402

SERVERS = {
    "quiet": ROOT / "tests" / "corpus" / "faults" / "crlf.py",
    "flooding": ROOT / "tests" / "benchmarks" / "flooding_server.py",
}
BUDGET_MS = 50
TICK = 0.005
PAUSE = 0.05
QUIT, LOG, ESCAPE = "\x11", "\x0c", "\x1b"


def share(values: Sequence[float], percent: int) -> float:
    """Return the value that `percent` of the values do not exceed."""
    return sorted(values)[min(len(values) - 1, len(values) * percent // 100)]


def inside(report: str, arguments: Sequence[str]) -> int:
    """Be the program, and write how late its event loop was."""
    import tui.cli
    from tui.ui.app import terminal

    lags: list[float] = []

    class Watched(terminal.McptuiApp):
        def on_mount(self) -> None:
            self.watching = asyncio.create_task(self.watch())

        def exit(self, *arguments: object, **options: object) -> None:
            self.watching.cancel()
            super().exit(*arguments, **options)

        async def watch(self) -> None:
            while True:
                before = time.perf_counter()
                await asyncio.sleep(TICK)
                if self.furnished and self.runtime.is_ready:
                    lags.append((time.perf_counter() - before - TICK) * 1000)

    terminal.McptuiApp = Watched  # type: ignore[misc]
    code = tui.cli.main(arguments)
    Path(report).write_text(json.dumps(lags), encoding="utf-8")
    return code


def configuration(folder: Path, script: Path) -> str:
    """Write a configuration of three such servers."""
    path = folder / "config.toml"
    command = f"command = {json.dumps(sys.executable)}\nargs = [{json.dumps(str(script))}]\n"
    path.write_text("".join(f"[servers.s{n}]\n{command}" for n in range(3)), encoding="utf-8")
    return str(path)


def press(app: TerminalApp, number: int) -> float:
    """Press a key that is nowhere on the screen; return the milliseconds until it was painted."""
    sign = chr(0x2801 + number % 250).encode()
    seen = len(app.raw)
    began = time.perf_counter()
    app.send(sign)
    app.until(lambda: sign in app.raw[seen:])
    return (time.perf_counter() - began) * 1000


def rest(app: TerminalApp, seconds: float) -> None:
    """Take in what comes for a while."""
    over = time.perf_counter() + seconds
    while (left := over - time.perf_counter()) > 0:
        app.pump(left)


def measure(name: str, keys: int) -> None:
    """Run one case and print it."""
    with tempfile.TemporaryDirectory() as home:
        report = Path(home) / "lags.json"
        config = configuration(Path(home), SERVERS[name])
        argv = [sys.executable, __file__, "--inside", str(report), "--demo", "--config", config]
        with TerminalApp(argv, env=home_in(home), draws=False) as app:
            app.until(lambda: b"3 of 3 servers" in app.raw, 30)
            rest(app, 1.0)
            program = psutil.Process(app.process.pid)
            before, cpu, began = program.memory_info().rss, sum(program.cpu_times()[:2]), time.perf_counter()
            delays = []
            for number in range(keys):
                delays.append(press(app, number))
                rest(app, PAUSE)
            busy = (sum(program.cpu_times()[:2]) - cpu) / (time.perf_counter() - began) * 100
            app.send(LOG)
            app.until(lambda: b"LOG" in app.raw)
            rest(app, 1.0)
            app.send(ESCAPE)
            rest(app, 0.5)
            after = program.memory_info().rss
            app.send(QUIT)
            code = app.ended()
        lags = json.loads(report.read_text(encoding="utf-8"))
    print(
        f"{name:9} key to echo p50 {share(delays, 50):5.1f}  p95 {share(delays, 95):5.1f}  "
        f"worst {max(delays):5.1f} ms   loop late p50 {share(lags, 50):4.1f}  p95 {share(lags, 95):4.1f}  "
        f"p99 {share(lags, 99):4.1f}  worst {max(lags):5.1f} ms   program {busy:3.0f} % of a core, "
        f"{before / 2**20:.0f} to {after / 2**20:.0f} MB   exit {code}"
    )


def main() -> None:
    """Measure and print."""
    if sys.argv[1:2] == ["--inside"]:
        raise SystemExit(inside(sys.argv[2], sys.argv[3:]))
    keys = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    for name in SERVERS:
        measure(name, keys)
    print(f"budget p95 {BUDGET_MS} ms, {keys} keys, {psutil.cpu_count()} cores")


if __name__ == "__main__":
    main()
