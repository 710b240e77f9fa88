"""Servers that are removed, replaced or stopped during a call: the call has a result, its questions close."""

import asyncio
import dataclasses
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests import hosts, programs
from tests.conftest import until
from tui.core.questions import Questioner
from tui.core.servers import SamplingRule, ServerState
from tui.core.tools import CallFailure, TextContent, ToolResult
from tui.host.server.host_context import Answerers

SERVER = Path(__file__).parent / "leaving_server.py"
BOTH_ERAS = pytest.mark.parametrize("era", ["legacy", "modern"])


class Silent(Questioner):
    """A user who answers nothing, and a model that never replies."""

    def __init__(self):
        self.open = 0
        self.withdrawn = 0
        self.sent = hosts.Raw()

    async def _wait(self, *_, **__):
        self.open += 1
        try:
            await asyncio.Event().wait()
        finally:
            self.open -= 1
            self.withdrawn += 1

    ask = sample = _wait


def spec_of(era, **more):
    return programs.server("srv", SERVER, env={"ERA": era}, sampling=SamplingRule.ALLOW, **more)


@asynccontextmanager
async def running(era="legacy", **more):
    """Yield a host with the running server, and the one who is asked."""
    user = Silent()
    answerers = Answerers(questioner=user, sampler=user)
    async with hosts.running(spec_of(era, **more), sink=user.sent, answerers=answerers) as host:
        yield host, user


def calling(host, name):
    return asyncio.create_task(hosts.called(host, hosts.tool_of(host, name), 60))


async def gone(host, how):
    if how == "removed":
        await host.remove("srv")
    elif how == "stopped":
        await host.stop("srv")
    else:
        spec = host.status("srv").spec
        await host.replace(dataclasses.replace(spec, env={**spec.env, "EDITED": "1"}))


EACH_WAY = pytest.mark.parametrize("how", ["removed", "replaced", "stopped"])


async def ended(call):
    async with asyncio.timeout(10):
        result = await call
    return result.failure, hosts.text_of(result)


@BOTH_ERAS
@EACH_WAY
async def test_a_call_that_waits_for_its_answer_ends_with_its_server(era, how):
    async with running(era) as (host, user):
        call = calling(host, "wait")
        await until(lambda: any(b'"tools/call"' in raw for raw in user.sent))
        await gone(host, how)
        failure, text = await ended(call)
        assert failure is CallFailure.SERVER_DIED and "was stopped during the call" in text


@EACH_WAY
async def test_a_call_that_waits_for_a_changed_list_is_not_sent_after_its_server_left(how):
    async with running() as (host, _):
        await calling(host, "stale")
        await until(lambda: not host._servers["srv"].connection.lists._fresh["tools"].is_settled)
        call = calling(host, "wait")
        await until(lambda: host._servers["srv"].connection.lists._fresh["tools"]._waiting)
        await gone(host, how)
        failure, text = await ended(call)
        assert failure is CallFailure.NOT_RUNNING and "The server “srv” is not running" in text


async def test_a_result_whose_server_was_removed_while_it_was_checked_is_kept():
    async with running() as (host, _):
        toolbox, checking = host.toolbox, asyncio.Event()
        goes_on = asyncio.Event()

        async def judged(result, schema):
            checking.set()
            await goes_on.wait()
            return result

        async def answered(*_, **__):
            return ToolResult((TextContent("the answer"),), raw={"content": []})

        toolbox.judged = judged
        host._servers["srv"].connection.calls.call = answered
        call = calling(host, "wait")
        await checking.wait()
        await host.remove("srv")
        goes_on.set()
        assert await ended(call) == (CallFailure.NONE, "the answer")


async def test_a_result_of_a_replaced_server_is_redacted_unless_both_may_send_secrets():
    async with running(send_as_is=False) as (host, _):
        toolbox, answering = host.toolbox, asyncio.Event()

        async def answered(*_, **__):
            await answering.wait()
            return ToolResult((TextContent("x"),), raw={"content": []})

        toolbox.call_by_hand = answered
        call = calling(host, "wait")
        await asyncio.sleep(0)
        await host.replace(spec_of("legacy", send_as_is=True))
        answering.set()
        assert not (await call).as_is


@EACH_WAY
@pytest.mark.parametrize("state", [ServerState.STOPPED, ServerState.STARTING])
async def test_a_call_that_restarts_its_server_ends_when_the_server_leaves(how, state):
    async with running() as (host, _):
        await host._servers["srv"].connection.transport.kill_now()
        await until(lambda: host._servers["srv"].is_reviving)
        call = calling(host, "wait")
        await until(lambda: host.status("srv").state is state)
        await gone(host, how)
        failure, text = await ended(call)
        assert failure is CallFailure.NOT_RUNNING and "The server “srv” is not running" in text


@pytest.mark.parametrize(
    ("era", "tool"),
    [("legacy", "ask"), ("legacy", "sample"), ("modern", "ask"), ("modern", "sample"), ("modern", "inquire")],
)
@EACH_WAY
async def test_a_question_of_a_call_or_a_task_is_withdrawn_when_its_server_leaves(era, how, tool):
    async with running(era) as (host, user):
        call = calling(host, tool)
        await until(lambda: user.open == 1)
        await gone(host, how)
        failure, text = await ended(call)
        assert (user.open, user.withdrawn, failure) == (0, 1, CallFailure.SERVER_DIED)
        assert "was stopped during the call" in text


@EACH_WAY
async def test_a_task_that_waits_to_be_polled_ends_with_its_server(how):
    async with running("modern") as (host, _):
        call = calling(host, "work")
        await until(lambda: host._servers["srv"].connection.calls.tasks.followed)
        await gone(host, how)
        failure, text = await ended(call)
        assert failure is CallFailure.SERVER_DIED and "The task may continue on the server" in text
