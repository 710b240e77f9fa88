"""How long a replay waits for a response of the live server."""

import sys
from pathlib import Path

import pytest

from tui.addons.replay import live
from tui.addons.replay.live import Replay, ReplayItem
from tui.core.servers import ServerSpec
from tui.core.traffic import Direction, Entry, Kind
from tui.host.process.stop_ladder import StopGrace

WORKS = """
import json, sys, time
for line in sys.stdin:
    for step in range({steps}):
        time.sleep(0.1)
        params = {{"progressToken": 1, "progress": step}}
        note = {{"jsonrpc": "2.0", "method": "notifications/progress", "params": params}}
        print(json.dumps(note), flush=True)
    time.sleep({silent})
    print(json.dumps({{"jsonrpc": "2.0", "id": {ident}, "result": {{}}}}), flush=True)
"""


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(live, "ANSWER_SECONDS", 0.6)
    monkeypatch.setattr(live, "GRACE", StopGrace(eof=0.1, term=0.1))


async def problem(folder: Path, steps: int, silent: float = 0, ident: str = "1") -> str:
    """Return why there is no response of a server that reports progress every 0.1 s, or ""."""
    server = folder / "server.py"
    server.write_text(WORKS.format(steps=steps, silent=silent, ident=ident))
    asked = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call"}'
    entry = Entry(1, 1, 1, "s", Direction.OUT, Kind.REQUEST, "tools/call", "look", "1")
    item = ReplayItem(entry, asked, b'{"id": 1, "result": {}}')
    spec = ServerSpec("live", sys.executable, (str(server),))
    async with live.LiveConnection.started(spec) as connection:
        connection.begin(Replay([item]))
        return (await connection.send(item)).problem


@pytest.mark.parametrize("ident", ['"1"', "1.0"])
async def test_a_response_with_its_id_in_another_type_is_accepted(tmp_path, quick, ident):
    assert await problem(tmp_path, 0, ident=ident) == ""


async def test_progress_restarts_the_timeout_of_a_replayed_request(tmp_path, quick):
    assert await problem(tmp_path, 8) == ""
    assert await problem(tmp_path, 1, silent=60) == "no response within 0.6 s"


async def test_a_replayed_request_that_never_stops_reporting_progress_ends(tmp_path, quick, monkeypatch):
    monkeypatch.setattr(live, "MOST", 2)
    assert await problem(tmp_path, 1000) == "no response within 1.2 s"
