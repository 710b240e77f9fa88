"""Every failure before a reply says what happened and what to do, through the real client."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

from tests.endpoint import Answer, Endpoint, refuses
from tests.streams import Heard, heard_from_model
from tui.core.conversation import UserMessage
from tui.core.ports import ModelRequest
from tui.model.openai_chat import OpenAIChat
from tui.model.profile import ModelProfile

ASK = ModelRequest("be brief", [UserMessage("hi")])


async def asked(answer: Answer, api_key_env: str = "") -> tuple[Heard, Endpoint]:
    async with Endpoint([answer]) as endpoint:
        model = OpenAIChat(ModelProfile("test", endpoint.base_url, "m", api_key_env=api_key_env))
        heard = await heard_from_model(model.stream(ASK))
        await model.aclose()
    return heard, endpoint


@pytest.mark.parametrize(
    ("status", "message", "retryable", "step"),
    [
        (401, "Incorrect API key provided", False, "TEST_API_KEY"),
        (402, "Payment required", False, "credit"),
        (429, "You exceeded your current quota", False, "credit"),
        (429, "Rate limit reached", True, "Wait"),
        (400, "Client sent an HTTP request to an HTTPS server.", False, "https://"),
        (400, "m does not support tools", False, "tool_protocol"),
        (400, "maximum context length is 8192 tokens", False, "new chat"),
        (503, "overloaded", True, "later"),
    ],
)
async def test_a_refusal_says_what_happened_and_what_to_do(
    status: int, message: str, retryable: bool, step: str
) -> None:
    heard, _ = await asked(refuses(status, message), api_key_env="TEST_API_KEY")
    error = heard.error
    assert error is not None
    assert (error.status, error.retryable) == (status, retryable)
    assert message in str(error) and "127.0.0.1" in error.where and step in error.next_step


async def test_the_time_to_wait_is_read_from_the_refusal() -> None:
    heard, _ = await asked(refuses(429, "slow down", headers={"Retry-After": "7"}))
    assert heard.error is not None and heard.error.retry_after == 7


async def test_an_endpoint_that_is_not_there_says_so_at_once() -> None:
    async with Endpoint() as endpoint:
        gone = endpoint.base_url
    model = OpenAIChat(ModelProfile("test", gone, "m"))
    heard = await heard_from_model(model.stream(ASK))
    await model.aclose()
    assert heard.error is not None and "cannot be reached" in str(heard.error) and heard.error.retryable


async def test_a_wait_that_is_too_long_to_keep_is_told_in_seconds() -> None:
    heard, _ = await asked(refuses(429, "slow down", headers={"Retry-After": "900"}))
    assert heard.error is not None and "900 s" in heard.error.next_step


@asynccontextmanager
async def port_that_says(said: bytes) -> AsyncIterator[int]:
    """Listen on a port, and answer whatever comes with these bytes and the end."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.write(said)
        with suppress(ConnectionError):
            await writer.drain()
        writer.transport.abort() if not said else writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await server.wait_closed()


@pytest.mark.parametrize(
    ("scheme", "said", "cause", "step", "retryable"),
    [
        ("https", b"HTTP/1.1 400 Bad Request\r\n\r\n", "WRONG_VERSION", "begin base_url with http://", False),
        ("http", b"\x15\x03\x01\x00\x02\x02\x46", "illegal", "begin base_url with https://", False),
        ("http", b"hello\r\n\r\n", "illegal status line", "begin base_url with https://", False),
        ("http", b"", "cannot be reached", "Is the model server running", True),
    ],
)
async def test_what_speaks_another_protocol_is_told_with_what_to_change(
    scheme: str, said: bytes, cause: str, step: str, retryable: bool
) -> None:
    async with port_that_says(said) as port:
        model = OpenAIChat(ModelProfile("test", f"{scheme}://127.0.0.1:{port}/v1", "m"))
        heard = await heard_from_model(model.stream(ASK))
        await model.aclose()
    assert heard.error is not None and cause in heard.error.message and step in heard.error.next_step
    assert heard.error.retryable is retryable
