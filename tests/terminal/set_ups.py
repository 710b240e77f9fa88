"""Configurations of a user, misbehaving servers, and an endpoint in another thread."""

import asyncio
import json
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

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
    lines = []
    if endpoint:
        lines += ['default_model = "m"', "[models.m]", 'model = "m"', f"base_url = {json.dumps(endpoint)}"]
    lines += ["[approvals]", f"allow = {json.dumps(list(rules))}"]
    for name, (script, env) in servers.items():
        lines += [f"[servers.{name}]", f"command = {json.dumps(sys.executable)}"]
        lines += [f"args = [{json.dumps(str(FAULTS / f'{script}.py'))}]"]
        lines += [f"[servers.{name}.env]", *(f"{key} = {json.dumps(value)}" for key, value in env.items())]
    path = folder / "config.toml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


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
