"""The processes of commands and of servers on the SDK."""

import pytest


@pytest.fixture(autouse=True)
def quick_programs(quick_python: None) -> None:
    """Start them as forks."""
