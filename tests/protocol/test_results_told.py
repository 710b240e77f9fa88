"""Results of a server as sent to a model: real server, real HTTP, a whole turn."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests import programs
from tests.endpoint import Endpoint, Request, calls, says
from tui.core.conversation.conversation import Conversation
from tui.core.events import Event, ToolCallEnded, TurnStarted
from tui.core.permission.approval_policy import Mode, Policy
from tui.core.ports import ApprovalRequest, Decision, MonotonicClock
from tui.core.servers import ServerSpec
from tui.core.turn.limits import Limits
from tui.core.turn.loop import Turn
from tui.core.turn.tool_calls import TurnDeps, TurnModel, TurnPermission, TurnTools
from tui.host.host import Host
from tui.model.endpoints.profile import ModelProfile
from tui.model.openai_api.openai_chat import OpenAIChat

SERVER = Path(__file__).with_name("showing_server.py")
FAULTS = Path(__file__).parents[1] / "corpus" / "faults"


class Nobody:
    async def ask(self, request: ApprovalRequest) -> Decision:
        raise AssertionError("nothing may ask here")


@pytest.fixture
async def host():
    made = Host([programs.server("srv", SERVER)], sink=lambda captured: None, clock=MonotonicClock())
    await made.start_all()
    yield made
    await made.shutdown()


async def turn_with(
    host: Host, replies: Sequence[Any], model: str = "gpt-4o"
) -> tuple[list[Event], list[Any]]:
    """Return the events of a turn, and the bodies of its requests."""
    async with Endpoint(replies) as endpoint:
        chat = OpenAIChat(ModelProfile("test", endpoint.base_url, model))
        talk = Conversation()
        talk.say("What is there?")
        deps = TurnDeps(
            TurnModel(chat),
            TurnTools(host.toolbox),
            TurnPermission(Nobody(), Policy(mode=Mode.ALL)),
            Limits(),
            MonotonicClock(),
        )
        try:
            events = [event async for event in Turn(talk, deps).events()]
        finally:
            await chat.aclose()
        return events, [request.json for request in endpoint.requests]


async def test_an_image_from_a_server_is_sent_to_the_model_as_an_image(host):
    _, (_, body) = await turn_with(host, [calls(("srv__picture", {})), says("Black.")])
    *_, told, seen = body["messages"]
    assert told["content"] == "[image 1: image/png 64x48, attached below]"
    assert seen["role"] == "user"
    assert seen["content"][1]["image_url"]["url"].startswith("data:image/png;base64,iVBOR")


async def test_a_model_without_image_support_is_told_that_there_was_an_image(host):
    _, (_, body) = await turn_with(host, [calls(("srv__picture", {})), says("A picture.")], "deepseek-chat")
    assert body["messages"][-1]["role"] == "tool" and "not shown to you" in body["messages"][-1]["content"]
    assert "iVBOR" not in json.dumps(body)


async def test_the_model_reads_the_rest_of_a_long_result_with_one_call(host):
    def read_on(request: Request) -> Any:
        names = [tool["function"]["name"] for tool in request.json["tools"]]
        assert names[-1] == "mcptui__read_result"
        return calls(("mcptui__read_result", {"name": "result-1", "grep": "23456:"}))

    events, bodies = await turn_with(host, [calls(("srv__log", {})), read_on, says("All is well.")])
    assert "mcptui__read_result" not in json.dumps(bodies[0])
    cut, found = [event for event in events if isinstance(event, ToolCallEnded)]
    assert len(cut.text.encode()) <= Limits().result_bytes and "23456: all is well" not in cut.text
    assert "23456: all is well" in found.text and (found.server, found.is_error) == ("mcptui", False)


async def test_content_given_as_text_and_structured_is_sent_once(host):
    _, (_, body) = await turn_with(host, [calls(("srv__numbers", {})), says("Three.")])
    assert body["messages"][-1]["content"] == "1\n2\n3"


async def test_each_kind_of_content_is_described_to_the_model(host):
    _, (_, body) = await turn_with(host, [calls(("srv__everything", {})), says("Much.")])
    assert body["messages"][-1]["content"].split("\n") == [
        "words",
        "[image 1: image/png, 7 B, not shown to you: not valid base64]",
        "[audio 1: audio/ogg, 8 B, not shown to you: unsupported audio format]",
        "[resource a: file:///a — first]",
        "[resource notes://1, text/markdown]",
        "````",
        "```",
        "x",
        "```",
        "````",
    ]


async def test_tools_over_the_limit_are_omitted_with_a_notice_to_the_user():
    path = str(FAULTS / "tools_2000_paginated.py")
    made = Host(
        [ServerSpec("many", sys.executable, (path,))], sink=lambda captured: None, clock=MonotonicClock()
    )
    await made.start_all()
    try:
        events, (body,) = await turn_with(made, [says("So many.")])
    finally:
        await made.shutdown()
    assert isinstance(events[0], TurnStarted) and "of 2000 tools are offered" in events[0].notice.replace(
        ",", ""
    )
    assert 0 < len(body["tools"]) <= 128
