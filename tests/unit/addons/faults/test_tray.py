"""The tray of a run, with a real server."""

import json
import random
import sys
from pathlib import Path
from typing import Any

from tests.unit.addons.faults.echo_server import ECHO, call, received
from tui.addons.faults.tray import Tray
from tui.core.servers import ServerSpec
from tui.core.time_limits import CallTimeout
from tui.core.traffic import CAUSE, Captured, Cause, Direction, Kind
from tui.host.process.stop_ladder import StopGrace
from tui.host.transports.stdio import StdioTransport

QUICK = StopGrace(flush=0.5, eof=1.0, term=0.2, kill=2.0, stragglers=0.2)


async def test_100_held_messages_are_each_sent_once_in_the_order_of_their_release(tmp_path: Path) -> None:
    log, seen = tmp_path / "log", list[Captured]()
    tray = Tray(lambda: CallTimeout.of(60), tmp_path)
    tray.set("tool:delete_* dir:out")
    spec = ServerSpec("echo", sys.executable, ("-c", ECHO, str(log)))
    transport = StdioTransport(spec, sink=seen.append, owner="test", grace=QUICK, stages=tray.stages())
    expected: list[Any] = []
    draw = random.Random(32)
    async with transport as link:
        CAUSE.set(Cause(7, 1))
        for number in range(100):
            assert link.send(call(number), lambda: {})
        CAUSE.set(None)
        assert len(tray.messages) == 100
        for held in draw.sample(list(tray.messages), 80):
            number = json.loads(held.raw)["id"]
            match draw.choice(("release", "edit", "drop")):
                case "release":
                    expected.append({"n": number})
                    held.release()
                    held.release()  # a second key press
                case "edit":
                    expected.append({"n": number, "edited": True})
                    held.edit(json.dumps(call(number, edited=True)).encode())
                    held.release()
                case _:
                    held.drop()
        expected += [{"n": json.loads(held.raw)["id"]} for held in tray.messages]
    assert received(log) == expected
    assert tray.messages == []
    sent = [one for one in seen if one.direction is Direction.OUT and one.kind is None]
    assert [json.loads(one.raw)["params"]["arguments"] for one in sent] == expected
    assert {one.cause for one in sent} == {Cause(7, 1)}
    words = [one.detail["event"] for one in seen if one.kind is Kind.EVENT]
    assert words.count("held") == 100
    assert words.count("released") + words.count("edited") == len(expected)
