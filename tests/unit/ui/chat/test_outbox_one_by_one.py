"""A queue that processes one item after the other."""

import asyncio

from tests.conftest import until
from tui.ui.chat.outbox import SerialQueue


async def test_items_are_processed_one_after_the_other():
    done: list[str] = []
    gate = asyncio.Event()

    async def do(what: str) -> None:
        done.append(f"{what} started")
        await gate.wait()
        await asyncio.sleep(0)
        done.append(f"{what} ended")

    queue = SerialQueue(done.append)  # type: ignore[arg-type]
    for what in "abc":
        queue.put(what, do)
    await until(lambda: bool(done))
    assert queue.busy and done == ["a started"]
    gate.set()
    await until(lambda: not queue.busy)
    assert done == [f"{what} {step}" for what in "abc" for step in ("started", "ended")]


async def test_stopping_returns_the_items_not_started_and_the_queue_still_works():
    done: list[str] = []

    async def do(what: str) -> None:
        if what == "never":
            await asyncio.Event().wait()
        done.append(what)

    queue = SerialQueue(done.append)  # type: ignore[arg-type]
    for what in ("never", "b", "c"):
        queue.put(what, do)
    await asyncio.sleep(0)
    assert queue.stop() == ["b", "c"]
    queue.put("d", do)
    await until(lambda: not queue.busy)
    assert done == ["d"]


async def test_an_error_is_reported_and_affects_only_its_own_item():
    told: list[Exception] = []
    done: list[str] = []

    async def do(what: str) -> None:
        if what == "bad":
            raise ZeroDivisionError
        done.append(what)

    queue = SerialQueue(told.append)
    queue.put("bad", do)
    queue.put("good", do)
    await until(lambda: not queue.busy and done)
    assert len(told) == 1 and done == ["good"]
