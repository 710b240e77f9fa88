"""Replies of the active model to servers."""

from typing import Any

import pytest

from tests.scripted_model import ScriptedModel, says
from tui.core.errors import ModelError
from tui.core.ports import ChatModel, Usage
from tui.core.questions import SamplingFailed
from tui.runtime.active_model import ModelSampler

PARAMS = {"messages": [{"role": "user", "content": {"type": "text", "text": "Hello"}}]}


class Active:
    """An active model, or none."""

    def __init__(self, model: ChatModel | None) -> None:
        self._model = model
        self.chosen = 0

    @property
    def label(self) -> str:
        return self._model.label if self._model is not None else ""

    @property
    def model(self) -> ChatModel:
        if self._model is None:
            raise ModelError("no model selected")
        return self._model

    async def choose(self) -> None:
        self.chosen += 1


def sampler(model: ChatModel | None, billed: list[Usage] | None = None) -> tuple[ModelSampler, Active]:
    active: Any = Active(model)
    return ModelSampler(active, active.choose, ([] if billed is None else billed).append), active


async def test_the_active_model_replies_within_the_token_limit() -> None:
    model = ScriptedModel([says("Hi there", pieces=3)])
    asked, active = sampler(model)

    reply, tokens = await asked.sample(PARAMS, max_tokens=50)

    assert reply["content"] == {"type": "text", "text": "Hi there"}
    assert reply["model"] == asked.label == "scripted"
    assert tokens > 0 and active.chosen == 1
    assert model.requests[0].max_tokens == 50


async def test_a_reply_over_the_limit_is_truncated_and_its_stream_closed() -> None:
    model = ScriptedModel([says("word " * 1000, pieces=100)])

    reply, _ = await sampler(model)[0].sample(PARAMS, max_tokens=10)

    assert reply["stopReason"] == "maxTokens" and len(reply["content"]["text"]) < 1000
    assert model.closed == 1


@pytest.mark.parametrize("model", [None, ScriptedModel([[ModelError("it is away")]])])
async def test_an_unavailable_model_is_reported_with_the_reason(model: ChatModel | None) -> None:
    with pytest.raises(SamplingFailed, match=r"no model selected|it is away"):
        await sampler(model)[0].sample(PARAMS, max_tokens=50)


async def test_the_tokens_used_by_a_server_are_billed() -> None:
    billed: list[Usage] = []
    _, tokens = await sampler(ScriptedModel([says("Hi there")]), billed)[0].sample(PARAMS, max_tokens=50)
    assert [usage.prompt + usage.completion for usage in billed] == [tokens]
