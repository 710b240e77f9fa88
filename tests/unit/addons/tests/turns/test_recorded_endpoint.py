import json
from collections.abc import Sequence
from typing import Any

import pytest

from tui.addons.tests.turns.recorded_endpoint import RecordedEndpoint, recorded_profile
from tui.addons.tests.turns.recorded_turns import Exchange, Prompt, RecordedTurn
from tui.core.errors import ModelError
from tui.core.traffic import Captured, Direction, Kind

TOOL = {"type": "function", "function": {"name": "t", "description": "A tool."}}


def body(*said: str, tool: dict[str, Any] = TOOL) -> dict[str, Any]:
    messages = [
        {"role": "user", "content": "rain?"},
        *({"role": "assistant", "content": one} for one in said),
    ]
    return {"model": "m-1", "messages": messages, "tools": [tool]}


def turn(*bodies: dict[str, Any]) -> RecordedTurn:
    exchanges = [
        Exchange(
            Prompt.of(one, 0),
            f"reply {at}".encode(),
            "text/event-stream",
            "https://models.example/v1/chat/completions?api-version=1",
            at * 10,
        )
        for at, one in enumerate(bodies, 1)
    ]
    return RecordedTurn("gpt", exchanges)


async def replies(endpoint: RecordedEndpoint, *bodies: dict[str, Any]) -> Sequence[bytes]:
    found = []
    for one in bodies:
        async with endpoint.reply(one) as connection:
            found += [block async for block in connection.blocks]
    return found


async def test_each_request_gets_the_reply_to_the_same_calls() -> None:
    endpoint = RecordedEndpoint(turn(body(), body("a"), body("a", "b")), lambda _: None, [])
    assert await replies(endpoint, body(), body("a"), body("a", "b")) == [b"reply 1", b"reply 2", b"reply 3"]
    assert endpoint.notes == []


async def test_the_same_request_gets_the_next_reply_to_it() -> None:
    endpoint = RecordedEndpoint(turn(body(), body()), lambda _: None, [])
    assert await replies(endpoint, body(), body()) == [b"reply 1", b"reply 2"]


async def test_other_calls_and_a_longer_turn_are_errors_that_say_what_to_do() -> None:
    endpoint = RecordedEndpoint(turn(body(), body("a")), lambda _: None, [])
    await replies(endpoint, body())
    with pytest.raises(ModelError, match="no reply to step 2: the calls before it are different now"):
        await replies(endpoint, body("b"))
    with pytest.raises(ModelError, match="no reply to step 3: it ends before") as raised:
        await replies(endpoint, body("a", "b"))
    assert "--record" in raised.value.next_step and not raised.value.retryable


async def test_both_sides_are_recorded_again_with_the_entry_that_was_replayed() -> None:
    seen: list[Captured] = []
    await replies(RecordedEndpoint(turn(body()), seen.append, []), body())
    asked, said = seen
    assert (asked.kind, asked.direction, asked.source) == (Kind.MODEL_REQUEST, Direction.OUT, "model:gpt")
    assert json.loads(asked.raw) == body()
    assert (said.kind, said.raw, said.detail["status"], said.detail["replayed"]) == (
        Kind.MODEL_REPLY,
        b"reply 1",
        200,
        10,
    )
    assert asked.detail["exchange"] == said.detail["exchange"]


async def test_changed_tools_are_noted_once() -> None:
    other = {"type": "function", "function": {"name": "t", "description": "Another tool."}}
    endpoint = RecordedEndpoint(turn(body(), body("a")), lambda _: None, [])
    await replies(endpoint, body(tool=other), body("a", tool=other))
    (note,) = endpoint.notes
    assert note.startswith("t changed since the recording")


def test_a_model_that_is_not_configured_has_its_recorded_address() -> None:
    profile = recorded_profile(turn(body()))
    assert (profile.name, profile.base_url, profile.model) == ("gpt", "https://models.example/v1", "m-1")
