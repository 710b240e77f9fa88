"""Tasks that end with the widget that started them."""

import asyncio
from collections.abc import Coroutine
from typing import Any


class Tasks:
    """Keeps running tasks from being garbage collected; the owner cancels them when it is unmounted."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[Any]] = set()

    def start(self, work: Coroutine[Any, Any, object], name: str) -> asyncio.Task[Any]:
        task = asyncio.create_task(work, name=name)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task

    async def cancel(self) -> None:
        running = set(self._running)
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running)
