"""Remote servers that restart: server-everything over both transports, and one on the current SDK."""

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import until
from tests.real.installed import EVERYTHING, needs
from tests.real.places import free_port, served
from tests.real.reached import NAME, reached
from tui.core.servers import ServerSpec, ServerState, Transport

OWN = (sys.executable, Path(__file__).with_name("remote_server.py"))
ECHO = ("echo", {"message": "a"})


@pytest.mark.parametrize(
    ("command", "path", "kind", "call"),
    [
        pytest.param((EVERYTHING, "streamableHttp"), "mcp", "HTTP", ECHO, marks=needs(EVERYTHING)),
        pytest.param((EVERYTHING, "sse"), "sse", "HTTP+SSE", ECHO, marks=needs(EVERYTHING)),
        (OWN, "mcp", "HTTP", ("add", {"a": 1, "b": 2})),
    ],
    ids=["HTTP", "HTTP+SSE", "current SDK"],
)
async def test_calls_work_again_after_the_server_restarts(
    command: tuple[str | Path, ...], path: str, kind: str, call: tuple[str, dict[str, Any]]
):
    port, (name, arguments) = free_port(), call
    spec = ServerSpec(
        NAME, transport=Transport.HTTP, url=f"http://127.0.0.1:{port}/{path}", sse_fallback=True
    )
    with served(command, port, set()) as process:
        async with reached(spec) as server:
            status = server.host.status
            assert status(NAME).reach.kind == kind
            before = await server.call(name, **arguments)
            process.kill()
            process.wait()
            assert (await server.call(name, **arguments)).is_error
            with served(command, port, set()):
                await until(lambda: status(NAME).reach.answers or kind == "HTTP", 20)
                assert await server.call(name, **arguments) == before and not before.is_error
            assert (status(NAME).restarts, status(NAME).state) == (0, ServerState.RUNNING)
