"""Fixtures shared by the tests of screens."""

from tests.ui.conftest import unicode_signs
from tests.ui.headless import (
    idle_soon,
    only_busy_awaited,
    painted_when_looked_at,
    parsed_once,
)
from tests.ui.projects import project

__all__ = [
    "idle_soon",
    "only_busy_awaited",
    "painted_when_looked_at",
    "parsed_once",
    "project",
    "unicode_signs",
]
