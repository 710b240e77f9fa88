"""Which programs on this machine are detected as model servers."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.cases import each_case
from tests.conftest import refusing_port
from tests.endpoint import Endpoint
from tui.core.web import host_of
from tui.model.endpoints.listing import READ_SECONDS, candidates, detect
from tui.model.endpoints.profile import ModelProfile


@asynccontextmanager
async def server(answer: bytes | None, *, close: bool = True) -> AsyncIterator[int]:
    """Answer each connection with these bytes, or not at all for None."""
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            await reader.readuntil(b"\r\n\r\n")
            if answer is not None:
                writer.write(answer)
                await writer.drain()
            if answer is None or not close:
                await reader.read()
        except (ConnectionError, asyncio.CancelledError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.transport.abort()

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield listening.sockets[0].getsockname()[1]
    finally:
        listening.close()
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)


def response(body: object, *, status: str = "200 OK", length: bool = True) -> bytes:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    size = f"Content-Length: {len(data)}\r\n" if length else ""
    return f"HTTP/1.1 {status}\r\n{size}\r\n".encode() + data


async def found_at(port: int) -> list[tuple[str, str]]:
    profiles = await detect([ModelProfile("vllm", f"http://127.0.0.1:{port}/v1", "")])
    return [(profile.base_url, profile.model) for profile in profiles]


async def test_the_first_chat_model_is_selected() -> None:
    async with Endpoint(models=["nomic-embed-text", "qwen3:8b", "llama3.2"]) as endpoint:
        assert await found_at(endpoint.port) == [(endpoint.base_url, "qwen3:8b")]


async def test_the_native_model_list_of_ollama_is_read() -> None:
    async with server(response({"models": [{"name": "qwen3:8b"}]}), close=False) as port:
        assert await found_at(port) == [(f"http://127.0.0.1:{port}/v1", "qwen3:8b")]


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"SSH-2.0-OpenSSH\r\n\r\n",
        response(b"<html>an app of another kind</html>"),
        response({"data": "none"}),
        response({"data": [{"id": 7}, None]}),
        response([1, 2]),
        response({"data": [{"id": "bge-m3"}]}),
        response({"data": [{"id": "evil\x1b[2J"}]}),
        response({"data": [{"id": "m"}]}, status="401 Unauthorized"),
        response(b"[" * 100_000),
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
    ],
)
async def test_another_program_on_the_port_is_ignored(answer: bytes) -> None:
    async with server(answer) as port:
        assert await found_at(port) == []


async def test_a_program_that_does_not_respond_delays_detection_by_a_second_at_most() -> None:
    async with server(None) as port:
        began = time.monotonic()
        assert await found_at(port) == []
        assert time.monotonic() - began < 15 and READ_SECONDS == 1.0


async def test_a_closed_port_is_skipped() -> None:
    with refusing_port() as port:
        assert await found_at(port) == []


@each_case(
    ("said", "where"),
    [
        ("", "127.0.0.1:11434"),
        ("0.0.0.0", "127.0.0.1:11434"),
        ("http://localhost:9999", "localhost:9999"),
        ("127.0.0.1:9999", "127.0.0.1:9999"),
        ("[::]:9999", "[::1]:9999"),
        ("127.0.0.1:port", "127.0.0.1:11434"),
    ],
)
def test_the_address_of_ollama_comes_from_its_environment_variable(said: str, where: str) -> None:
    first = candidates({"OLLAMA_HOST": said})[0]
    assert (first.name, first.base_url) == ("ollama", f"http://{where}/v1")


def test_no_other_machine_is_ever_contacted() -> None:
    places = candidates({"OLLAMA_HOST": "http://gpu.example.com:11434"})
    assert {host_of(place.base_url) for place in places} == {"127.0.0.1"}
