"""The program in a terminal for a benchmark: starting it, typing, waiting for what is painted, its costs."""

import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from tests.configurations import config_file, server
from tests.terminal.pty_app import TerminalApp, home_in

ROOT = Path(__file__).resolve().parents[2]
STUB = ROOT / "tests" / "corpus" / "faults" / "crlf.py"
FLOODING = ROOT / "tests" / "benchmarks" / "flooding_server.py"
SAMPLES = [ROOT / "sample_config" / "servers" / f"{name}.py" for name in ("weather", "notes", "slow")]
QUIT, TRAFFIC, ENTER, ESCAPE = "\x11", "\x1bOS", "\r", "\x1b"
INPUT_SHOWN = "sk anything"
"""What the first frame with the input shows. Its first letter is under the cursor."""

BARE = """
from textual.app import App
from textual.widgets import Input
class Bare(App):
    def compose(self):
        yield Input(placeholder="ready")
Bare().run()
"""
"""A bare Textual app with an input, the floor for keys."""

HELLO = """
from textual.app import App
from textual.widgets import Static
class Hello(App):
    def compose(self):
        yield Static("ready")
Hello().run()
"""
"""A bare Textual app, the floor for everything else."""


def installed(home: str, compiled: str = "") -> dict[str, str]:
    """Return the environment of a user who has installed mcptui: compiled modules are written and reused.

    They are kept in the home, or in a folder `compiled` for several homes. Compiling takes 8 MB of memory.
    """
    compiling = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": compiled or f"{home}/compiled"}
    return home_in(home) | compiling | {"PYTHONPATH": str(ROOT)}


def program(home: str, *arguments: str, draws: bool = False, compiled: str = "") -> TerminalApp:
    """Start mcptui."""
    return TerminalApp.real(*arguments, env=installed(home, compiled), draws=draws)


def bare(home: str, app: str = HELLO) -> TerminalApp:
    """Start a bare Textual app."""
    return TerminalApp([sys.executable, "-c", app], env=installed(home), draws=False)


def with_servers(home: str, *scripts: Path, arguments: tuple[str, ...] = (), more: str = "") -> str:
    """Write a configuration with a server for each script; return its path."""
    tables = (server(f"s{number}", script, *arguments) for number, script in enumerate(scripts))
    return config_file(Path(home), more, *tables)


def rest(app: TerminalApp, seconds: float) -> None:
    """Read the program's output for a while."""
    over = time.perf_counter() + seconds
    while (left := over - time.perf_counter()) > 0:
        app.pump(min(left, 0.5))


def wait(app: TerminalApp, condition: Callable[[], object], what: str, seconds: float = 60) -> None:
    """Read the program's output until a condition holds, more often than `until` looks."""
    over = time.perf_counter() + seconds
    while not condition():
        if time.perf_counter() > over:
            raise SystemExit(f"{what}: not within {seconds:.0f} s")
        app.pump(0.002)


def pressed(app: TerminalApp, keys: str, painted: bytes) -> float:
    """Press keys; return the milliseconds until some bytes are painted."""
    seen, began = len(app.raw), time.perf_counter()
    app.send(keys)
    wait(app, lambda: painted in app.raw[seen:], f"{keys!r} was not painted", 20)
    return (time.perf_counter() - began) * 1000


def echo(app: TerminalApp, number: int) -> float:
    """Type a character that is nowhere else on the screen; return the milliseconds until it is painted."""
    sign = chr(0x2801 + number % 250)
    took = pressed(app, sign, sign.encode())
    if number % 20 == 19:
        app.send("\x15")
    return took


def cpu_seconds(app: TerminalApp) -> float:
    """Return the CPU time of all threads of the program in nanosecond resolution, unlike psutil."""
    stats = Path(f"/proc/{app.process.pid}/task").glob("*/schedstat")
    return sum(int(stat.read_text().split()[0]) for stat in stats) / 1e9


def megabytes(app: TerminalApp) -> float:
    """Return the resident memory of the program."""
    return float(psutil.Process(app.process.pid).memory_info().rss) / 2**20
