"""Short delays between the tries of transports, for tests that do not measure them."""

import pytest

from tui.core.jsonrpc import framing
from tui.host.frames import reconnection


@pytest.fixture
def short_delays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Open a lost stream again when the server asks for it, however soon; soon if it says nothing."""
    monkeypatch.setattr(framing, "SHORTEST_RETRY", 10)
    monkeypatch.setattr(reconnection, "FIRST_SECONDS", 0.02)
