"""Lines of entries fit the terminal; nothing is cut if the output is not one."""

import pytest

from tui.commands.traffic_lines import entry_line
from tui.core.conversation.sessions import cells
from tui.core.traffic import Direction, Entry, Kind, Outcome

CALL = Entry(12, 0, 1_700_000_000_000_000_000, "weather", Direction.OUT, Kind.REQUEST)._replace(
    ident="7", method="tools/call", tool="get_weather", size=1234
)
NAMES = [
    "get_weather",
    "a_tool_with_a_very_long_name_that_goes_on_and_on_and_on",
    "天気を取得する" * 8,
    "🌦️" * 30,
]


def line(entry: Entry, width: int = 0, *, colour: bool = False) -> str:
    return entry_line(entry, Outcome.TOOL_ERROR, 1_500_000_000, b"", colour, width)


@pytest.mark.parametrize("width", [24, 40, 60, 80, 100, 128, 200])
@pytest.mark.parametrize("name", NAMES, ids=["short", "long", "wide", "emoji"])
def test_a_line_is_at_most_as_wide_as_the_terminal(width: int, name: str) -> None:
    shown = line(CALL._replace(tool=name, source=name), width)
    assert cells(shown) <= width


@pytest.mark.parametrize("width", [60, 80, 100, 128])
def test_a_narrow_line_has_tool_latency_and_outcome(width: int) -> None:
    shown = line(CALL, width)
    assert "get_weather" in shown and "1.5 s" in shown and shown.endswith("tool error")


@pytest.mark.parametrize("name", NAMES, ids=["short", "long", "wide", "emoji"])
def test_without_a_terminal_nothing_is_cut(name: str) -> None:
    shown = line(CALL._replace(tool=name, source=name))
    assert shown.count(name) == 2 and "…" not in shown


def test_columns_after_wide_characters_are_aligned() -> None:
    wide = line(CALL._replace(tool="天気", source="天気"), 128)
    plain = line(CALL, 128)
    assert cells(wide[: wide.index("1.5 s")]) == cells(plain[: plain.index("1.5 s")])


def test_only_the_outcome_is_colored() -> None:
    assert line(CALL, 80, colour=True).endswith("  \x1b[31mtool error\x1b[0m")
    assert line(CALL, 80, colour=True).count("\x1b") == 2
