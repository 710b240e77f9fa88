"""The process that plays scenarios."""

from collections.abc import Iterator

import pytest

from tests.conformance.player import Player
from tests.real.installed import CONFORMANCE, NODE_22


@pytest.fixture(scope="session")
def player(shared_processes: set[int]) -> Iterator[Player]:
    """Start the process that plays the scenarios."""
    started = Player(NODE_22, CONFORMANCE, shared_processes)
    yield started
    started.close()
