"""Third-party servers on this machine, started for a test module."""

import os
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.conftest import wait_until


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def answers(port: int) -> bool:
    """Return whether something listens on the port."""
    try:
        socket.create_connection(("localhost", port), timeout=1).close()
    except OSError:
        return False
    return True


@contextmanager
def served(command: Sequence[str | Path], port: int, known: set[int]) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server during the block; wait until it listens. `known` gets its process id."""
    process = subprocess.Popen(
        command,
        env={**os.environ, "PORT": str(port)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    known.add(process.pid)
    try:
        wait_until(lambda: answers(port), 30.0, f"{command[0]} listens")
        yield process
    finally:
        process.kill()
        process.wait(10)
