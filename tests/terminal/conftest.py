"""Fixtures of this folder: programs that are forks of one process."""

import pytest


@pytest.fixture(scope="session", autouse=True)
def programs_are_forks(fork_server: None) -> None:
    """Start programs as forks of a process that has already imported the modules of mcptui."""
