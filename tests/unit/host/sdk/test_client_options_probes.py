"""The SDK's own limit for a probe, as last seen in mcp 2.3."""

import inspect
import math

from mcp.client import session

from tui.host.sdk.client_options import await_probes


def test_the_sdk_awaits_a_probe_without_a_limit_of_its_own(monkeypatch):
    monkeypatch.setattr(session, "DISCOVER_TIMEOUT_SECONDS", 10.0)
    await_probes()
    assert session.DISCOVER_TIMEOUT_SECONDS == math.inf
    assert '"timeout": DISCOVER_TIMEOUT_SECONDS' in inspect.getsource(session.ClientSession.send_discover)
