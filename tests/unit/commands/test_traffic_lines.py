"""Lines of entries fit the terminal; nothing is cut if the output is not one."""

import pytest

from tui.commands.traffic_lines import (
    entry_heading,
    entry_line,
    finding_columns,
    finding_row,
    server_cells,
    with_note,
)
from tui.core.text import cells_of
from tui.core.traffic import Direction, Entry, Finding, Kind, Outcome, Severity

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
    cells = server_cells([entry.source], cut=width > 0)
    return entry_line(entry, Outcome.TOOL_ERROR, 1_500_000_000, b"", colour, width, cells)


@pytest.mark.parametrize("width", [24, 40, 60, 80, 100, 128, 200])
@pytest.mark.parametrize("name", NAMES, ids=["short", "long", "wide", "emoji"])
def test_a_line_is_at_most_as_wide_as_the_terminal(width: int, name: str) -> None:
    shown = line(CALL._replace(tool=name, source=name), width)
    assert cells_of(shown) <= width


@pytest.mark.parametrize("width", [0, 24, 60, 128])
def test_the_heading_is_above_its_columns(width: int) -> None:
    cells = server_cells([CALL.source], cut=width > 0)
    heading, shown = entry_heading(width, cells), line(CALL, width)
    assert cells_of(heading) <= width or not width
    for name, value in (("method, tool", "tools/call"), ("server", "weather"), ("outcome", "tool error")):
        assert name not in heading or heading.index(name) == shown.index(value)


@pytest.mark.parametrize("width", [60, 80, 100, 128])
def test_a_narrow_line_has_tool_latency_and_outcome(width: int) -> None:
    shown = line(CALL, width)
    assert "get_weather" in shown and "1.5 s" in shown and shown.endswith("tool error")


def test_a_narrow_line_tells_a_request_from_its_response() -> None:
    shown = line(CALL, 80)
    assert "→" in shown and "request" not in shown


@pytest.mark.parametrize("name", NAMES, ids=["short", "long", "wide", "emoji"])
def test_without_a_terminal_nothing_is_cut(name: str) -> None:
    shown = line(CALL._replace(tool=name, source=name))
    assert shown.count(name) == 2 and "…" not in shown


@pytest.mark.parametrize("width", [0, 128])
def test_columns_after_names_of_any_width_are_aligned(width: int) -> None:
    names = ["weather", "天气服务", "half_line_then_silence", "👩‍👩‍👧"]
    cells, finding = server_cells(names, cut=width > 0), Finding(12, "code", Severity.HINT, "sentence")
    for name in names:
        entry = CALL._replace(source=name, tool=name)
        shown = entry_line(entry, Outcome.PENDING, -1, b"", False, width, cells)
        assert cells_of(shown.partition("→")[0]) == 24 + cells
        assert cells_of(shown.partition("#7")[0]) == (76 if width else 82) + cells
        (first, *_) = finding_columns("", cells, width).lines(finding_row(finding, entry))
        assert cells_of(first.partition("hint")[0]) == 24 + cells


def test_only_the_outcome_is_colored() -> None:
    assert line(CALL, 80, colour=True).endswith("  \x1b[31mtool error\x1b[0m")
    assert line(CALL, 80, colour=True).count("\x1b") == 2


def test_a_note_follows_its_line_or_ends_it_if_nothing_is_cut():
    assert with_note("3 call", "failed: rain\nx", 20) == "3 call\n        note: faile…"
    assert with_note("3 call", "failed: rain", 0) == "3 call  note: failed: rain"
    assert with_note("3 call", "", 20) == "3 call"


def test_a_response_that_was_changed_on_its_way_says_so() -> None:
    said = entry_line(CALL, Outcome.OK, 0, b"", False, 100, 14, change="edited")
    assert said.endswith("ok, edited")
