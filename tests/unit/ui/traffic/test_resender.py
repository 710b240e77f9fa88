"""Resending without a running program."""

from types import SimpleNamespace
from typing import Any

from tui.ui.traffic.resender import Resender


async def test_the_traffic_of_a_file_has_no_server_to_send_to() -> None:
    told: list[str] = []
    rows: Any = SimpleNamespace(
        entries=SimpleNamespace(kind=[1], partner=lambda index: -1),
        index=0,
        chosen=lambda: True,
        notify=lambda text, timeout: told.append(text),
    )
    await Resender(None, rows, None, None).resend()  # type: ignore[arg-type]
    assert told == ["A recording has no server to send to."]
