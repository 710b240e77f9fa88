"""When a model request is retried, over real HTTP: only after temporary failures and before any output."""

import asyncio
from typing import Any

import pytest

from tests.clocks import NotedWaits
from tests.conftest import refusing_port, until
from tests.endpoint import Answer, Endpoint, Reply, calls, chunk, refuses, says
from tests.streams import ModelOutput
from tui.core.conversation.conversation import UserMessage
from tui.core.errors import ModelError
from tui.core.ports import ModelRequest, MonotonicClock, RetryPart, ToolSpec
from tui.model.endpoints.profile import ModelProfile
from tui.model.openai_api.openai_chat import OpenAIChat
from tui.model.retry import retried

ASK = ModelRequest("", [UserMessage("hi")], [ToolSpec("a__b", "", {"type": "object"})])
SHORT = {"first_token_seconds": 1.5, "between_chunks_seconds": 1.5}


class Story(ModelOutput):
    """The reply of a model, the number of requests and the waits."""

    def __init__(self) -> None:
        super().__init__()
        self.retries: list[RetryPart] = []
        self.waits: list[float] = []
        self.asked = 0


async def told(*replies: Reply, **profile: Any) -> Story:
    story, clock = Story(), NotedWaits()
    async with Endpoint(replies) as endpoint:
        chat = OpenAIChat(ModelProfile("test", endpoint.base_url, "m", **profile))
        try:
            async for part in retried(chat, ASK, clock, chance=lambda: 1.0):
                story.take(part)
                if isinstance(part, RetryPart):
                    story.retries.append(part)
        except ModelError as error:
            story.error = error
        finally:
            await chat.aclose()
        story.waits, story.asked = clock.waits, len(endpoint.requests)
    return story


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
async def test_a_temporary_failure_is_retried_and_each_attempt_reported(status: int) -> None:
    story = await told(refuses(status, "busy"), refuses(status, "busy"), says("Hi"))
    assert story.text == "Hi" and story.waits == [1.0, 2.0]
    assert [(one.attempt, one.attempts, one.delay) for one in story.retries] == [(2, 4, 1.0), (3, 4, 2.0)]
    assert all("busy" in one.reason for one in story.retries)


async def test_a_request_is_sent_four_times_at_most() -> None:
    story = await told(refuses(503, "busy"))
    assert story.asked == 4 and story.error is not None and story.error.status == 503


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422, 501])
async def test_a_permanent_failure_is_not_retried(status: int) -> None:
    story = await told(refuses(status, "no"))
    assert story.waits == [] and story.error is not None


@pytest.mark.parametrize(
    "refusal",
    [
        refuses(402, "Insufficient Balance"),
        refuses(429, "You exceeded your current quota", code="insufficient_quota"),
        refuses(429, "slow down", type="insufficient_quota", headers={"Retry-After": "1"}),
        refuses(429, "Your credit balance is too low"),
        refuses(503, "billing hard limit has been reached"),
        Answer([{"error": {"message": "insufficient_quota", "code": 429}}], done=False),
    ],
)
async def test_an_exhausted_quota_is_not_retried(refusal: Answer) -> None:
    story = await told(refusal, says("Hi"))
    assert story.asked == 1 and story.error is not None and not story.text


async def test_the_retry_time_of_the_endpoint_is_respected() -> None:
    headers = {"Retry-After": "Wed, 21 Oct 2026 07:28:09 GMT", "Date": "Wed, 21 Oct 2026 07:28:00 GMT"}
    story = await told(refuses(429, "slow down", headers=headers), says("Hi"))
    assert story.text == "Hi" and story.waits == [9.0]


async def test_a_wait_of_minutes_is_left_to_the_user() -> None:
    story = await told(refuses(429, "slow down", headers={"Retry-After": "600"}))
    assert story.waits == [] and story.error is not None and "10 m 00 s" in story.error.next_step


@pytest.mark.parametrize(
    "failure",
    [
        Answer([{"error": {"message": "Overloaded", "type": "overloaded_error"}}], done=False),
        Answer([{"error": {"message": "Provider returned error", "code": 502}}], done=False),
        Answer(
            [chunk(role="assistant"), {"choices": [], "error": {"code": 503, "message": "x"}}], done=False
        ),
        Answer([chunk(role="assistant")], done=False),
        Answer([chunk(role="assistant")], reset=True, done=False),
        Answer(raw=b'data: {"broken\n\n'),
        Answer(mute=True),
        Answer([chunk(role="assistant")], hang=True, comments=0.02, done=False),
    ],
    ids=["overloaded", "502", "503 beside no choices", "ended", "cut", "not JSON", "mute", "silent"],
)
async def test_a_stream_that_fails_before_any_text_is_retried(failure: Answer) -> None:
    story = await told(failure, says("Hi"), **SHORT)
    assert story.text == "Hi" and story.waits == [1.0]


@pytest.mark.parametrize(
    "shown",
    [chunk(content="Hel"), chunk(reasoning_content="Hm"), calls(("a__b", {"x": 1})).chunks[1]],
    ids=["text", "thinking", "a call"],
)
@pytest.mark.parametrize(
    "failure",
    [
        {"done": False, "reset": True},
        {"done": False},
        {"done": False, "hang": True},
        {"error": {"message": "Overloaded", "code": 529}},
    ],
    ids=["cut", "ended", "silent", "error"],
)
async def test_a_reply_that_has_started_is_never_restarted(shown: Any, failure: dict[str, Any]) -> None:
    error = [failure] if "error" in failure else []
    answer = Answer([shown, *error], **(failure if not error else {"done": False}))
    story = await told(answer, says("Hello again"), between_chunks_seconds=0.2)
    assert story.asked == 1 and story.waits == [] and story.reply is None
    assert story.error is not None and story.error.retryable and story.error.next_step


async def test_an_endpoint_that_is_not_reachable_yet_is_retried() -> None:
    clock = NotedWaits()
    with refusing_port() as port, pytest.raises(ModelError, match="cannot connect to the endpoint"):
        chat = OpenAIChat(ModelProfile("test", f"http://127.0.0.1:{port}/v1", "m"))
        async for _ in retried(chat, ASK, clock, chance=lambda: 1.0):
            pass
    await chat.aclose()
    assert clock.waits == [1.0, 2.0, 4.0]


async def test_an_adapted_request_is_sent_without_a_wait_and_counts_as_no_attempt() -> None:
    story = await told(refuses(400, "stream_options: extra"), refuses(503, "busy"), says("Hi"))
    assert story.text == "Hi" and story.waits == [1.0] and story.asked == 3
    assert [one.delay for one in story.retries] == [0.0, 1.0]


async def test_cancelling_ends_the_wait_at_once() -> None:
    async with Endpoint([refuses(429, "slow down", headers={"Retry-After": "100"})]) as endpoint:
        chat = OpenAIChat(ModelProfile("test", endpoint.base_url, "m"))
        waiting: list[RetryPart] = []

        async def ask() -> None:
            async for part in retried(chat, ASK, MonotonicClock()):
                assert isinstance(part, RetryPart)
                waiting.append(part)

        task = asyncio.create_task(ask())
        await until(lambda: waiting)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            async with asyncio.timeout(20):
                await task
        await chat.aclose()
    assert waiting[0].delay == 100.0
