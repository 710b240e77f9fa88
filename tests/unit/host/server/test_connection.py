"""What a connection sends besides calls: the log level, the trace context, repeated list requests."""

import json
import sys
from contextlib import asynccontextmanager

import pytest

from tests import hosts
from tests.conftest import until
from tests.unit.host.test_workbench import ERAS, ODD
from tui.core.servers import ServerSpec
from tui.core.traffic import Direction

LEVEL = "io.modelcontextprotocol/logLevel"


@asynccontextmanager
async def running(era, traceparent=lambda: "", **spec):
    captured = []
    env = {"ODD_ERA": era, "ODD_LOGS": "1"}
    made = ServerSpec("srv", sys.executable, (str(ODD),), env=env, **spec)

    def params(method):
        return [one["params"] for one in sent(captured) if one.get("method") == method and "id" in one]

    async with hosts.running(made, sink=captured.append, traceparent=traceparent) as host:
        yield host, params


def sent(captured):
    return [json.loads(one.raw) for one in captured if one.direction is Direction.OUT]


async def call(host, number=1):
    (tool,) = host.workbench.tools("srv")
    await host.workbench.call_tool(tool, {}, call=f"hand-{number}", seconds=5, progress=lambda *_: None)


async def test_the_log_level_is_set_at_the_start_of_a_session_and_when_it_changes():
    async with running("legacy", log_level="warning") as (host, params):
        await until(lambda: params("logging/setLevel") == [{"level": "warning"}])
        host.reconfigure("srv", log_level="debug")
        await until(lambda: params("logging/setLevel")[1:] == [{"level": "debug"}])


async def test_without_a_configured_log_level_none_is_requested():
    async with running("legacy") as (host, params):
        await call(host)
        assert params("logging/setLevel") == []


async def test_since_2026_the_log_level_is_part_of_each_request():
    async with running("modern", log_level="warning") as (host, params):
        await call(host)
        host.reconfigure("srv", log_level="debug")
        await call(host, 2)
        assert [one["_meta"][LEVEL] for one in params("tools/call")] == ["warning", "debug"]
        assert LEVEL not in params("server/discover")[0]["_meta"]
        assert params("logging/setLevel") == []


@ERAS
async def test_a_request_has_the_traceparent_that_is_current(era):
    current = [""]
    async with running(era, traceparent=lambda: current[0]) as (host, params):
        await call(host)
        current[0] = "00-aa-bb-01"
        await call(host, 2)
        first, second = params("tools/call")
        assert "traceparent" not in first.get("_meta", {})
        assert second["_meta"]["traceparent"] == "00-aa-bb-01"


@ERAS
async def test_lists_are_requested_again_on_demand(era):
    async with running(era) as (host, params):
        host.workbench.relist("srv")
        await until(lambda: len(params("tools/list")) == 2 and host.status("srv").prompts_revision == 1)


@pytest.mark.parametrize(("era", "hint"), [("legacy", (None, "")), ("modern", (300_000, "public"))])
async def test_caching_hints_of_lists_are_stored(era, hint):
    async with running(era) as (host, _):
        who = await host.workbench.identity("srv")
        found = who.hints["tools"]
        assert (found.ttl_ms, found.scope) == hint and found.asked_ns > 0


@ERAS
async def test_instructions_are_available_only_if_the_person_allows_them(era):
    async with running(era) as (host, _):
        assert host.instructions() == {}
        host.reconfigure("srv", instructions=True)
        assert host.instructions() == {"srv": "Be kind."}
        host.reconfigure("srv", off=("*",))
        assert host.instructions() == {}
        host.reconfigure("srv", off=())
        await host.stop("srv")
        assert host.instructions() == {}
