from collections.abc import Iterator

import pytest

from tui.addons.tests.python.engine import Engine


@pytest.fixture
def engine() -> Iterator[Engine]:
    made = Engine()
    yield made
    made.close()
