"""Progress restarts the timeout of a call: both eras, both ways to send it, over stdio and HTTP."""

import asyncio
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.configurations import config_file, server
from tests.hosts import called, far, running, text_of
from tests.http_server import STREAM, Asked, event, http_server
from tests.protocol.command import mcptui
from tui.core.questions import SamplingMeter
from tui.core.servers import SamplingRule, ServerSpec
from tui.core.time_limits import PROGRESS, REQUESTS, CallTimeout
from tui.core.tools import CallFailure
from tui.core.turn.limits import Limits
from tui.host.server.host_context import Answerers

SERVER = Path(__file__).with_name("working_server.py")
ERAS = pytest.mark.parametrize("era", ["modern", "legacy"])


def working(era: str, **fields: object) -> ServerSpec:
    return ServerSpec("far", sys.executable, args=(str(SERVER), era), **fields)


@pytest.mark.parametrize(("era", "tool"), [("legacy", "ends"), ("modern", "ends"), ("legacy", "asks")])
async def test_a_call_whose_server_reports_progress_or_asks_may_take_longer_than_its_timeout(era, tool):
    async with running(working(era)) as host:
        assert text_of(await called(host, tool, CallTimeout(1, most=60))) == "done"


@ERAS
async def test_a_call_that_never_stops_reporting_progress_ends_at_the_maximum(era):
    async with running(working(era)) as host:
        result = await called(host, "never", CallTimeout(1, most=1.5))
    assert result.failure is CallFailure.TIMEOUT
    assert text_of(result) == (
        "never did not finish within 1.5 s, although it reported progress (tool_max_seconds)."
        " The call was cancelled."
    )


@ERAS
async def test_a_call_that_stops_reporting_progress_ends_at_its_timeout(era):
    async with running(working(era)) as host:
        result = await called(host, "pauses", CallTimeout(0.5, most=60))
    expected = "did not respond or report progress within 0.5 s (tool_seconds). The call was cancelled."
    assert text_of(result) == f"pauses {expected}"


async def test_the_timeouts_of_a_server_replace_those_of_all_servers():
    limits = Limits(tool_seconds=0.1, turn_seconds=0.2)
    async with running(working("modern", tool_seconds=1.0)) as host:
        assert "within 1 s (tool_seconds)" in text_of(await called(host, "never", limits.call_timeout))
    async with running(working("modern", tool_seconds=1.0, tool_max_seconds=60.0)) as host:
        assert text_of(await called(host, "ends", limits.call_timeout)) == "done"


class Model:
    """A model whose reply takes 1.6 s, and has parts in between if it is not `silent`."""

    def __init__(self, *, silent: bool) -> None:
        self._is_silent = silent

    async def sample(self, params: Any, *, max_tokens: int, meter: SamplingMeter) -> Mapping[str, Any]:
        for _ in range(8):
            await asyncio.sleep(0.2)
            if not self._is_silent:
                meter.heard()
        return {"role": "assistant", "content": {"type": "text", "text": "Hi"}, "model": "m"}


@pytest.mark.parametrize("silent", [False, True])
async def test_a_model_that_continues_its_reply_to_a_server_restarts_the_timeout_like_progress(silent):
    spec = working("legacy", sampling=SamplingRule.ALLOW)
    async with running(spec, answerers=Answerers(sampler=Model(silent=silent))) as host:
        said = text_of(await called(host, "samples", CallTimeout(1, most=60)))
    late = "samples did not respond or report progress within 1 s (tool_seconds). The call was cancelled."
    assert said == (f"{late} The server was waiting for a reply from the model." if silent else "done")


@ERAS
async def test_progress_restarts_the_timeout_of_a_resent_request(era):
    async with running(working(era)) as host:
        params = {"uri": "a://b", "_meta": {"progressToken": 1}}
        answer = await host.workbench.request(
            "far", "resources/read", params, call="hand-1", seconds=CallTimeout(1, most=60)
        )
    assert answer.problem == "" and answer.result["content"][0]["text"] == "done"


@pytest.mark.parametrize("modern", [True, False], ids=["modern", "legacy"])
async def test_progress_restarts_the_timeout_of_a_call_over_http(modern):
    async def works(asked: Asked, writer: asyncio.StreamWriter) -> None:
        token, known = asked.message["params"]["_meta"]["progressToken"], asked.message["id"]
        complete = {"resultType": "complete"} if modern else {}
        writer.write(STREAM + b"\r\n")
        for step in range(8):
            params = {"progressToken": token, "progress": step}
            note = {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}
            writer.write(event(note))
            await writer.drain()
            await asyncio.sleep(0.2)
        content = [{"type": "text", "text": "done"}]
        writer.write(event({"jsonrpc": "2.0", "id": known, "result": {"content": content, **complete}}))
        writer.close()

    async with http_server(modern=modern) as server:
        server.answers["tools/call"] = works
        async with running(far(server)) as host:
            assert text_of(await called(host, "echo", CallTimeout(1, most=60))) == "done"


@pytest.fixture
def config(tmp_path: Path) -> str:
    return config_file(tmp_path, server("far", SERVER, "modern"), server("older", SERVER, "legacy"))


@pytest.mark.parametrize("asked", [("far", "ends", "--seconds", "1"), ("older", "asks", "--seconds", "0.5")])
async def test_progress_or_a_request_of_the_server_extends_the_seconds_of_the_command(config: str, asked):
    done = await mcptui("call", "--config", config, *asked)
    assert (done.code, done.out) == (0, "done\n")


async def test_the_command_ends_a_call_after_ten_times_its_seconds(config: str):
    done = await mcptui("call", "--config", config, "far", "never", "--seconds", "0.5")
    said = "did not finish within 5 s, although it reported progress (10 times --seconds)"
    assert (done.code, done.out) == (3, "") and said in re.sub(r"\s+", " ", done.err)


@pytest.mark.parametrize(
    "signs, said",
    [
        ((REQUESTS,), "although it sent requests"),
        ((PROGRESS, REQUESTS, PROGRESS), "although it reported progress and sent requests"),
    ],
)
async def test_a_timeout_says_what_kept_the_call_alive(signs, said):
    timeout = CallTimeout(0.04, most=0.05)
    limit = timeout.limit()
    with pytest.raises(TimeoutError):
        async with limit:
            await asyncio.sleep(0.02)
            for sign in signs:
                limit.restart(sign)
            await asyncio.sleep(1)
    assert said in timeout.passed(limit)
