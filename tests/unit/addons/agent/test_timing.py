"""Numbers and times: statistics, the slowest calls, a turn."""

import json

from tests.unit.addons.agent.agent_stage import agent, files, keep
from tests.unit.traffic.traffic_script import Script
from tui.core.traffic import Cause, Direction, Kind


async def test_calls_are_counted_for_each_tool():
    script = files(3)
    script.error(script.out("tools/call", {"name": "write"}), -32603)
    keep(script)
    async with agent() as ask:
        said = await ask("statistics", limit=1)
        assert "files   tools/call read" in said and ask.more == {"limit": 1, "cursor": 1}
        assert "tools/call write" in await ask("statistics", filter="status:error")


async def test_the_slowest_calls_come_first():
    script = files(2)
    known = script.out("tools/call", {"name": "slow"})
    script.wait(5_000)
    script.result(known, {"content": []})
    keep(script)
    async with agent() as ask:
        said = await ask("slowest", limit=2)
        assert said.index("tools/call slow") < said.index("tools/call read") and "5.0 s" in said
        assert ask.more == {"limit": 8}


def turn() -> Script:
    script = files()
    model = Script("model:small")
    model._reader, model.entries, model._at = script._reader, script.entries, script._at
    step, call = Cause(1, 1), Cause(1, 1, "call_1")
    tools = [{"type": "function", "function": {"name": "read"}}]
    asked = {"model": "small", "messages": [{"role": "user", "content": "read it"}], "tools": tools}
    model.raw(Direction.OUT, json.dumps(asked).encode(), Kind.MODEL_REQUEST, {"exchange": 1}, step)
    model.wait(3_000)
    calls = [{"function": {"name": "read", "arguments": "{}"}}]
    reply = {
        "choices": [{"message": {"content": "Reading.", "tool_calls": calls}}],
        "usage": {"prompt_tokens": 9},
    }
    model.raw(Direction.IN, json.dumps(reply).encode(), Kind.MODEL_REPLY, {"exchange": 1}, step)
    script._at = model._at
    known = script.out("tools/call", {"name": "read", "arguments": {"path": "/x"}}, call)
    script.result(known, {"content": [{"type": "text", "text": "x"}]})
    return script


async def test_a_turn_says_what_the_model_was_sent_and_what_it_called_and_where_the_time_went():
    keep(turn())
    async with agent() as ask:
        said = await ask("turn")
        assert "Turn 1 of 1" in said and "model 99 %" in said
        assert "1 message, 1 tool, last: user read it" in said
        assert "replied: Reading.; calls read; 9 prompt tokens" in said
        assert 'called files › read {"path":"/x"}: ok after 10 ms' in said


async def test_a_recording_without_turns_says_so():
    keep(files())
    async with agent() as ask:
        assert "No turns in" in await ask("turn")


async def test_a_turn_that_does_not_exist_is_answered_with_those_that_do():
    keep(turn())
    async with agent() as ask:
        assert "Its turns are 1 to 1." in await ask("turn", turn=7)
