"""The model that replies from a script."""

import asyncio
from contextlib import suppress

import pytest

from tests.conftest import until
from tests.scripted_model import ScriptedModel, Wait, calls, says
from tui.core.conversation.conversation import CallRequest, UserMessage
from tui.core.errors import ModelError
from tui.core.ports import CallPart, ModelRequest, ReplyPart, TextPart

ASK = ModelRequest("", [UserMessage("hi")])


async def test_each_request_is_stored_and_gets_the_next_reply() -> None:
    call = CallRequest("c", "now", "{}")
    model = ScriptedModel([says("ab", pieces=2), calls(call)])
    assert [part async for part in model.stream(ASK)] == [TextPart("a"), TextPart("b"), ReplyPart()]
    assert [part async for part in model.stream(ASK)] == [
        CallPart("now", 2),
        ReplyPart((call,), "tool_calls"),
    ]
    assert model.requests == [ASK, ASK] and model.closed == 0


async def test_a_reply_may_depend_on_the_request() -> None:
    model = ScriptedModel([lambda request: says(f"{len(request.messages)} messages")])
    assert await anext(model.stream(ASK)) == TextPart("1 messages")


async def test_a_scripted_failure_and_the_end_of_the_script_are_raised() -> None:
    failure = ModelError("down")
    model = ScriptedModel([[failure]])
    for expected in ("down", "no more replies"):
        with pytest.raises(ModelError, match=expected):
            await anext(model.stream(ASK))


async def test_a_stream_that_is_closed_early_is_counted() -> None:
    model = ScriptedModel([[TextPart("a"), Wait(0), Wait(None)]])
    heard: list[object] = []

    async def listen() -> None:
        async for part in model.stream(ASK):
            heard.append(part)

    task = asyncio.create_task(listen())
    await until(lambda: heard)
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    assert model.closed == 1
