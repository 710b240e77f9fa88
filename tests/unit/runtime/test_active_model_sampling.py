"""Replies of the active model to servers."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.conftest import until
from tests.scripted_model import ScriptedModel, says
from tests.unit.runtime.stage import active, configuration_of
from tui.core.errors import ModelError
from tui.core.ports import ChatModel, ModelPart, ModelRequest, ReasoningPart, TextPart, Usage
from tui.core.questions import SamplingFailed, SamplingMeter
from tui.runtime.active_model import ModelSampler

PARAMS = {"messages": [{"role": "user", "content": {"type": "text", "text": "Hello"}}]}


def sampler(model: ChatModel | None, billed: list[Usage] | None = None) -> ModelSampler:
    """Return a sampler over a model, or none, before the configuration is read."""
    active_model = active()
    active_model._model = model
    unread = configuration_of(Path("missing.toml"))
    return ModelSampler(active_model, unread, lambda: ([] if billed is None else billed).append)


async def test_the_active_model_replies_within_the_token_limit() -> None:
    model = ScriptedModel([says("Hi there", pieces=3)])
    asked, meter = sampler(model), SamplingMeter()

    reply = await asked.sample(PARAMS, max_tokens=50, meter=meter)

    assert reply["content"] == {"type": "text", "text": "Hi there"}
    assert reply["model"] == "scripted"
    assert meter.tokens
    assert model.requests[0].max_tokens == 50


async def test_a_reply_over_the_limit_is_truncated_and_its_stream_closed() -> None:
    model = ScriptedModel([says("word " * 1000, pieces=100)])

    reply = await sampler(model).sample(PARAMS, max_tokens=10, meter=SamplingMeter())

    assert reply["stopReason"] == "maxTokens" and len(reply["content"]["text"]) < 1000
    assert model.closed == 1


@pytest.mark.parametrize("model", [None, ScriptedModel([[ModelError("it is away")]])])
async def test_an_unavailable_model_is_reported_with_the_reason(model: ChatModel | None) -> None:
    with pytest.raises(SamplingFailed, match=r"no model selected|it is away"):
        await sampler(model).sample(PARAMS, max_tokens=50, meter=SamplingMeter())


class Endless(ScriptedModel):
    """Writes text, thinking or a call without end."""

    def __init__(self, part: ModelPart) -> None:
        super().__init__([])
        self.part = part
        self.written = 0

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelPart]:
        while True:
            self.written += 1
            yield self.part
            await asyncio.sleep(0)


@pytest.mark.parametrize("part", [TextPart("word " * 10), ReasoningPart("word " * 10), TextPart("字" * 12)])
async def test_a_cancelled_request_is_billed_and_counted_with_what_was_streamed(part: ModelPart) -> None:
    billed: list[Usage] = []
    model = Endless(part)
    meter = SamplingMeter()
    request = asyncio.create_task(sampler(model, billed).sample(PARAMS, max_tokens=100_000, meter=meter))
    await until(lambda: model.written > 20)
    request.cancel()
    await asyncio.wait({request})
    (usage,) = billed
    assert usage.estimated and meter.tokens == usage.prompt + usage.completion
    assert 300 <= usage.completion <= 1.1 * 16 * model.written and usage.prompt > 0


async def test_thinking_counts_towards_the_limit_of_a_reply() -> None:
    model = Endless(ReasoningPart("word " * 10))
    reply = await sampler(model).sample(PARAMS, max_tokens=100, meter=SamplingMeter())
    assert reply["stopReason"] == "maxTokens" and model.written < 20


async def test_a_reply_that_breaks_off_is_billed() -> None:
    billed: list[Usage] = []
    model = ScriptedModel([[TextPart("word " * 40), ModelError("the stream broke")]])
    meter = SamplingMeter()
    with pytest.raises(SamplingFailed, match="the stream broke"):
        await sampler(model, billed).sample(PARAMS, max_tokens=50, meter=meter)
    assert [usage.completion for usage in billed] == [60] and meter.tokens is not None and meter.tokens > 60


async def test_a_request_that_the_endpoint_rejects_costs_nothing() -> None:
    billed: list[Usage] = []
    meter = SamplingMeter()
    with pytest.raises(SamplingFailed):
        failing = sampler(ScriptedModel([[ModelError("no key")]]), billed)
        await failing.sample(PARAMS, max_tokens=50, meter=meter)
    assert (billed, meter.tokens) == ([], 0)
