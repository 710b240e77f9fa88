"""When a failed request is retried, and how that is shown."""

from collections.abc import AsyncIterator

import pytest

from tests.clocks import NotedWaits
from tests.scripted_model import Reply, ScriptedModel, says
from tui.core.conversation.conversation import UserMessage
from tui.core.errors import ModelError
from tui.core.ports import ModelPart, ModelRequest, ReplyPart, RetryPart, TextPart
from tui.model.retry import LONGEST_LOADING, Retrying

ASK = ModelRequest("", [UserMessage("hi")])
PASSING = ModelError("overloaded", status=503, retryable=True)


async def heard(parts: AsyncIterator[ModelPart]) -> tuple[list[ModelPart], ModelError | None]:
    found: list[ModelPart] = []
    try:
        async for part in parts:
            found.append(part)
    except ModelError as error:
        return found, error
    return found, None


async def asked(
    *replies: Reply, chance: float = 1.0
) -> tuple[list[ModelPart], ModelError | None, list[float]]:
    time = NotedWaits()
    parts, error = await heard(Retrying(ScriptedModel(replies), time, chance=lambda: chance).stream(ASK))
    return parts, error, time.waits


async def test_a_transient_failure_is_retried_after_a_visible_delay() -> None:
    parts, error, waits = await asked([PASSING], [PASSING], says("Hi"))
    assert error is None and waits == [1.0, 2.0]
    assert parts == [
        RetryPart(2, 4, 1.0, "overloaded"),
        RetryPart(3, 4, 2.0, "overloaded"),
        TextPart("Hi"),
        ReplyPart(),
    ]


async def test_the_failure_of_the_last_attempt_is_raised() -> None:
    _, error, waits = await asked(*[[PASSING]] * 9)
    assert error is PASSING and waits == [1.0, 2.0, 4.0]


async def test_the_delay_has_random_jitter() -> None:
    assert (await asked([PASSING], says("Hi"), chance=0.25))[2] == [0.25]


async def test_the_delay_requested_by_the_endpoint_is_used() -> None:
    failure = ModelError("slow down", status=429, retryable=True, retry_after=7.0)
    assert (await asked([failure], says("Hi"), chance=0.1))[2] == [7.0]


async def test_a_delay_of_minutes_is_not_waited_for() -> None:
    failure = ModelError("slow down", status=429, retryable=True, retry_after=600.0)
    assert await asked([failure], says("Hi")) == ([], failure, [])


async def test_a_permanent_failure_is_raised_at_once() -> None:
    failure = ModelError("no credit", status=429, retryable=False)
    assert await asked([failure], says("Hi")) == ([], failure, [])


async def test_a_reply_that_breaks_midway_is_not_retried() -> None:
    parts, error, waits = await asked([TextPart("The ans"), PASSING], says("The answer"))
    assert parts == [TextPart("The ans")] and error is PASSING and waits == []


async def test_closing_early_closes_the_inner_stream() -> None:
    inner = ScriptedModel([says("Hi")])
    parts = Retrying(inner, NotedWaits()).stream(ASK)
    assert await anext(parts) == TextPart("Hi")
    await parts.aclose()
    assert inner.closed == 1


LOADING = ModelError("Loading model", status=503, retryable=True)
LOADING.loading = True


async def test_a_model_that_is_loading_is_waited_for_longer_than_a_failure() -> None:
    parts, error, waits = await asked(*[[LOADING]] * 9, [PASSING], says("Hi"))
    assert error is None and waits == [1, 2, 4, 8, 10, 10, 10, 10, 10, 1]
    assert parts[0] == RetryPart(2, 32, 1.0, "Loading model")
    assert parts[9] == RetryPart(2, 4, 1.0, "overloaded")


async def test_a_model_that_loads_for_ever_is_given_up_after_five_minutes() -> None:
    _, error, waits = await asked(*[[LOADING]] * 99)
    assert error is LOADING and sum(waits) == LONGEST_LOADING


async def test_an_estimate_of_the_loading_time_delays_no_longer_than_a_few_seconds() -> None:
    slow = ModelError("Loading model", status=503, retryable=True, retry_after=90.0)
    slow.loading = True
    assert (await asked([slow], says("Hi")))[2] == [10.0]


@pytest.mark.parametrize("name", ["label", "notice"])
def test_the_attributes_of_the_wrapped_model_are_passed_through(name: str) -> None:
    inner = ScriptedModel([], label="inner", notice="note")
    assert getattr(Retrying(inner, NotedWaits()), name) == getattr(inner, name)
