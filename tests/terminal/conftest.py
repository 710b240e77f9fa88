"""What the tests of this folder share: programs that are forks of one process."""

import pytest


@pytest.fixture(scope="session", autouse=True)
def programs_are_forks(fork_server: None) -> None:
    """Have programs started as forks of a process that has the modules of mcptui loaded."""
