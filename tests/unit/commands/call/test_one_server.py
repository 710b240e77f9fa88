"""The one server of a command: its name, its timeout, and what is printed if it does not start."""

import argparse
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tui.commands.call.one_server import OneServer
from tui.core.errors import UsageError
from tui.core.servers import ServerSpec
from tui.core.time_limits import CallTimeout
from tui.runtime.options import Options
from tui.runtime.runtime import Runtime

SERVER = Path(__file__).parents[3] / "protocol" / "offering_server.py"


@pytest.fixture
async def runtime(
    tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Any]:
    for name in ("XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    args = getattr(request, "param", (str(SERVER), str(tmp_path / "calls")))
    made = Runtime(Options(command="list").with_server(ServerSpec("own", sys.executable, args), {}), {})
    yield made
    await made.shutdown()


def one(runtime: Runtime, named: str | None = None, **args: Any) -> OneServer:
    given = {"command": "list", "verbose": False, "json": False, "seconds": None} | args
    return OneServer(argparse.Namespace(**given), named, runtime)


async def test_the_server_of_the_command_line_is_started(runtime: Runtime):
    found = one(runtime)
    status = await found.start()
    assert status is not None and found.name == status.name == "own"


@pytest.mark.parametrize("runtime", [("-c", "raise SystemExit(7)")], indirect=True)
async def test_a_server_that_does_not_start_is_printed(runtime: Runtime, capsys: pytest.CaptureFixture[str]):
    assert await one(runtime, json=True).start() is None
    printed = capsys.readouterr()
    assert json.loads(printed.out)["where"] == "own" and "code 7" in printed.err


def test_a_request_may_take_as_long_as_a_call_or_as_the_option_says(runtime: Runtime):
    assert one(runtime).timeout == runtime.turn_context.limits.call_timeout
    assert one(runtime, seconds=2.0).timeout == CallTimeout(2.0, 20.0, "--seconds", "10 times --seconds")


async def test_an_unknown_name_is_a_usage_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name in ("XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    runtime = Runtime(Options(command="list"), {})
    with pytest.raises(UsageError, match="not found"):
        await one(runtime, "nobody").start()
    await runtime.shutdown()
