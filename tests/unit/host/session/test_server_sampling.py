"""Which sampling requests reach the model, and which replies reach the server."""

import asyncio
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from tests.conftest import until
from tui.core.context.sampling_messages import BadSampling
from tui.core.questions import (
    Action,
    Question,
    QuestionAnswer,
    Questioner,
    SamplingFailed,
    SamplingMeter,
    SamplingQuestion,
)
from tui.core.servers import SamplingRule, ServerSpec
from tui.host.session import server_sampling
from tui.host.session.server_questions import ServerQuestions
from tui.host.session.server_sampling import MINUTE, SamplingRefused, ServerSampling

YES = QuestionAnswer(Action.ACCEPT)
PARAMS = {"messages": [{"role": "user", "content": {"type": "text", "text": "Hello"}}], "maxTokens": 1000}
REPLY = {"role": "assistant", "content": {"type": "text", "text": "Hi"}, "model": "m"}


class Model:
    def __init__(self, tokens: int = 10) -> None:
        self.asked: list[tuple[Mapping[str, Any], int]] = []
        self.fails = False
        self._tokens = tokens

    async def sample(self, params: Any, *, max_tokens: int, meter: SamplingMeter) -> Mapping[str, Any]:
        self.asked.append((params, max_tokens))
        if self.fails:
            raise SamplingFailed("it is not there.")
        meter.tokens = self._tokens
        return REPLY


class Person(Questioner):
    """Answers with the given actions and changes, first the request, then the reply."""

    def __init__(self, request: QuestionAnswer, reply: QuestionAnswer = YES) -> None:
        self.request, self.reply = request, reply
        self.seen: list[object] = []

    async def ask(self, question: Question) -> QuestionAnswer:
        self.seen.append(question)
        return self.reply if len(self.seen) > 1 else self.request


def spec(rule: SamplingRule = SamplingRule.ALLOW, **more: Any) -> ServerSpec:
    return ServerSpec("weather", sampling=rule, **more)


async def test_the_person_sees_request_and_reply_and_may_edit_both() -> None:
    request, reply = {**PARAMS, "systemPrompt": "Be brief."}, {**REPLY, "model": "mine"}
    person = Person(QuestionAnswer(Action.ACCEPT, request), QuestionAnswer(Action.ACCEPT, reply))
    model = Model()
    assert (
        await ServerSampling(ServerQuestions(person), model).answer(spec(SamplingRule.ASK), PARAMS, 2)
        == reply
    )
    assert model.asked == [(request, 1000)]
    assert person.seen == [
        SamplingQuestion("weather", PARAMS, 2),
        SamplingQuestion("weather", request, 2, REPLY),
    ]


@pytest.mark.parametrize("action", [Action.DECLINE, Action.CANCEL])
async def test_a_refused_request_never_reaches_the_model(action: Action) -> None:
    model = Model()
    with pytest.raises(SamplingRefused, match="declined by the user"):
        await ServerSampling(ServerQuestions(Person(QuestionAnswer(action))), model).answer(
            spec(SamplingRule.ASK), PARAMS, 0
        )
    assert model.asked == []


async def test_a_refused_reply_never_reaches_the_server() -> None:
    person = Person(YES, QuestionAnswer(Action.DECLINE))
    with pytest.raises(SamplingRefused, match="declined by the user"):
        await ServerSampling(ServerQuestions(person), Model()).answer(spec(SamplingRule.ASK), PARAMS, 0)


async def test_the_token_budget_limits_each_request_and_then_refuses() -> None:
    model = Model(tokens=60)
    sampling = ServerSampling(ServerQuestions(Questioner()), model)
    for _ in range(2):
        await sampling.answer(spec(sampling_tokens=100), PARAMS, 0)
    assert [most for _, most in model.asked] == [100, 40]
    with pytest.raises(SamplingRefused, match="budget of 100 tokens is used up"):
        await sampling.answer(spec(sampling_tokens=100), PARAMS, 0)


class Slow(Model):
    """Streams 400 tokens and no end; `counts` says whether it reports them."""

    def __init__(self, *, counts: bool) -> None:
        super().__init__()
        self.counts = counts
        self.streaming = asyncio.Event()

    async def sample(self, params: Any, *, max_tokens: int, meter: SamplingMeter) -> Mapping[str, Any]:
        self.asked.append((params, max_tokens))
        if self.counts:
            meter.tokens = 400
        self.streaming.set()
        await asyncio.Event().wait()
        raise AssertionError


async def cancelled(sampling: ServerSampling, model: Slow) -> None:
    """Make a request, and cancel it while the reply is streamed."""
    model.streaming.clear()
    request = asyncio.create_task(sampling.answer(spec(sampling_tokens=1000), PARAMS, 0))
    await until(lambda: model.streaming.is_set() or request.done())
    request.cancel()
    await asyncio.wait({request})
    if not request.cancelled():
        request.result()


async def test_a_request_that_the_server_cancels_is_charged_what_was_streamed() -> None:
    model = Slow(counts=True)
    sampling = ServerSampling(ServerQuestions(Questioner()), model)
    for _ in range(3):
        await cancelled(sampling, model)
    assert sampling.used == 1200
    with pytest.raises(SamplingRefused, match="budget of 1,000 tokens is used up"):
        await cancelled(sampling, model)
    assert [most for _, most in model.asked] == [1000, 600, 200]


async def test_a_cancelled_request_is_charged_completely_if_nobody_counts() -> None:
    model = Slow(counts=False)
    sampling = ServerSampling(ServerQuestions(Questioner()), model)
    await cancelled(sampling, model)
    assert 1000 < sampling.used < 1050


async def test_a_request_that_fails_after_text_is_charged() -> None:
    class Broken(Model):
        async def sample(self, params: Any, *, max_tokens: int, meter: SamplingMeter) -> Mapping[str, Any]:
            meter.tokens = 70
            raise SamplingFailed("the stream broke.")

    sampling = ServerSampling(ServerQuestions(Questioner()), Broken())
    with pytest.raises(SamplingRefused, match="the stream broke"):
        await sampling.answer(spec(), PARAMS, 0)
    assert sampling.used == 70


async def test_a_request_longer_than_the_rest_of_the_budget_is_not_sent() -> None:
    model = Model(tokens=60)
    long = {**PARAMS, "messages": [{"role": "user", "content": {"type": "text", "text": "word " * 200}}]}
    sampling = ServerSampling(ServerQuestions(Questioner()), model)
    with pytest.raises(SamplingRefused, match=r"about 30\d tokens, but only 100 are left"):
        await sampling.answer(spec(sampling_tokens=100), long, 0)
    assert model.asked == []


async def test_requests_above_the_rate_are_refused_for_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(server_sampling, "time", SimpleNamespace(monotonic=lambda: now))
    sampling = ServerSampling(ServerQuestions(Questioner()), Model())
    for _ in range(3):
        await sampling.answer(spec(sampling_per_minute=3), PARAMS, 0)
    with pytest.raises(SamplingRefused, match="more than 3 requests"):
        await sampling.answer(spec(sampling_per_minute=3), PARAMS, 0)
    now = MINUTE
    await sampling.answer(spec(sampling_per_minute=3), PARAMS, 0)


async def test_requests_run_one_at_a_time() -> None:
    running, most = 0, 0

    class Slow(Model):
        async def sample(self, params: Any, *, max_tokens: int, meter: SamplingMeter) -> Mapping[str, Any]:
            nonlocal running, most
            running += 1
            most = max(most, running)
            await asyncio.sleep(0)
            running -= 1
            return REPLY

    sampling = ServerSampling(ServerQuestions(Questioner()), Slow())
    await asyncio.gather(*(sampling.answer(spec(), PARAMS, 0) for _ in range(5)))
    assert most == 1


async def test_each_waiting_request_is_its_own_question() -> None:
    decided = asyncio.Event()

    class Slow(Person):
        async def ask(self, question: Question) -> QuestionAnswer:
            self.seen.append(question)
            await decided.wait()
            return self.request

    person, model = Slow(YES), Model(tokens=10)
    sampling = ServerSampling(ServerQuestions(person), model)
    three = [
        asyncio.create_task(sampling.answer(spec(SamplingRule.ASK, sampling_tokens=20), PARAMS, 0))
        for _ in range(3)
    ]
    await until(lambda: len(person.seen) == 3)
    assert not model.asked
    decided.set()
    replies = await asyncio.gather(*three, return_exceptions=True)
    assert replies[:2] == [REPLY, REPLY] and "budget" in str(replies[2])
    assert [most for _, most in model.asked] == [20, 10]


async def test_a_malformed_request_is_refused_before_the_person_is_asked() -> None:
    person = Person(YES)
    with pytest.raises(BadSampling):
        await ServerSampling(ServerQuestions(person), Model()).answer(
            spec(SamplingRule.ASK), {"maxTokens": 5}, 0
        )
    assert person.seen == []


async def test_if_the_model_gives_no_reply_the_request_is_refused_with_the_reason() -> None:
    model = Model()
    model.fails = True
    with pytest.raises(SamplingRefused, match="no reply from the model: it is not there"):
        await ServerSampling(ServerQuestions(Questioner()), model).answer(spec(), PARAMS, 0)
