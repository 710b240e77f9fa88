"""A host over real servers, which is stopped after the test, and a `python` for servers on the SDK."""

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from typing import Any

import pytest

from tests.hosts import running
from tests.terminal.forking_python import forking_python
from tui.core.servers import ServerSpec
from tui.host.host import Host


@pytest.fixture
async def hosting() -> AsyncIterator[Callable[..., Awaitable[Host]]]:
    """Start servers in a host."""
    async with AsyncExitStack() as hosts:

        async def start(*specs: ServerSpec, **more: Any) -> Host:
            return await hosts.enter_async_context(running(*specs, **more))

        yield start


@pytest.fixture(scope="session")
def sdk_forks(shared_processes: set[int]) -> Iterator[str]:
    """Return a folder for PATH, whose `python` has imported the SDK."""
    with forking_python("mcp.server.mcpserver", "mcp.server.stdio") as forks:
        shared_processes.add(forks.pid)
        yield forks.folder


@pytest.fixture
def sdk_python(sdk_forks: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have servers on the SDK start at once, if their command is `python`."""
    monkeypatch.setenv("PATH", os.pathsep.join((sdk_forks, os.environ["PATH"])))
