"""The parts of `mcptui test` that other folders bring."""

import pytest

from tui.addons.tests.run import parts
from tui.addons.tests.run.parts import part


@pytest.mark.parametrize("name", parts.PARTS)
def test_each_part_can_be_loaded(name: str):
    assert part(name) is not None
