"""A Python that starts at once: forks of one process that has imported what its programs need.

The import takes a second of processor time. The commands of a page start a dozen servers on the SDK, and each
test in a terminal starts the app.
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
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fcntl import ioctl
from importlib import import_module
from pathlib import Path

STUB = """#!{python} -IS
import json, os, socket, sys

with socket.socket(socket.AF_UNIX) as forks:
    forks.connect({address!r})
    socket.send_fds(forks, [b"x"], [0, 1, 2])
    forks.sendall(json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ), False]).encode() + b"\\n")
    forks.recv(1)  # until the fork ends
"""


@dataclass(frozen=True)
class Forks:
    """The process whose forks run programs, and a folder for PATH with a `python` that has it run one."""

    pid: int
    folder: str

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
        command = [sys.executable, __file__, address, *modules]
        env = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2]), "LANG": "C.UTF-8"}
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


def run(connection: socket.socket) -> None:
    """Run a program with the streams, folder and environment of the one that asks for it."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _, streams, _, _ = socket.recv_fds(connection, 1, 3)
    words, folder, env, in_terminal = json.loads(connection.makefile("rb").readline())
    if in_terminal and (pid := os.fork()):
        for stream in streams:
            os.close(stream)
        connection.sendall(b"%d\n" % os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        os._exit(0)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    if in_terminal:
        os.setsid()
        ioctl(0, termios.TIOCSCTTY, 0)
        connection.sendall(b"%d\n" % os.getpid())
        connection.close()
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
