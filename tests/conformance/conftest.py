"""What the tests of this folder share: clients that are forks of one process."""

import pytest


@pytest.fixture(scope="session", autouse=True)
def clients_are_forks(fork_server: None) -> None:
    """Have clients started as forks of a process that has the modules of mcptui loaded."""
