"""Time to the first frame, until the whole program is ready and idle, and of commands without a screen.

Measured in a real terminal, in rounds:
- the first frame with the input, compared with a bare Textual app started just before;
- the app with two servers and a real model: it is ready once the screen shows both servers, the model's
  client has asked the endpoint for its window, and the program has used almost no CPU for 0.2 s;
- the app without a configuration, with the demo model and the bundled sample servers, until it is ready;
- a key every 40 ms while the app loads, from the first frame on, until each is on the screen;
- `run` with one question, `--version`, `--help` and the sample servers until their stdin is closed. CPU times
  are those of the process and its children, since wall time means little on a busy machine.
The first round compiles modules and warms the disk cache, as an installation does.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from contextlib import suppress
from pathlib import Path

import psutil

from tests.benchmarks.figures import Figure, latest, middle, noise, noise_of
from tests.benchmarks.program import (
    INPUT_SHOWN,
    SAMPLES,
    STUB,
    bare,
    installed,
    program,
    rest,
    wait,
    with_servers,
)
from tests.configurations import model
from tests.endpoint import Endpoint, says
from tests.terminal.pty_app import TerminalApp
from tests.terminal.set_ups import endpoint_beside

RUNS, FIRST_PAINTS = 7, 21
KEYS = [chr(code) for code in range(0x100, 0x180)]
"""Letters that occur in no escape sequence. Each is typed once."""

QUIET_SECONDS, QUIET_SHARE = 0.2, 0.15
COMMANDS = {
    "empty Python": (["-c", "pass"], b""),
    "--version": (["-m", "tui", "--version"], b"mcptui "),
    "--help": (["-m", "tui", "--help"], b"usage: mcptui"),
    **{path.name: ([str(path)], b"") for path in SAMPLES},
    "run": (["-m", "tui", "run", "What's the weather in Hangzhou?"], b"light rain"),
}
"""Each command line, and a word that its output must contain, so that a failing one is noticed."""

Times = dict[str, list[float]]


def first_paint(home: str, times: Times) -> None:
    """Time the first frames of a bare Textual app and of mcptui."""
    for name, start, word in (("bare Textual", bare, "ready"), ("first paint", program, INPUT_SHOWN)):
        began = time.perf_counter()
        with start(home) as app:
            wait(app, lambda app=app, word=word: word.encode() in app.raw, name)
            times[name].append((time.perf_counter() - began) * 1000)


def settled(home: str, config: str, endpoint: Endpoint, times: Times) -> None:
    """Time the start of the app until it is idle, with servers and a model, and without a configuration."""
    asked, began = len(endpoint.others), time.perf_counter()
    with program(home, "--config", config, draws=True) as app:
        app.shows("2 of 2")
        app.until(lambda: len(endpoint.others) > asked)
        times["settled"].append(quiet_since(app) - began)
    began = time.perf_counter()
    with program(home, "--demo", draws=True) as app:
        app.shows("2 of 3")  # one of the three is not started automatically
        times["settled demo"].append(quiet_since(app) - began)


def quiet_since(app: TerminalApp) -> float:
    """Wait until a program and its servers are idle; return when that began."""
    process = psutil.Process(app.process.pid)

    def cpu() -> float:
        spent = 0.0
        for one in (process, *process.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):
                spent += sum(one.cpu_times()[:4])
        return spent

    at, before = time.perf_counter(), cpu()
    while True:
        rest(app, QUIET_SECONDS)
        now, spent = time.perf_counter(), cpu()
        if spent - before < QUIET_SHARE * (now - at):
            return at
        at, before = now, spent


def typed(home: str, config: str, endpoint: Endpoint, times: Times) -> None:
    """Type while the app loads, and time how long each key takes to appear."""
    asked = len(endpoint.others)
    with program(home, "--config", config, draws=True) as app:
        app.shows(INPUT_SHOWN)
        for key in KEYS:
            mark, began = len(app.raw), time.perf_counter()
            app.send(key)
            wait(app, lambda key=key, mark=mark: key.encode() in app.raw[mark:], f"{key} is not shown", 10)
            times["key"].append((time.perf_counter() - began) * 1000)
            if len(endpoint.others) > asked and "2 of 2" in app.text:
                break
            rest(app, began + 0.04 - time.perf_counter())


def taken(argv: list[str], word: bytes, home: str) -> tuple[float, float]:
    """Run a command; return its CPU time and its wall time in milliseconds."""
    with tempfile.TemporaryFile() as out:
        began = time.perf_counter()
        env, streams = os.environ | installed(home), {"stdout": out, "stderr": out}
        process = subprocess.Popen(
            [sys.executable, *argv], env=env, cwd=home, stdin=subprocess.DEVNULL, **streams
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        said = out.read()
    assert process.returncode == 0 and word in said, f"{argv}: {process.returncode}\n{said.decode()}"
    return (usage.ru_utime + usage.ru_stime) * 1000, wall * 1000


def measure(runs: int = RUNS, paints: int = FIRST_PAINTS) -> list[Figure]:
    times, cpu = defaultdict[str, list[float]](list), defaultdict[str, list[float]](list)
    with tempfile.TemporaryDirectory() as home, endpoint_beside([says("Hello there")]) as endpoint:
        (alone := Path(home) / "alone").mkdir()  # a home without a configuration
        config = with_servers(home, STUB, STUB, more=f'default_model = "scripted"\n{model(endpoint)}')
        hello = ["-m", "tui", "run", "--trust-config", "--config", config, "hello"]
        for run in range(runs + 1):
            if run == 1:
                times.clear()
                cpu.clear()
            settled(home, config, endpoint, times)
            typed(home, config, endpoint, times)
            times["run with servers"].append(taken(hello, b"Hello there", home)[1])
            for name, (argv, word) in COMMANDS.items():
                spent, wall = taken(argv, word, str(alone))
                cpu[name].append(spent)
                times[name].append(wall)
        for _ in range(paints):
            first_paint(str(alone), times)
    ratios = [ours / floor for floor, ours in zip(times["bare Textual"], times["first paint"], strict=True)]
    textual = f"bare Textual {statistics.median(times['bare Textual']):.0f} ms"
    keys, floor = times["key"], statistics.median(cpu["empty Python"])
    python = f"python {floor:.0f} ms"
    figures = [
        middle("first paint", times["first paint"], "ms", beside=textual),
        middle("to bare Textual", ratios, "x", 1.25, textual),
        middle("settled, servers that boot at once", times["settled"], "s", 2),
        middle("settled demo", times["settled demo"], "s", 2.2),
        middle("run, servers that boot at once", times["run with servers"], "ms", 1500),
        middle("run, demo", times["run"], "ms", 2000),
        latest("key while loading", keys, 30),
        Figure("key while loading, latest", max(keys), "ms", 80, noise_of(max, keys)),
    ]
    for name in ("--version", "--help"):
        ratio = statistics.median(cpu[name]) / floor
        spread = (noise(cpu[name]) + ratio * noise(cpu["empty Python"])) / floor
        figures.append(Figure(f"{name}, CPU", ratio, "x", 2.5, spread, python))
    return figures + [middle(f"{one.name}, CPU", cpu[one.name], "ms", 60, python) for one in SAMPLES]
