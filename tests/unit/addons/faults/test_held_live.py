"""Held messages of real processes: a server of this run, and one behind a tap."""

import asyncio
import json
import os
import random
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import until
from tui.addons.faults.tray import Tray
from tui.core.servers import ServerSpec
from tui.core.time_limits import CallTimeout
from tui.core.traffic import CAUSE, Captured, Cause, Direction, Kind
from tui.host.process.stop_ladder import StopGrace
from tui.host.transports.stdio import StdioTransport

ECHO = """
import json, sys
for line in sys.stdin:
    open(sys.argv[1], "a").write(line)
    message = json.loads(line)
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {}}), flush=True)
"""
QUICK = StopGrace(flush=0.5, eof=1.0, term=0.2, kill=2.0, stragglers=0.2)


def call(number: int, **arguments: Any) -> dict[str, Any]:
    params = {"name": "delete_x", "arguments": {"n": number, **arguments}}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def received(log: Path) -> list[Any]:
    """Return the arguments that the server got, in order."""
    lines = log.read_text().splitlines() if log.exists() else []
    return [json.loads(line)["params"]["arguments"] for line in lines]


async def test_100_held_messages_are_each_sent_once_in_the_order_of_their_release(tmp_path: Path) -> None:
    log, seen = tmp_path / "log", list[Captured]()
    tray = Tray(lambda: CallTimeout.of(60), tmp_path)
    tray.set("tool:delete_* dir:out")
    spec = ServerSpec("echo", sys.executable, ("-c", ECHO, str(log)))
    transport = StdioTransport(spec, sink=seen.append, owner="test", grace=QUICK, stages=[tray.stage()])
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


@pytest.mark.skipif(os.name != "posix", reason="a tap of a local server requires POSIX")
async def test_a_tap_holds_for_a_running_app_and_passes_all_when_that_ends(tmp_path: Path) -> None:
    log = tmp_path / "log"
    env = {**os.environ, "HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path)}
    tap = ("-m", "tui", "tap", "--hold", "--name", "echo", "--", sys.executable, "-c", ECHO, str(log))
    process = await asyncio.create_subprocess_exec(
        sys.executable, *tap, env=env, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdin is not None and process.stdout is not None

    def send(number: int) -> None:
        assert process.stdin is not None
        process.stdin.write(json.dumps(call(number)).encode() + b"\n")

    send(0)
    await process.stdout.readline()  # nothing is held by default
    tray = Tray(lambda: CallTimeout.of(60), tmp_path / "mcptui" / "taps")
    tray.set("server:tap:echo tool:delete_* dir:out")
    await until(lambda: tray.is_connected)
    for number in range(1, 5):
        send(number)
    await until(lambda: len(tray.messages) == 4)
    first, second, third, _ = tray.messages
    second.edit(json.dumps(call(2, edited=True)).encode())
    second.release()
    first.drop()
    third.answer({"result": {"mine": True}})
    await until(lambda: len(tray.messages) == 1)
    answers = [json.loads(await process.stdout.readline()) for _ in range(2)]
    assert sorted((one["id"], bool(one["result"])) for one in answers) == [(2, False), (3, True)]
    await tray.close()
    assert json.loads(await process.stdout.readline())["id"] == 4
    process.stdin.close()
    assert await asyncio.wait_for(process.wait(), 20) == 0
    assert received(log) == [{"n": 0}, {"n": 2, "edited": True}, {"n": 4}]
    assert list((tmp_path / "mcptui" / "taps").iterdir()) == []
