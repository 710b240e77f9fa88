"""The processes of the agents."""

import pytest


@pytest.fixture(autouse=True)
def quick_agents(quick_python: None) -> None:
    """Start agents as forks."""
