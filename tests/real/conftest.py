"""Shared by these tests: mcptui commands run as forks of one process."""

import pytest


@pytest.fixture(scope="session", autouse=True)
def commands_are_forks(fork_server: None) -> None:
    """Start commands as forks of a process that has loaded the modules of mcptui."""
