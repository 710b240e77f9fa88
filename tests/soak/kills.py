"""Kills the app at random moments, with servers that resist ending: after five seconds none may be left."""

import os
import random
import signal
import tempfile
import time
from pathlib import Path

import psutil

from tests.terminal.pty_app import TerminalApp, home_in
from tests.terminal.set_ups import config_with

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


def kill(rounds: int) -> int:
    """Kill the app `rounds` times and print which processes were left; return the exit code."""
    most = left = 0
    slowest = 0.0
    for number in range(1, rounds + 1):
        with tempfile.TemporaryDirectory() as home:
            config = config_with(Path(home), {name: (name, {}) for name in SERVERS})
            with TerminalApp.real("--demo", "--config", config, env=home_in(home), draws=False) as app:
                over = time.monotonic() + random.uniform(0.2, LATEST)
                while time.monotonic() < over:
                    app.pump(0.02)
                most = max(most, len(of_home(home)) - 1)
                os.kill(app.process.pid, signal.SIGKILL)
                killed = time.monotonic()
                app.process.wait()
            while (found := of_home(home)) and time.monotonic() < killed + GRACE:
                time.sleep(0.02)
            slowest, left = max(slowest, time.monotonic() - killed), left + len(found)
            for process in found:
                print(f"round {number}: left {process.pid} {' '.join(process.cmdline())[:120]}", flush=True)
                process.kill()
    print(
        f"killed {rounds} times with up to {most} processes, left after {GRACE:g} s: {left}, "
        f"the last was gone after {slowest:.2f} s"
    )
    return 1 if left else 0
