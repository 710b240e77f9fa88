"""What the tests of this folder share: commands of mcptui that are forks of one process."""

import pytest


@pytest.fixture(scope="session", autouse=True)
def commands_are_forks(fork_server: None) -> None:
    """Have commands started as forks of a process that has the modules of mcptui loaded."""
