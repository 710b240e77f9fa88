"""The tokens and the cost of a conversation: all requests, each at the prices of its model."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

from tests.conftest import until
from tests.scripted_model import ScriptedModel, says
from tests.unit.runtime.stage import Make, configuration_of
from tui.core.ports import ModelPart, ModelRequest, ReplyPart, TextPart, Usage
from tui.model.endpoints.profile import ModelProfile
from tui.runtime.active_model import ModelSampler

PRICED = ModelProfile("p", "http://127.0.0.1:1/v1", "m", price_in=2.0, price_out=10.0)
DEARER = replace(PRICED, name="dearer", price_in=200.0)
REPLY = [TextPart("a"), ReplyPart(usage=Usage(1_000_000, 100_000))]


class Waiting(ScriptedModel):
    """Replies when the test allows it."""

    def __init__(self) -> None:
        super().__init__([REPLY])
        self.may_reply = asyncio.Event()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelPart]:
        self.requests.append(request)
        await self.may_reply.wait()
        for part in REPLY:
            yield part


async def test_a_reply_costs_what_its_own_model_costs_if_another_one_was_selected_meanwhile(stage: Make):
    one = stage(profile=PRICED)
    one.asked._model = model = Waiting()
    turn = asyncio.create_task(one.ask("hi"))
    await until(lambda: model.requests)
    one.asked._model, one.asked.profile = ScriptedModel([], label="dearer"), DEARER
    model.may_reply.set()
    await turn
    assert (one.conversations.meters.tokens, one.conversations.meters.cost) == (1_100_000, 3.0)
    assert not one.asked._has_answered


async def test_a_reply_for_a_server_costs_what_its_own_model_costs(stage: Make):
    one = stage(profile=PRICED)
    one.asked._model = model = Waiting()

    sampler = ModelSampler(one.asked, configuration_of(Path("missing.toml")), one.conversations.biller)
    message = {"role": "user", "content": {"type": "text", "text": "Hello"}}
    sampling = asyncio.create_task(sampler.sample({"messages": [message]}, max_tokens=50))
    await until(lambda: model.requests)
    one.asked._model, one.asked.profile = ScriptedModel([], label="dearer"), DEARER
    model.may_reply.set()
    await sampling
    assert (one.conversations.meters.tokens, one.conversations.meters.cost) == (1_100_000, 3.0)


async def test_tokens_used_by_a_server_before_the_first_message_are_saved(stage: Make):
    one = stage(REPLY, says("Title"), profile=PRICED)
    bill = one.conversations.biller()
    bill(Usage(250_000, 0))
    bill(Usage(250_000, 0, estimated=True))
    await one.ask("hi")
    meters = one.conversations.meters
    (info,) = await one.conversations.sessions()
    assert (
        (info.tokens, info.cost, info.estimated)
        == (meters.tokens, meters.cost, True)
        == (1_600_000, 4.0, True)
    )
