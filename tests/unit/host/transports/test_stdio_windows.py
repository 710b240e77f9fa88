"""What a local server has on Windows, which also works on this system: threads for pipes, and no groups."""

import asyncio

import psutil
import pytest

from tests.conftest import until
from tests.unit.host.client import Client
from tests.unit.host.transports.test_stdio import Sink, fault, request, script, use_threads
from tui.core.traffic import Direction

TREE = (
    "import subprocess, sys; child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']);"
    "print(child.pid, file=sys.stderr, flush=True); "
)


@pytest.fixture(autouse=True)
def threads(monkeypatch):
    use_threads(monkeypatch)


async def test_a_call_is_recorded_in_both_directions_and_the_server_exits_when_its_input_ends():
    sink = Sink()
    async with Client(transport := fault("crlf", sink=sink)) as client:
        assert not (await client.call_tool("echo", {})).is_error
    assert len(sink.of(Direction.OUT)) == len(sink.of(Direction.IN)) == 2
    assert transport.exit.code == 0 and not transport.leftovers


async def test_noise_is_counted_and_stderr_is_kept():
    transport = fault("env_dump")
    async with Client(transport) as client:
        await client.call_tool("echo", {})
        await until(lambda: "MCPTUI_OWNER" in transport.stderr.last)
    noisy = fault("banner_on_stdout")
    async with Client(noisy):
        assert noisy.messages.noise > 0


async def test_large_lines_arrive_in_both_directions():
    code = (
        "import json, sys; asked = json.loads(sys.stdin.readline());"
        "print(json.dumps({'jsonrpc': '2.0', 'id': asked['id'], 'result': asked['params']}), flush=True)"
    )
    async with script(code) as link:
        link.send(request(text="x" * 3_000_000), {})
        async with asyncio.timeout(20):
            assert len((await link.inbox.get()).result["text"]) == 3_000_000


@pytest.mark.parametrize("ended", ["by the stop", "at once"])
async def test_a_server_that_does_not_exit_is_ended_with_its_children(ended):
    transport = script(TREE + "import time; time.sleep(60)")
    async with transport:
        await until(lambda: transport.stderr.last)
        if ended == "at once":
            await transport.kill_now()
    assert transport.exit.signal == "SIGKILL"
    await until(lambda: not psutil.pid_exists(int(transport.stderr.last)))
