"""The remembered era of a server, and servers whose era changes with a new version."""

import json
import sys
from pathlib import Path

import pytest
from mcp.client import session

from tui.core.permission.definitions import KnownDefinitions
from tui.core.ports import MonotonicClock
from tui.core.servers import Era, KnownEras, ServerSpec, ServerState
from tui.core.traffic import Direction
from tui.host.host import Host
from tui.host.host_context import Remembered
from tui.settings.state.stored_eras import StoredEras

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


async def test_a_server_upgraded_to_the_modern_era_is_recognized_at_its_restart(host, steer):
    assert shown(host) == (ServerState.RUNNING, "2025-11-25")
    steer(era="modern")
    await host.restart("steered")
    assert shown(host) == (ServerState.RUNNING, "2026-07-28")


async def test_a_server_downgraded_to_the_legacy_era_is_recognized_at_its_restart(host, steer):
    steer(era="modern")
    await host.restart("steered")
    steer(era="legacy")
    await host.restart("steered")
    assert shown(host) == (ServerState.RUNNING, "2025-11-25")


async def test_the_reason_of_a_failed_start_is_cleared_once_the_server_runs(host, steer):
    steer(era="dies")
    await host.restart("steered")
    assert host.status("steered").failed
    steer(era="legacy")
    await host.start("steered")
    assert (host.status("steered").state, host.status("steered").reason) == (ServerState.RUNNING, None)


async def requests_of(spec, book):
    """Return the methods that a host with these memories sends in one start."""
    seen = []
    made = Host([spec], sink=seen.append, clock=MonotonicClock(), remembered=Remembered(eras=book))
    await made.start_all()
    assert made.status(spec.name).state is ServerState.RUNNING
    await made.shutdown()
    sent = (json.loads(one.raw) for one in seen if one.direction is Direction.OUT and one.raw)
    return [one["method"] for one in sent if "id" in one and "method" in one]


def steered(path):
    return ServerSpec("steered", sys.executable, (SERVER, str(path)))


async def test_a_server_with_a_handshake_is_probed_only_in_the_first_run(steer, tmp_path):
    spec, path = steered(steer(era="legacy")), tmp_path / "eras.json"
    first = StoredEras(path)
    assert (await requests_of(spec, KnownEras(first)))[:2] == ["server/discover", "initialize"]
    first.close()
    assert "server/discover" not in await requests_of(spec, KnownEras(StoredEras(path)))


async def test_a_wrong_remembered_era_costs_one_more_process(steer):
    spec, book = steered(steer(era="legacy")), KnownEras()
    await requests_of(spec, book)
    steer(era="modern")
    assert (await requests_of(spec, book))[:2] == ["initialize", "server/discover"]
    assert (await requests_of(spec, book))[0] == "server/discover"


@pytest.fixture
def slow(tmp_path):
    """Return the spec of a modern server that takes some seconds to start, and some for each probe."""

    def spec(*, start=0.0, probe=0.0, tools=("say",)):
        script = tmp_path / "slow.py"
        script.write_text(
            "import sys, time\n"
            "sys.argv[:] = sys.argv[1:]\n"
            f"sys.path.insert(0, {str(Path(SERVER).parent)!r})\n"
            "import steered_server\n"
            "usual = steered_server.answer\n"
            "def late(method, params):\n"
            f"    time.sleep({probe} if method == 'server/discover' else 0)\n"
            "    return usual(method, params)\n"
            "steered_server.answer = late\n"
            f"time.sleep({start})\n"
            "steered_server.serve()\n"
        )
        steering = tmp_path / "steering.json"
        steering.write_text(json.dumps({"era": "modern", "tools": list(tools)}))
        return ServerSpec("slow", sys.executable, (str(script), SERVER, str(steering)))

    return spec


async def test_a_slow_server_known_to_be_modern_gets_no_handshake(slow):
    spec, book = slow(start=2.2), KnownEras()  # longer than a server of an unknown era is waited for
    book.connected(spec.digest(), Era(modern=True))
    assert "initialize" not in await requests_of(spec, book)


async def test_a_slow_modern_server_starts_every_time_and_its_era_is_kept(slow, monkeypatch):
    monkeypatch.setattr(session, "DISCOVER_TIMEOUT_SECONDS", 0.1)
    monkeypatch.setattr("tui.host.transports.stdio.PROBE_SECONDS", 0.1)
    spec, book = slow(probe=0.4), KnownEras()
    asked = [(await requests_of(spec, book))[:3] for _ in range(4)]
    assert asked[0][:2] == ["server/discover", "initialize"]
    assert all(methods[0] == "server/discover" and "initialize" not in methods for methods in asked[1:])
    assert book.find(spec.digest()) == Era(modern=True, version="1")


async def test_a_slow_modern_server_is_probed_once(slow, monkeypatch):
    monkeypatch.setattr("tui.host.transports.stdio.PROBE_SECONDS", 0.1)
    assert (await requests_of(slow(probe=0.4), KnownEras())).count("server/discover") == 1


async def test_a_modern_server_that_is_slow_once_keeps_its_era(slow, monkeypatch):
    monkeypatch.setattr(session, "DISCOVER_TIMEOUT_SECONDS", 0.1)
    monkeypatch.setattr("tui.host.transports.stdio.PROBE_SECONDS", 0.1)
    spec, book = slow(), KnownEras()
    book.connected(spec.digest(), Era(modern=True, version="1"))
    for start in (0.4, 0.0):
        slow(start=start)
        assert "initialize" not in await requests_of(spec, book)
    assert book.find(spec.digest()) == Era(modern=True, version="1")


async def test_a_tool_added_to_a_slow_modern_server_after_its_first_run_is_not_accepted(slow, monkeypatch):
    monkeypatch.setattr("tui.host.transports.stdio.PROBE_SECONDS", 0.1)
    book, definitions = KnownEras(), KnownDefinitions()
    for tools, changes in ((["say"], 0), (["say", "more"], 1)):
        spec = slow(probe=0.4, tools=tools)
        host = Host(
            [spec],
            sink=lambda captured: None,
            clock=MonotonicClock(),
            remembered=Remembered(eras=book, definitions=definitions),
        )
        await host.start_all()
        (tool, *_) = host.toolbox.tools()
        said = {"method": "notifications/message"}
        await host.toolbox.call(tool, said, seconds=5, progress=lambda *_: None)
        found = host.definition_changes("slow")
        await host.shutdown()
        assert len(found) == changes
