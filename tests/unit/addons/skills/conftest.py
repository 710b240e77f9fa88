"""A server of skills for each test."""

from pathlib import Path

import pytest

from tests.unit.addons.skills.site import Site


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)
