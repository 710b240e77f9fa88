"""Requests and replies of a model are recorded unchanged, through the real client."""

import json
from typing import Any

from tests.endpoint import Endpoint, Reply, refuses, says
from tests.streams import output_at
from tui.core.conversation.conversation import UserMessage
from tui.core.ports import ModelRequest
from tui.core.secrets.redact import Secret
from tui.core.traffic import CAUSE, Captured, Cause, Direction, Kind
from tui.model.endpoints.profile import ModelProfile
from tui.model.openai_api.openai_client import WITHHELD

KEY = "sk-0123456789abcdef0123"
ASK = ModelRequest("be brief", [UserMessage("北京?")])


async def told(*replies: Reply, **profile: Any) -> tuple[list[Captured], Endpoint]:
    seen: list[Captured] = []
    async with Endpoint(replies) as endpoint:
        made = ModelProfile("mine", endpoint.base_url, "m", api_key=Secret(KEY), **profile)
        CAUSE.set(Cause(3, 2))
        await output_at(made, ASK, seen.append)
    return seen, endpoint


async def test_a_request_and_its_reply_are_recorded_byte_for_byte_with_their_cause() -> None:
    (asked, said), endpoint = await told(says("Hello"))
    assert (asked.source, asked.kind, asked.direction) == ("model:mine", Kind.MODEL_REQUEST, Direction.OUT)
    assert json.loads(asked.raw) == endpoint.requests[0].json
    assert "北京?".encode() in asked.raw
    assert (said.kind, said.direction) == (Kind.MODEL_REPLY, Direction.IN)
    assert said.raw.startswith(b"data: ") and said.raw.rstrip().endswith(b"data: [DONE]")
    assert asked.detail["exchange"] == said.detail["exchange"] == 1
    assert said.detail["status"] == 200 and said.size == len(said.raw)
    assert asked.cause == said.cause == Cause(3, 2)
    assert asked.mono_ns <= said.mono_ns


async def test_the_key_is_never_recorded() -> None:
    seen, endpoint = await told(says("Hello"))
    assert endpoint.requests[0].headers["authorization"].endswith("0123456789abcdef0123")
    assert "0123456789abcdef" not in repr(seen)


async def test_a_rejection_is_recorded_with_its_body() -> None:
    for headers in ({}, {"server": "caf\xe9"}):  # which httpx2 reads, and does not write
        seen, _ = await told(refuses(401, "no such key", headers=headers))
        assert seen[-1].detail["status"] == 401
        assert b"no such key" in seen[-1].raw


async def test_an_unreachable_endpoint_is_recorded_as_a_broken_reply() -> None:
    seen: list[Captured] = []
    async with Endpoint(()) as endpoint:
        address = endpoint.base_url
    await output_at(ModelProfile("gone", address, "m"), ASK, seen.append)
    assert [one.kind for one in seen] == [Kind.MODEL_REQUEST, Kind.MODEL_REPLY]
    assert seen[-1].detail["broken"]


async def test_a_failing_sink_does_not_lose_the_reply() -> None:
    def broken(captured: Captured) -> None:
        raise RuntimeError("full")

    async with Endpoint((says("Hello"),)) as endpoint:
        heard = await output_at(ModelProfile("mine", endpoint.base_url, "m"), ASK, broken)
    assert heard.text == "Hello"


async def test_a_reply_that_contains_the_key_in_pieces_is_recorded_without_content() -> None:
    (_, told_of), _ = await told(says(f"Your key is {KEY}.", pieces=9))
    assert told_of.raw == WITHHELD and told_of.size > 500
    assert told_of.detail["status"] == 200 and told_of.detail["blocks"] and told_of.detail["withheld"]


async def test_a_reply_with_the_key_in_one_event_is_recorded_unchanged() -> None:
    (_, told_of), _ = await told(says(KEY, pieces=1))
    assert KEY.encode() in told_of.raw  # the recorder redacts it, and marks the place
