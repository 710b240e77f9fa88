"""Fixtures of this folder: clients that are forks of one process, and the process that plays scenarios."""

from collections.abc import Iterator

import pytest

from tests.conformance.player import Player
from tests.real.installed import CONFORMANCE, NODE_22


@pytest.fixture(scope="session", autouse=True)
def clients_are_forks(fork_server: None) -> None:
    """Start clients as forks of a process that has already imported the modules of mcptui."""


@pytest.fixture(scope="session")
def player(shared_processes: set[int]) -> Iterator[Player]:
    """Start the process that plays the scenarios."""
    started = Player(NODE_22, CONFORMANCE, shared_processes)
    yield started
    started.close()
