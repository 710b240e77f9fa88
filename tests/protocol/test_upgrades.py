"""Servers whose era changes between two starts in one run of the host, as a new version of them does."""

import json
import sys
from pathlib import Path

import pytest

from tui.core.ports import MonotonicClock
from tui.core.servers import ServerSpec, ServerState
from tui.host.host import Host

SERVER = str(Path(__file__).with_name("steered_server.py"))


@pytest.fixture
def steer(tmp_path):
    path = tmp_path / "steering.json"

    def write(**state):
        path.write_text(json.dumps({"tools": ["say"], **state}))
        return path

    return write


@pytest.fixture
async def host(steer):
    spec = ServerSpec("steered", sys.executable, (SERVER, str(steer(era="legacy"))))
    made = Host([spec], sink=lambda captured: None, clock=MonotonicClock())
    await made.start_all()
    yield made
    await made.shutdown()


def shown(host):
    status = host.status("steered")
    return status.state, status.protocol


async def test_a_server_upgraded_to_the_modern_era_restarts_at_once(host, steer):
    assert shown(host) == (ServerState.RUNNING, "2025-11-25")
    steer(era="modern")
    await host.restart("steered")
    assert shown(host) == (ServerState.RUNNING, "2026-07-28")


async def test_a_server_downgraded_to_the_legacy_era_restarts_at_once(host, steer):
    steer(era="modern")
    await host.restart("steered")
    steer(era="legacy")
    await host.restart("steered")
    assert shown(host) == (ServerState.RUNNING, "2025-11-25")


async def test_the_reason_of_a_failed_start_is_gone_once_the_server_runs(host, steer):
    steer(era="dies")
    await host.restart("steered")
    assert host.status("steered").failed
    steer(era="legacy")
    await host.start("steered")
    assert (host.status("steered").state, host.status("steered").reason) == (ServerState.RUNNING, None)
