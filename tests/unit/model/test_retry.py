"""When a failed request is retried, and how that is shown."""

from collections.abc import AsyncIterator

from tests.clocks import NotedWaits
from tests.scripted_model import Reply, ScriptedModel, says
from tui.core.conversation.conversation import UserMessage
from tui.core.errors import ModelError
from tui.core.ports import ModelPart, ModelRequest, RetryPart, TextPart
from tui.model.retry import LONGEST_LOADING, retried

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
    parts, error = await heard(retried(ScriptedModel(replies), ASK, time, chance=lambda: chance))
    return parts, error, time.waits


async def test_the_delay_has_random_jitter() -> None:
    assert (await asked([PASSING], says("Hi"), chance=0.25))[2] == [0.25]


async def test_closing_early_closes_the_inner_stream() -> None:
    inner = ScriptedModel([says("Hi")])
    parts = retried(inner, ASK, NotedWaits())
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
