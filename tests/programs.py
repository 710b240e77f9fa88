"""Programs that are forks of a process with the modules of mcptui loaded, see `fork_server.py`."""

import contextlib
import marshal
import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tui.core.servers import ServerSpec

ROOT = Path(__file__).parents[1]
FORK_SERVER = Path(__file__).with_name("fork_server.py")
FORKED = Path(__file__).with_name("forked.py")

_FOR_THE_INTERPRETER = ("PYTHON", "LC_", "LANG", "LD_")
_FOR_LIBRARIES = ("PYTHON_KEYRING_BACKEND",)


class LoadedModules:
    """The process that has the modules of mcptui loaded, of which each worker's `ForkServer` is a fork."""

    def __init__(self) -> None:
        self._folder = tempfile.mkdtemp(prefix="loaded-")
        self.path = os.path.join(self._folder, "socket")
        self._process = subprocess.Popen(
            [sys.executable, FORK_SERVER, self.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        shutil.rmtree(self._folder)


class ForkServer:
    """The process that forks itself for each program; itself a fork of that of `LoadedModules` at a path."""

    def __init__(self, loaded: str) -> None:
        self._folder = tempfile.mkdtemp(prefix="forks-")
        self.path = os.path.join(self._folder, "socket")
        self.interpreter = os.path.join(self._folder, "python3")
        Path(self.interpreter).write_text(f"#!{sys.executable} -IS\n{FORKED.read_text(encoding='utf-8')}")
        os.chmod(self.interpreter, 0o700)
        read, self._ends = os.pipe()
        _wait_for(loaded)
        try:
            arguments = ["fork_server", self.path, self.interpreter]
            self._process = ForkedProgram(start_fork(loaded, arguments, os.environ, (read, 2, 2), ROOT))
        finally:
            os.close(read)
        _wait_for(self.path)

    @property
    def pid(self) -> int:
        return self._process.pid

    def close(self) -> None:
        os.close(self._ends)
        self._process.wait(10)
        shutil.rmtree(self._folder)


class ForkedProgram:
    """A running program, with the part of `subprocess.Popen` that tests of terminals use."""

    def __init__(self, answer: socket.socket) -> None:
        self._answer = answer
        self.returncode: int | None = None
        self.pid = int(answer.recv(100))

    def poll(self) -> int | None:
        """Return its exit status once it has ended."""
        with contextlib.suppress(TimeoutError):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it has ended, for so many seconds at most, and return its exit status."""
        if self.returncode is None:
            if not select.select([self._answer], [], [], timeout)[0]:
                raise TimeoutError(f"process {self.pid} has not ended")
            self.returncode = int(self._answer.recv(100))
            self._answer.close()
        return self.returncode


def start_fork(
    path: str,
    arguments: Sequence[str],
    environment: Mapping[str, str],
    standard: tuple[int, int, int],
    folder: Path | str = "",
    *,
    on_terminal: bool = False,
) -> socket.socket:
    """Start a program as a fork of the process that listens at a path.

    Args:
        path: `ForkServer.path`.
        arguments: those of the interpreter: `-m MODULE …` or `SCRIPT …`.
        environment: all of it.
        standard: the descriptors of its stdin, stdout and stderr.
        folder: in which it runs; "" is the current one.
        on_terminal: whether stdin becomes its controlling terminal.

    Returns:
        A socket on which its process id arrives, and once it has ended its exit status. Closing it kills the
        program.

    Raises:
        OSError: the process that forks is gone.
    """
    request = {
        "arguments": list(arguments),
        "environment": {**environment},
        "folder": str(folder or os.getcwd()),
        "on_terminal": on_terminal,
    }
    answer = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        answer.connect(path)
        socket.send_fds(answer, [marshal.dumps(request)], list(standard))
    except OSError:
        answer.close()
        raise
    return answer


def _wait_for(path: str) -> None:
    """Wait until a process listens there."""
    deadline = time.monotonic() + 60
    while not os.path.exists(path):
        if time.monotonic() > deadline:
            raise AssertionError("the process that forks does not listen")
        time.sleep(0.005)


def is_for_a_new_interpreter(environment: Mapping[str, str]) -> bool:
    """Whether variables among these have an effect only where an interpreter starts."""
    names = set(environment).difference(_FOR_LIBRARIES)
    return any(name.startswith(_FOR_THE_INTERPRETER) for name in names)


def command(*arguments: str | Path) -> tuple[str, ...]:
    """Return the command of a program in Python, a fork where one can be had.

    Who starts it sees a process of its own, in its own group; the fork behind it is in another session.
    """
    return (interpreter(), *(str(argument) for argument in arguments))


def interpreter() -> str:
    """Return the program that runs a script, in a fork where one can be had: half the cost of a start."""
    return sys.executable if fork_server is None else fork_server.interpreter


def server(name: str, script: Path, **more: Any) -> ServerSpec:
    """Return a server that is such a command."""
    program, *arguments = command(script)
    return ServerSpec(name, program, tuple(arguments), **more)


fork_server: ForkServer | None = None
"""Started by the fixture of that name; without it each program is a new interpreter."""


def printed_by(code: str, **env: str) -> str:
    """Return what a new interpreter prints: the one that runs the tests has imported everything."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT)} | env,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
