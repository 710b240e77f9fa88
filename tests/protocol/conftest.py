"""A host over real servers, which is stopped after the test, and a `python` for servers on the SDK."""

import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest

from tests.hosts import running
from tests.terminal.forking_python import Forks
from tui.core.servers import ServerSpec
from tui.host.host import Host


@pytest.fixture
async def hosting() -> AsyncIterator[Callable[..., Awaitable[Host]]]:
    """Start servers in a host."""
    async with AsyncExitStack() as hosts:

        async def start(*specs: ServerSpec, **more: Any) -> Host:
            return await hosts.enter_async_context(running(*specs, **more))

        yield start


@pytest.fixture
def sdk_python(forks: Forks, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have servers on the SDK start at once, if their command is `python`."""
    monkeypatch.setenv("PATH", os.pathsep.join((forks.folder, os.environ["PATH"])))
