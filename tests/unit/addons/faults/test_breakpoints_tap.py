"""A tap that holds messages for a running mcptui."""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.conftest import until
from tests.unit.addons.faults.echo_server import ECHO, call, received
from tui.addons.faults.tray import Tray
from tui.core.time_limits import CallTimeout
from tui.core.traffic import Kind
from tui.storage.recordings.reader import RecordingReader


@pytest.mark.skipif(os.name != "posix", reason="a tap of a local server requires POSIX")
async def test_a_tap_holds_for_a_running_app_and_passes_all_when_that_ends(tmp_path: Path) -> None:
    with TemporaryDirectory(prefix="tap") as state:  # the path of a socket has at most 104 characters
        await holds_and_passes(Path(state), tmp_path / "log")


async def started(state: Path, log: Path) -> asyncio.subprocess.Process:
    env = {**os.environ, "XDG_STATE_HOME": str(state)}
    tap = ("-m", "tui", "tap", "--hold", "--name", "echo", "--", sys.executable, "-c", ECHO, str(log))
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(
        sys.executable, *tap, env=env, stdin=pipe, stdout=pipe, stderr=pipe
    )


def recorded_events(state: Path) -> list[object]:
    (path,) = state.rglob("*.mcptrace")
    reader = RecordingReader(path)
    try:
        return [one.detail.get("event") for one in reader.columns(0, 1_000) if one.kind is Kind.EVENT]
    finally:
        reader.close()


async def holds_and_passes(state: Path, log: Path) -> None:
    process = await started(state, log)
    assert process.stdin is not None and process.stdout is not None

    def send(number: int) -> None:
        assert process.stdin is not None
        process.stdin.write(json.dumps(call(number)).encode() + b"\n")

    send(0)
    await process.stdout.readline()  # nothing is held by default
    tray = Tray(lambda: CallTimeout.of(60), state / "mcptui" / "run" / "taps")
    tray.set("server:tap:echo tool:delete_* dir:out")
    await until(lambda: tray.has_taps)
    for number in range(1, 5):
        send(number)
    await until(lambda: len(tray.messages) == 4)
    first, second, third, _ = tray.messages
    second.edit(json.dumps(call(2, edited=True)).encode())
    second.release()
    first.drop()
    third.answer({"result": {"mine": True}})
    assert len(tray.messages) == 1  # at once
    answers = [json.loads(await process.stdout.readline()) for _ in range(2)]
    assert sorted((one["id"], bool(one["result"])) for one in answers) == [(2, False), (3, True)]
    await tray.close()
    assert json.loads(await process.stdout.readline())["id"] == 4
    process.stdin.close()
    assert await asyncio.wait_for(process.wait(), 20) == 0
    assert received(log) == [{"n": 0}, {"n": 2, "edited": True}, {"n": 4}]
    assert list((state / "mcptui" / "run" / "taps").iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="a tap of a local server requires POSIX")
async def test_a_tap_ends_quietly_while_an_app_is_connected(tmp_path: Path) -> None:
    with TemporaryDirectory(prefix="tap") as state:
        process = await started(Path(state), tmp_path / "log")
        tray = Tray(lambda: CallTimeout.of(60), Path(state) / "mcptui" / "run" / "taps")
        tray.set("dir:out")
        await until(lambda: tray.has_taps)
        _, errors = await asyncio.wait_for(process.communicate(b""), 20)
        assert (errors, process.returncode) == (b"", 0)
        await tray.close()


@pytest.mark.skipif(os.name != "posix", reason="a tap of a local server requires POSIX")
async def test_what_is_held_when_a_signal_ends_a_tap_is_recorded_as_never_sent(tmp_path: Path) -> None:
    with TemporaryDirectory(prefix="tap") as state:
        process = await started(Path(state), tmp_path / "log")
        assert process.stdin is not None
        tray = Tray(lambda: CallTimeout.of(60), Path(state) / "mcptui" / "run" / "taps")
        tray.set("dir:out")
        await until(lambda: tray.has_taps)
        process.stdin.write(json.dumps(call(1)).encode() + b"\n")
        await until(lambda: len(tray.messages) == 1)
        process.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(process.wait(), 20) == -signal.SIGTERM
        await tray.close()
        events = recorded_events(Path(state))
        assert ("discarded" in events, "released" in events) == (True, False)
        assert received(tmp_path / "log") == []
