"""Fixtures shared by the tests of screens."""

from collections.abc import Iterator

import pytest

from tests.ui.headless import (
    idle_soon,
    only_busy_awaited,
    painted_when_looked_at,
    parsed_once,
)
from tests.ui.projects import project
from tui.ui.platform import key_order

__all__ = [
    "idle_soon",
    "keys_wait_long",
    "only_busy_awaited",
    "painted_when_looked_at",
    "parsed_once",
    "project",
]


@pytest.fixture(scope="session", autouse=True)
def keys_wait_long() -> Iterator[None]:
    """Make each key wait for the previous one and its screen, even on a busy machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(key_order, "SETTLING_SECONDS", 10.0)
        patch.setattr(key_order, "OPENING_CHECKS", 2000)
        yield


@pytest.fixture(autouse=True)
def unicode_signs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Show the Unicode signs, in whatever terminal the tests run."""
    monkeypatch.setenv("TERM", "xterm-256color")
