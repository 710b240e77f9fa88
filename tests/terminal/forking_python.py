"""A Python that starts at once: forks of one process that has imported what its programs need.

The import takes a second of processor time. Hundreds of tests start the app in a terminal,
a command, an agent or a server on the SDK.
"""

import contextlib
import gc
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fcntl import ioctl
from importlib import import_module
from pathlib import Path
from typing import ClassVar

ROOT = Path(__file__).parents[2]
STUB = """#!{python} -IS
import json, os, signal, socket, sys

forks = socket.socket(socket.AF_UNIX)
forks.connect({address!r})
socket.send_fds(forks, [b"x"], [0, 1, 2])
os.closerange(0, 3)
words = (["-m", "tui"] if sys.argv[0].endswith("/mcptui") else []) + sys.argv[1:]
forks.sendall(json.dumps([words, os.getcwd(), dict(os.environ), False]).encode() + b"\\n")
lines = forks.makefile("rb")
pid = int(lines.readline())
for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
    signal.signal(number, lambda number, _: os.kill(pid, number))
code = int(lines.readline() or 1)
if code < 0:
    if code != -signal.SIGKILL:
        signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
os._exit(code)
"""
"""Lends its streams to a fork, passes signals on to it, and ends as it does."""

APP = (
    *("tests.ui.fakes", "tests.ui.fake_host", "tui.ui.app.app", "tui.ui.app.terminal", "tui.runtime.runtime"),
    *("tui.commands.run", "tui.host.transports.stdio", "tui.model.openai_api.openai_chat"),
)
COMMANDS = (
    *("tui.commands.command_line", "tui.commands.call.one_server", "tui.addons.up.command"),
    *("tui.addons.up.attach", "tui.addons.events.command", "tui.addons.events.delivery"),
    *("tui.addons.agent.command", "tui.addons.agent.server", "tui.addons.agent.acting"),
    *("tui.commands.tap.tap", "tui.commands.tap.tap_http", "tui.addons.watch.tap_watch"),
    *("tui.addons.watch.tap_watch_http", "tui.addons.replay.mock"),
)
SDK = ("mcp.server.mcpserver", "mcp.server.stdio", "uvicorn", "anyio._backends._asyncio")
"""What the app in a terminal, commands and servers on the SDK import sooner or later."""


class Python:
    """The Python that runs commands and agents: forks where the fixture `quick_python` is used."""

    command: ClassVar[str] = sys.executable


@dataclass(frozen=True)
class Forks:
    """The process whose forks run programs, and a folder for PATH with the `python` and `mcptui` of forks."""

    pid: int
    folder: str

    @property
    def python(self) -> str:
        """Return what to start instead of `sys.executable`. Only the id of the process is another."""
        return f"{self.folder}/python"

    def in_terminal(
        self, words: Sequence[str], terminal: int, cwd: Path, env: Mapping[str, str]
    ) -> "TerminalFork":
        """Run a program in a session of its own that has the terminal."""
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(f"{self.folder}/forks")
        socket.send_fds(connection, [b"x"], [terminal] * 3)
        connection.sendall(json.dumps([words, str(cwd), dict(env), True]).encode() + b"\n")
        return TerminalFork(connection)


class TerminalFork:
    """A program in a fork: what tests use of `subprocess.Popen`."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self.pid = self._number()
        self.returncode: int | None = None

    def _number(self) -> int:
        line = b""
        while not line.endswith(b"\n"):
            line += self._connection.recv(1)  # not more, so that `select` knows of the next line
        return int(line)

    def poll(self) -> int | None:
        """Return the exit code, or None while the program runs."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code once the program has ended. Raises TimeoutExpired."""
        if self.returncode is None:
            if not select.select([self._connection], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
            self.returncode = self._number()
            self._connection.close()
        return self.returncode


@contextmanager
def forking_python(*modules: str) -> Iterator[Forks]:
    """Start a process that imports modules, and whose forks run programs."""
    with tempfile.TemporaryDirectory() as name:  # short, as the address of a socket must be
        address, stub = f"{name}/forks", Path(name, "python")
        stub.write_text(STUB.format(python=sys.executable, address=address), encoding="utf-8")
        stub.chmod(0o700)
        Path(name, "mcptui").symlink_to(stub)
        command = [sys.executable, __file__, address, *modules]
        env = os.environ | {"PYTHONPATH": str(ROOT), "LANG": "C.UTF-8"}
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=env) as forks:
            try:
                assert forks.stdout is not None and forks.stdout.readline() == b"ready\n"
                yield Forks(forks.pid, name)
            finally:
                forks.kill()


def serve(address: str, modules: Sequence[str]) -> None:
    """Run the program of each connection in a fork."""
    gc.disable()
    for module in modules:
        import_module(module)
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # so that nobody has to wait for a fork
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen()
    print("ready", flush=True)
    while True:
        connection, _ = listener.accept()
        if not os.fork():
            listener.close()
            run(connection)
            return
        connection.close()


def kill_with(connection: socket.socket, pid: int) -> None:
    """Kill a program whose stub or test has been killed, which closes the connection."""
    connection.recv(1)
    with contextlib.suppress(ProcessLookupError):  # it has ended
        os.kill(pid, signal.SIGKILL)


def run(connection: socket.socket) -> None:
    """Run a program with the streams, folder and environment of the one that asks for it."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _, streams, _, _ = socket.recv_fds(connection, 1, 3)
    words, folder, env, in_terminal = json.loads(connection.makefile("rb").readline())
    if pid := os.fork():
        for stream in streams:
            os.close(stream)
        threading.Thread(target=kill_with, args=(connection, pid), daemon=True).start()
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        with contextlib.suppress(OSError):  # nobody waits for it any more
            connection.sendall(b"%d\n" % code)
        os._exit(0)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    if in_terminal:
        os.setsid()
        ioctl(0, termios.TIOCSCTTY, 0)
    connection.sendall(b"%d\n" % os.getpid())
    connection.close()
    if in_terminal:
        sys.stdin = sys.__stdin__ = open(0, encoding="utf-8", errors="surrogateescape", closefd=False)
        sys.stdout = sys.__stdout__ = open(1, "w", 1, "utf-8", "surrogateescape", closefd=False)
        sys.stderr = sys.__stderr__ = open(2, "w", 1, "utf-8", "backslashreplace", closefd=False)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(env)
    sys.argv = words
    gc.enable()
    if words[0] == "-m":
        sys.path[0] = ""
        sys.argv = words[1:]
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = str(Path(words[0]).parent)
        runpy.run_path(words[0], run_name="__main__")


if __name__ == "__main__":
    serve(sys.argv[1], sys.argv[2:])
