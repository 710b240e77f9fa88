"""Tasks of a widget."""

import asyncio

from tui.ui.widgets.widget_tasks import Tasks


async def test_running_tasks_are_cancelled_and_awaited() -> None:
    tasks, ended = Tasks(), []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.append("cancelled")

    async def short() -> None:
        ended.append("short")

    tasks.start(short(), "short")
    long = tasks.start(work(), "long")
    await asyncio.sleep(0)
    await tasks.cancel()
    assert ended == ["short", "cancelled"]
    assert long.cancelled()
    await tasks.cancel()
