"""Programs that are forks of a process with the modules of mcptui loaded, see `fork_server.py`."""

import contextlib
import json
import os
import select
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

FORK_SERVER = Path(__file__).with_name("fork_server.py")

_FOR_THE_INTERPRETER = ("PYTHON", "LC_", "LANG", "LD_")


class ForkServer:
    """The process that forks itself for each program."""

    def __init__(self) -> None:
        self._control, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with other:
            self._process = subprocess.Popen(
                [sys.executable, FORK_SERVER, str(other.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                cwd=FORK_SERVER.parents[1],
                env=os.environ | {"PYTHONPATH": str(FORK_SERVER.parents[1])},
                pass_fds=[other.fileno()],
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    def close(self) -> None:
        self._control.close()
        self._process.wait(10)

    def start(
        self,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        standard: tuple[int, int, int],
        folder: Path | str = "",
        *,
        on_terminal: bool = False,
    ) -> socket.socket:
        """Start a program.

        Args:
            arguments: those of the interpreter: `-m MODULE …` or `SCRIPT …`.
            environment: all of it.
            standard: the descriptors of its stdin, stdout and stderr.
            folder: in which it runs; "" is the current one.
            on_terminal: whether stdin becomes its controlling terminal.

        Returns:
            A socket on which its process id arrives, a space, and once it has ended its exit status.

        Raises:
            BrokenPipeError: the process that forks is gone.
        """
        request = {
            "arguments": arguments,
            "environment": {**environment},
            "folder": str(folder or os.getcwd()),
            "on_terminal": on_terminal,
        }
        answer, theirs = socket.socketpair()
        with theirs:
            try:
                socket.send_fds(self._control, [json.dumps(request).encode()], [theirs.fileno(), *standard])
            except OSError:
                answer.close()
                raise
        return answer


class ForkedProgram:
    """A running program, with the part of `subprocess.Popen` that tests of terminals use."""

    def __init__(self, answer: socket.socket) -> None:
        self._answer = answer
        self._said = b""
        self.returncode: int | None = None
        while b" " not in self._said:
            self._said += answer.recv(100)
        self.pid = int(self._said.split(b" ")[0])

    def poll(self) -> int | None:
        """Return its exit status once it has ended."""
        with contextlib.suppress(TimeoutError):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it has ended, for so many seconds at most, and return its exit status."""
        while self.returncode is None:
            if not select.select([self._answer], [], [], timeout)[0]:
                raise TimeoutError(f"process {self.pid} has not ended")
            if data := self._answer.recv(100):
                self._said += data
            else:
                self.returncode = int(self._said.split(b" ")[1])
                self._answer.close()
        return self.returncode


def is_for_a_new_interpreter(environment: Mapping[str, str]) -> bool:
    """Whether variables among these have an effect only where an interpreter starts."""
    return any(name.startswith(_FOR_THE_INTERPRETER) for name in environment)


fork_server: ForkServer | None = None
"""Started by the fixture of that name; without it each program is a new interpreter."""
