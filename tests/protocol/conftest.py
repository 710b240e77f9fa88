"""A host over real servers, which is stopped after the test."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from tui.core.ports import MonotonicClock
from tui.core.servers import ServerSpec
from tui.core.traffic import Captured
from tui.host.host import Host


def ignore(captured: Captured) -> None:
    """Keep nothing of the traffic."""


@pytest.fixture
async def hosting() -> AsyncIterator[Callable[..., Awaitable[Host]]]:
    """Start servers in a host."""
    started: list[Host] = []

    async def start(*specs: ServerSpec, **more: Any) -> Host:
        host = Host(specs, **{"sink": ignore, "clock": MonotonicClock()} | more)
        started.append(host)
        await host.start_all()
        return host

    yield start
    for host in started:
        await host.shutdown()
