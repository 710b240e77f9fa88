"""A host over real servers, which is stopped after the test."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest

from tests.hosts import running
from tui.core.servers import ServerSpec
from tui.host.host import Host


@pytest.fixture
async def hosting() -> AsyncIterator[Callable[..., Awaitable[Host]]]:
    """Start servers in a host."""
    async with AsyncExitStack() as hosts:

        async def start(*specs: ServerSpec, **more: Any) -> Host:
            return await hosts.enter_async_context(running(*specs, **more))

        yield start
