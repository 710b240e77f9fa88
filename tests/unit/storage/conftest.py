"""Fixtures of the tests of storage."""

from pathlib import Path

import pytest

from tests.unit.storage.session_samples import store_in
from tui.storage.sessions.store import SessionStore


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    """Return the store of sessions in the folder of the test."""
    return store_in(tmp_path)
