"""Programs that run as forks of a process with the modules of mcptui loaded; see `fork_server.py`."""

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
    """The process that has the modules of mcptui loaded. Each worker's `ForkServer` is a fork of it."""

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
    """A process that forks itself for each program, itself forked from the `LoadedModules` at a path."""

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
    """A running program, with the part of the interface of `subprocess.Popen` that terminal tests use."""

    def __init__(self, answer: socket.socket) -> None:
        self._answer = answer
        self.returncode: int | None = None
        self.pid = int(answer.recv(100))

    def poll(self) -> int | None:
        """Return the exit status once the program has ended."""
        with contextlib.suppress(TimeoutError):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end, for at most `timeout` seconds, and return the exit status."""
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
        arguments: of the interpreter: `-m MODULE …` or `SCRIPT …`.
        environment: the complete environment.
        standard: the descriptors of stdin, stdout and stderr.
        folder: the working directory; "" is the current one.
        on_terminal: whether stdin becomes the controlling terminal.

    Returns:
        A socket that receives the process id, and the exit status once the program has ended. Closing it
        kills the program.

    Raises:
        OSError: the fork server is gone.
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
    """Wait until a process listens at a path."""
    deadline = time.monotonic() + 60
    while not os.path.exists(path):
        if time.monotonic() > deadline:
            raise AssertionError("the process that forks does not listen")
        time.sleep(0.005)


def is_for_a_new_interpreter(environment: Mapping[str, str]) -> bool:
    """Return whether some variables take effect only when an interpreter starts."""
    names = set(environment).difference(_FOR_LIBRARIES)
    return any(name.startswith(_FOR_THE_INTERPRETER) for name in names)


def command(*arguments: str | Path) -> tuple[str, ...]:
    """Return the command line of a Python program, which runs as a fork if possible.

    The caller sees a process in its own group. The fork behind it runs in another session.
    """
    return (interpreter(), *(str(argument) for argument in arguments))


def interpreter() -> str:
    """Return the program that runs a script, as a fork if possible, which halves the cost of a start."""
    return sys.executable if fork_server is None else fork_server.interpreter


def server(name: str, script: Path, **more: Any) -> ServerSpec:
    """Return the spec of a server that runs such a command."""
    program, *arguments = command(script)
    return ServerSpec(name, program, tuple(arguments), **more)


fork_server: ForkServer | None = None
"""Started by the fixture of the same name. Without it, each program is a new interpreter."""


def printed_by(code: str, **env: str) -> str:
    """Return the output of a new interpreter, since the one running the tests has imported everything."""
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
