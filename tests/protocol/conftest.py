"""Fixtures of this folder: commands that are forks of one process."""

import pytest


@pytest.fixture(scope="session", autouse=True)
def commands_are_forks(fork_server: None) -> None:
    """Start commands as forks of a process that has already imported the modules of mcptui."""
