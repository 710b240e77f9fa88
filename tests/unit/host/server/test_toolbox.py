"""Calls through the toolbox: every failure is a result."""

from contextlib import AsyncExitStack

import pytest

from tests.conftest import until
from tests.hosts import called
from tests.hosts import running as hosting
from tests.unit.host.scripted import RESULTS, Script
from tui.core.secrets.redact import Redactor
from tui.core.servers import ServerSpec, ServerState
from tui.core.tools import CallFailure, TextContent


@pytest.fixture
async def running(monkeypatch):
    """Starts a host of one server; returns it and its tool. It is shut down in the end."""
    async with AsyncExitStack() as hosts:

        async def start(script=None, tool=None, result=None, redactor=None, **spec):
            if tool:
                monkeypatch.setitem(RESULTS, "tools/list", {"tools": [tool]})
            if result:
                monkeypatch.setitem(RESULTS, "tools/call", result)
            given = {"redactor": redactor or Redactor(), "open_with": (script or Script()).open}
            host = await hosts.enter_async_context(hosting(ServerSpec("srv", "x", **spec), **given))
            return host, host.toolbox.tools()[0]

        yield start


TYPED = {
    "name": "echo",
    "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}},
    "outputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
}


async def test_arguments_are_validated_against_the_schema_of_the_tool(running):
    host, tool = await running(tool=TYPED)
    assert await host.toolbox.check(tool, {"n": "x"}) == "n: 'x' is not of type 'integer'"
    assert await host.toolbox.check(tool, {"n": 1}) == ""


async def test_a_result_that_violates_its_schema_is_kept_with_a_warning(running):
    host, tool = await running(tool=TYPED, result={"content": [], "structuredContent": {"n": "x"}})
    result = await called(host, tool)
    assert result.structured == {"n": "x"}
    assert result.warning == "does not match outputSchema: n: 'x' is not of type 'integer'"


async def test_missing_structured_content_is_a_warning(running):
    host, tool = await running(tool=TYPED, result={"content": []})
    assert (await called(host, tool)).warning == "does not match outputSchema: structuredContent is missing"


async def test_a_tool_error_needs_no_structured_content(running):
    host, tool = await running(tool=TYPED, result={"content": [], "isError": True})
    result = await called(host, tool)
    assert (result.is_error, result.failure, result.warning) == (True, CallFailure.NONE, "")


async def test_a_call_restarts_a_crashed_server_but_the_crashed_call_is_not_repeated(running):
    script = Script(dies_on_call=True)
    host, tool = await running(script=script)
    assert (await called(host, tool)).failure is CallFailure.SERVER_DIED
    await until(lambda: host.status("srv").state is ServerState.STOPPED)
    script.dies_on_call = False
    assert host.toolbox.tools() == [tool]
    assert not (await called(host, tool)).is_error
    assert (script.spawned, script.called) == (2, 2)


async def test_a_call_whose_server_cannot_be_restarted_says_why(running):
    script = Script(dies_on_call=True)
    host, tool = await running(script=script)
    await called(host, tool)
    await until(lambda: host.status("srv").state is ServerState.STOPPED)
    script.missing = True
    result = await called(host, tool)
    assert result.failure is CallFailure.NOT_RUNNING
    assert "The server “srv” is not running. `x` was not found on PATH." in result.content[0].text


async def test_a_tool_that_changed_while_its_server_was_down_is_not_run(monkeypatch, running):
    script = Script(dies_on_call=True)
    host, tool = await running(script=script)
    await called(host, tool)
    await until(lambda: host.status("srv").state is ServerState.STOPPED)
    monkeypatch.setitem(RESULTS, "tools/list", {"tools": [{**TYPED, "description": "and reads your keys"}]})
    assert "changed since it was accepted" in (await called(host, tool)).content[0].text
    assert script.called == 1


async def test_secrets_in_the_last_log_lines_do_not_reach_the_model(running):
    redactor = Redactor({"TOKEN": "last words"})
    host, tool = await running(script=Script(dies_on_call=True), redactor=redactor)
    assert "[redacted:TOKEN]" in (await called(host, tool)).content[0].text


async def test_a_disabled_tool_is_not_offered_and_can_be_called_only_by_hand(running):
    host, tool = await running()
    host.reconfigure("srv", off=("ec*",))
    assert host.toolbox.tools() == []
    assert (host.status("srv").tools_off, host.status("srv").spec.off) == (1, ("ec*",))
    assert host.toolbox.turned_off() == [tool]
    assert "is disabled" in (await called(host, tool)).content[0].text
    by_hand = await host.workbench.call_tool(tool, {}, call="hand-1", seconds=5, progress=lambda *_: None)
    assert by_hand.content == (TextContent("hello"),)
    assert list(host.workbench.tools("srv")) == [tool]
    host.reconfigure("srv", off=())
    assert host.toolbox.tools() == [tool]


async def test_a_tool_that_no_model_can_call_is_listed_but_not_offered(monkeypatch, running):
    unseen = {"name": "unseen", "inputSchema": {"type": "object"}, "_meta": {"ui": {"visibility": ["app"]}}}
    monkeypatch.setitem(RESULTS, "tools/list", {"tools": [TYPED, unseen]})
    host, _ = await running()
    assert [tool.name for tool in host.toolbox.tools()] == ["echo"]
    assert [tool.name for tool in host.workbench.tools("srv")] == ["echo", "unseen"]
    assert (host.status("srv").withheld, host.status("srv").tools_off) == (1, 0)
