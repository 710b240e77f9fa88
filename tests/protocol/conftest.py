"""What the tests of this folder share: a process that has the modules of mcptui loaded."""

from collections.abc import Iterator

import pytest

from tests.protocol import command


@pytest.fixture(scope="session", autouse=True)
def fork_server(shared_processes: set[int]) -> Iterator[None]:
    """Start it before the first test, and end it with the session."""
    command.fork_server = command.ForkServer()
    shared_processes.add(command.fork_server.pid)
    yield
    command.fork_server.close()
    command.fork_server = None
