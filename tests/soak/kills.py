"""Kills the app at random moments, with servers that resist ending: after five seconds none may be left."""

import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

import psutil

from tests.soak.everything import FAULTS
from tests.terminal.pty_app import TerminalApp, home_in

SERVERS = ("crlf", "grandchild_holds_pipes", "ignore_sigterm_and_eof", "hang_on_initialize")
LATEST, GRACE = 2.5, 5.0


def of_home(home: str) -> list[psutil.Process]:
    """Return the live processes whose HOME is this folder."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("HOME") == home and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue
    return found


def kill(rounds: int, seed: int) -> int:
    """Kill the app `rounds` times and print which processes were left; return the exit code."""
    dice = random.Random(seed)
    most = left = 0
    slowest = 0.0
    for number in range(1, rounds + 1):
        with tempfile.TemporaryDirectory() as home:
            config = Path(home) / "mcptui" / "config.toml"
            config.parent.mkdir(mode=0o700)
            config.write_text(
                "".join(
                    f'[servers.{name}]\ncommand = "{sys.executable}"\nargs = ["{FAULTS / name}.py"]\n'
                    for name in SERVERS
                ),
                encoding="utf-8",
            )
            with TerminalApp([sys.executable, "-m", "tui", "--demo"], env=home_in(home), draws=False) as app:
                over = time.monotonic() + dice.uniform(0.2, LATEST)
                while time.monotonic() < over:
                    app.pump(0.02)
                started = len(of_home(home)) - 1
                os.kill(app.process.pid, signal.SIGKILL)
                killed = time.monotonic()
                app.process.wait()
            while (found := of_home(home)) and time.monotonic() < killed + GRACE:
                time.sleep(0.02)
            took = time.monotonic() - killed
            most, slowest, left = max(most, started), max(slowest, took), left + len(found)
            for process in found:
                print(f"round {number}: left {process.pid} {' '.join(process.cmdline())[:120]}", flush=True)
                process.kill()
    print(
        f"seed {seed}: killed {rounds} times with up to {most} processes, "
        f"left after {GRACE:g} s: {left}, the last was gone after {slowest:.2f} s"
    )
    return 1 if left else 0
