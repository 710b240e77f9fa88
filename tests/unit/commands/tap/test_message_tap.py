"""The end of the stages of a tap over stdio."""

import asyncio
from types import SimpleNamespace
from typing import Any

from tests.conftest import until
from tui.commands.tap.message_tap import MessageTap
from tui.core.traffic import Direction


class Out:
    """What the host reads, which is full until `room` is set."""

    def __init__(self) -> None:
        self.room, self.is_closed = asyncio.Event(), False
        self.written: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.written.append(data)

    async def flushed(self) -> None:
        await self.room.wait()

    def close(self) -> None:
        self.is_closed = True


async def test_a_lost_connection_ends_after_what_was_passed_on_and_passes_nothing_more():
    records: Any = SimpleNamespace(event=None, seen=None)
    out, ended = Out(), list[int]()
    tap: Any = MessageTap("s", (), records)
    tap._host = SimpleNamespace(out=out)
    tap._server = SimpleNamespace(stdin=SimpleNamespace(close=lambda: None), signal=ended.append)
    tap(Direction.IN, b"early")
    tap.lose()
    tap(Direction.IN, b"late")
    await asyncio.sleep(0)
    assert (out.written, out.is_closed, len(ended)) == ([b"early\n"], False, 1)
    out.room.set()
    await until(lambda: out.is_closed)
