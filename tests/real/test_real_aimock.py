"""A third-party model server behind the real client: calls, cut streams, rejections, slow streams."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Any

import httpx2
import pytest

from tests.clocks import NotedWaits
from tests.conftest import until
from tests.real.installed import AIMOCK, needs
from tests.real.places import free_port, served
from tests.streams import ModelOutput, output_of_model
from tui.core.conversation.conversation import AssistantMessage, ToolMessage, UserMessage
from tui.core.ports import ChatModel, ModelRequest, RetryPart, TextPart, ToolSpec
from tui.model.dialects.text_tools import wrap
from tui.model.endpoints.listing import offered_by
from tui.model.endpoints.profile import ModelProfile
from tui.model.openai_api.openai_chat import OpenAIChat

pytestmark = needs(AIMOCK)

TOOLS = [
    ToolSpec(name, name, {"type": "object", "properties": {"city": {"type": "string"}}})
    for name in ("weather__get", "clock__now")
]
LONG = " ".join(f"word{number}" for number in range(400))
FIXTURES: list[dict[str, Any]] = [
    {
        "match": {"toolCallId": "call_clock"},
        "response": {"content": "Sunny, and it is noon."},
    },
    {
        "match": {"userMessage": "both"},
        "response": {
            "content": "Let me look.",
            "toolCalls": [
                {"id": "call_weather", "name": "weather__get", "arguments": {"city": "Tromsø"}},
                {"id": "call_clock", "name": "clock__now", "arguments": {"city": "東京"}},
            ],
        },
    },
    {"match": {"userMessage": "cut"}, "response": {"content": LONG}, "truncateAfterChunks": 5, "latency": 20},
    {"match": {"userMessage": "slow"}, "response": {"content": LONG}, "latency": 40},
    {
        "match": {"userMessage": "busy", "sequenceIndex": 0},
        "response": {
            "error": {"message": "Slow down, please", "type": "rate_limit_error"},
            "status": 429,
            "retryAfter": 2,
        },
    },
    {"match": {"userMessage": "busy", "sequenceIndex": 1}, "response": {"content": "Now I can."}},
    {
        "match": {"userMessage": "broke"},
        "response": {
            "error": {"message": "You exceeded your current quota", "type": "insufficient_quota"},
            "status": 429,
            "retryAfter": 1,
        },
    },
    {"match": {"userMessage": "hello"}, "response": {"content": "Hello! \U0001f44b " + LONG}},
]


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory, shared_processes: set[int]) -> Iterator[str]:
    """Start the server with the fixtures and return its address."""
    path = tmp_path_factory.mktemp("aimock") / "fixtures.json"
    path.write_text(json.dumps({"fixtures": FIXTURES}), encoding="utf-8")
    port = free_port()
    with served(
        [AIMOCK, "-p", str(port), "-f", path, "--strict", "--validate-on-load"], port, shared_processes
    ):
        yield f"http://127.0.0.1:{port}"


@asynccontextmanager
async def talking(origin: str) -> AsyncIterator[tuple[ChatModel, NotedWaits]]:
    chat, time = OpenAIChat(ModelProfile("aimock", f"{origin}/v1", "gpt-4o")), NotedWaits()
    try:
        yield wrap(chat, "native", time), time
    finally:
        await chat.aclose()


async def ask(model: ChatModel, text: str, *behind: Any) -> ModelOutput:
    return await output_of_model(model.stream(ModelRequest("", [UserMessage(text), *behind], TOOLS)))


async def test_parallel_calls_arrive_complete_and_their_results_are_accepted(origin: str) -> None:
    async with talking(origin) as (model, _):
        first = await ask(model, "both")
        assert first.text == "Let me look." and first.reply is not None
        made = first.reply.calls
        assert [(call.id, call.name, json.loads(call.arguments)) for call in made] == [
            ("call_weather", "weather__get", {"city": "Tromsø"}),
            ("call_clock", "clock__now", {"city": "東京"}),
        ]
        results = [ToolMessage(call.id, call.name, "ok") for call in made]
        second = await ask(model, "both", AssistantMessage(first.text, calls=made, model="gpt-4o"), *results)
        assert second.text == "Sunny, and it is noon." and second.reply is not None
        assert second.reply.usage is not None and second.reply.usage.prompt > 0


async def test_text_in_many_pieces_arrives_unchanged(origin: str) -> None:
    async with talking(origin) as (model, _):
        assert (await ask(model, "hello")).text == "Hello! \U0001f44b " + LONG


async def test_a_cut_stream_keeps_its_text_and_is_not_retried(origin: str) -> None:
    async with talking(origin) as (model, time):
        heard = await ask(model, "cut")
    assert heard.text and LONG.startswith(heard.text) and heard.reply is None
    assert heard.error is not None and heard.error.retryable and time.waits == []


async def test_a_busy_endpoint_is_retried_after_the_delay_that_it_requests(origin: str) -> None:
    async with talking(origin) as (model, time):
        parts = [part async for part in model.stream(ModelRequest("", [UserMessage("busy")]))]
    assert time.waits == [2.0]
    (retry,) = [part for part in parts if isinstance(part, RetryPart)]
    assert (retry.attempt, retry.attempts, retry.delay) == (2, 4, 2.0) and "Slow down" in retry.reason
    assert "".join(part.text for part in parts if isinstance(part, TextPart)) == "Now I can."


async def test_an_exhausted_quota_is_not_retried(origin: str) -> None:
    async with talking(origin) as (model, time):
        heard = await ask(model, "broke")
    assert heard.error is not None and heard.error.status == 429 and "quota" in heard.error.next_step
    assert time.waits == []


async def test_a_slow_stream_can_be_cancelled_and_the_next_question_is_answered(
    origin: str,
) -> None:
    async with talking(origin) as (model, _):
        said: list[Any] = []

        async def listen() -> None:
            async for part in model.stream(ModelRequest("", [UserMessage("slow")])):
                said.append(part)

        task = asyncio.create_task(listen())
        await until(lambda: said)
        task.cancel()
        with suppress(asyncio.CancelledError):
            async with asyncio.timeout(20):
                await task
        assert (await ask(model, "hello")).text


async def test_an_unexpected_question_is_an_error_with_its_address_and_a_next_step(origin: str) -> None:
    async with talking(origin) as (model, _):
        heard = await ask(model, "something else")
    assert heard.error is not None and heard.error.status is not None and origin in heard.error.where
    assert heard.error.next_step


async def test_the_endpoint_receives_the_tools_and_stream_options(origin: str) -> None:
    async with talking(origin) as (model, _):
        await ask(model, "hello")
        async with httpx2.AsyncClient(trust_env=False) as client:
            *_, entry = (await client.get(f"{origin}/v1/_requests")).json()
    body = entry["body"]
    assert [tool["function"]["name"] for tool in body["tools"]] == [tool.name for tool in TOOLS]
    assert body["stream_options"] == {"include_usage": True}


async def test_its_models_are_listed(origin: str) -> None:
    found = await offered_by(replace(ModelProfile("a", "", "m"), base_url=f"{origin}/v1"))
    assert any(one.chat for one in found)


@pytest.mark.parametrize("rate", ["drop", "disconnect", "malformed"])
async def test_every_injected_fault_is_an_error_with_a_next_step(origin: str, rate: str) -> None:
    async with talking(origin) as (model, time):
        async with httpx2.AsyncClient(trust_env=False) as client:
            assert (await client.post(f"{origin}/__aimock/chaos", json={f"{rate}Rate": 1.0})).is_success
            try:
                heard = await ask(model, "hello")
            finally:
                assert (await client.delete(f"{origin}/__aimock/chaos")).is_success
    assert heard.error is not None and heard.error.next_step and heard.reply is None
    assert len(time.waits) == (3 if heard.error.retryable else 0)
