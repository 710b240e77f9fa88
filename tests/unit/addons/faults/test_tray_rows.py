"""The lines of the tray."""

import json
from typing import Any

import pytest

from tui.addons.faults.breakpoints import Breakpoints, Patience
from tui.addons.faults.tray_rows import held_row
from tui.core.traffic import Direction

S = 1_000_000_000


class End:
    source, exchange, is_gone = "weather", 0, False

    def __call__(self, direction: Direction, raw: bytes) -> None: ...

    def event(self, word: str, **what: Any) -> None: ...

    def lose(self) -> None: ...

    def hears(self, direction: Direction) -> bool:
        return True

    def refuse(self, status: int, headers: object) -> None: ...


@pytest.mark.parametrize(
    ("patience", "seconds", "shown"),
    [
        (Patience(60, 60), 12, "48 s left"),
        (Patience(60, 60, is_guess=True), 12, "~48 s left"),
        (Patience(60, 60), 61, "timed out"),
        (Patience(), 12, "held 12 s"),
    ],
)
@pytest.mark.parametrize("width", [60, 78, 118])
def test_a_line_says_what_waits_and_for_how_long(
    patience: Patience, seconds: int, shown: str, width: int
) -> None:
    breakpoints = Breakpoints(lambda: 0)
    breakpoints.set("dir:out")
    params = {"name": "get_weather", "arguments": {"location": "Hangzhou" * 20}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    breakpoints.stage(patience).take(Direction.OUT, json.dumps(message).encode(), End())
    row = held_row(breakpoints.held[1], seconds * S, "  ", width)
    line = "".join(text for text, _ in row)
    assert len(line) == width
    assert "weather" in line and "get_weather" in line and line.endswith(shown)
