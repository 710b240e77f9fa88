"""Configurations of a user, misbehaving servers, and an endpoint in another thread."""

import asyncio
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.configurations import config_file, server, table
from tests.endpoint import Endpoint, Reply

FAULTS = Path(__file__).parents[1] / "corpus" / "faults"

Server = tuple[str, Mapping[str, str]]
"""A script of the corpus without its suffix, and its environment."""


def config_with(
    folder: Path, servers: Mapping[str, Server], *, endpoint: str = "", rules: Sequence[str] = ()
) -> str:
    """Write a configuration with these servers and return its path.

    Args:
        folder: where it is written.
        servers: by their name in the configuration.
        endpoint: base URL of the model's endpoint; "" writes none.
        rules: patterns of calls that run without a question.
    """
    models = ['default_model = "m"', table("models.m", model="m", base_url=endpoint)] if endpoint else []
    tables = (server(name, FAULTS / f"{script}.py", env=env) for name, (script, env) in servers.items())
    return config_file(folder, *models, table("approvals", allow=list(rules)), *tables)


@contextmanager
def endpoint_beside(replies: Iterable[Reply]) -> Iterator[Endpoint]:
    """Run an `Endpoint` in a thread, for a test that waits for a terminal in the main thread."""
    endpoint = Endpoint(replies)
    is_up = threading.Event()
    ends: list[Any] = []

    async def live() -> None:
        over = asyncio.Event()
        ends.extend((asyncio.get_running_loop(), over))
        async with endpoint:
            is_up.set()
            await over.wait()

    thread = threading.Thread(target=asyncio.run, args=(live(),))
    thread.start()
    try:
        assert is_up.wait(10)
        yield endpoint
    finally:
        loop, over = ends
        loop.call_soon_threadsafe(over.set)
        thread.join()
