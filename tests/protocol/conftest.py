"""What the tests of this folder share: a process that has the modules of mcptui loaded."""

from collections.abc import Iterator

import pytest

from tests.protocol import command


@pytest.fixture(scope="session", autouse=True)
def fork_server() -> Iterator[None]:
    """Start it before the first test, and end it with the session."""
    command.fork_server = command.ForkServer()
    yield
    command.fork_server.close()
    command.fork_server = None
