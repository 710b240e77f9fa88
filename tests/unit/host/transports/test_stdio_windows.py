"""The Windows transport wraps that of the SDK, which also runs on this system."""

import asyncio
import sys
from pathlib import Path

import pytest
from mcp import Client

from tests.conftest import until
from tui.core.errors import ServerError
from tui.core.servers import ServerSpec
from tui.core.traffic import Direction
from tui.host.transports.stdio_windows import WindowsStdioTransport

FAULTS = Path(__file__).parents[3] / "corpus" / "faults"


class Sink(list):
    def __call__(self, captured):
        self.append(captured.direction)


def fault(name, **rest):
    spec = ServerSpec(name, sys.executable, (str(FAULTS / f"{name}.py"),))
    return WindowsStdioTransport(spec, **{"sink": Sink(), "owner": "test"} | rest)


async def test_a_call_is_recorded_in_both_directions():
    sink = Sink()
    async with Client(fault("crlf", sink=sink)) as client:
        assert not (await client.call_tool("echo", {})).is_error
    assert sink.count(Direction.OUT) == sink.count(Direction.IN) == 3


async def test_noise_is_counted_and_stderr_is_kept():
    transport = fault("env_dump")
    async with Client(transport) as client:
        await client.call_tool("echo", {})
        await until(lambda: "MCPTUI_OWNER" in transport.stderr.last)
    noisy = fault("banner_on_stdout")
    async with Client(noisy):
        assert noisy.noise > 0


async def test_the_exit_of_a_server_is_detected():
    transport = fault("exit_at_once")
    async with transport as (read, _):
        async with asyncio.timeout(5):
            assert [item async for item in read] == []
        assert transport.exited.is_set()


async def test_a_missing_program_is_rejected():
    with pytest.raises(ServerError, match="cannot start `no-such-program`"):
        async with WindowsStdioTransport(ServerSpec("x", "no-such-program"), sink=Sink(), owner="test"):
            pass
