"""A queue that processes one item after the other."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from tests.conftest import until
from tui.ui.chat.outbox import SerialQueue


async def test_an_error_affects_only_its_own_item():
    tasks: list[asyncio.Task[None]] = []
    done: list[str] = []

    def start(work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        tasks.append(asyncio.create_task(work, name=name))
        return tasks[-1]

    async def do(what: str) -> None:
        if what == "bad":
            raise ZeroDivisionError
        done.append(what)

    queue = SerialQueue(start)
    queue.put("bad", do)
    queue.put("good", do)
    await until(lambda: not queue.busy and done)
    assert done == ["good"] and isinstance(tasks[0].exception(), ZeroDivisionError)
