"""The status line says what matters, at every width."""

import pytest

from tui.ui.panes.status_line import Meter, Status, status_row
from tui.ui.widgets.rows import text_of, width_of

CALLS = Meter("calls", 3, 50, "3 of 50")
FULL = Status("answering", False, (CALLS,), "", 2, 3, 1234, 214)


def test_an_idle_line_counts_servers_tokens_and_frames():
    text = text_of(status_row(Status(running=2, servers=3, tokens=1234, frames=214), 120))
    assert text.split("  ")[-3:] == ["2 of 3 servers", " 1.2 k tokens", " 214 frames "] or text.endswith(
        "2 of 3 servers   1.2 k tokens   214 frames "
    )


def test_meters_stand_there_only_when_there_are_any():
    assert "calls 3 of 50" in text_of(status_row(FULL, 120))
    assert "calls" not in text_of(status_row(Status(), 120))


@pytest.mark.parametrize(("used", "style"), [(39, "text"), (40, "warn"), (50, "warn")])
def test_a_meter_warns_from_four_fifths_on(used, style):
    row = status_row(Status(meters=(Meter("calls", used, 50, "x of 50"),)), 120)
    assert ("x of 50", style) in row


def test_a_question_comes_before_the_meters():
    row = text_of(status_row(Status("notes › delete asks you", True, (CALLS,), "", 2, 3), 100))
    assert row.index("asks you") < row.index("calls")


@pytest.mark.parametrize("width", [10, 24, 40, 60, 80, 100, 200])
def test_it_fits_every_width(width):
    urgent = Status("x" * 300, True, (CALLS, CALLS), "a model", 2, 3, 10**6, 10**6)
    assert width_of(status_row(urgent, width)) <= width
    assert width_of(status_row(FULL, width)) <= width


def test_texts_from_outside_are_cleaned():
    assert "\x1b" not in text_of(status_row(Status("a\x1b[2Jb", model="m\x1b]0;x\x07"), 120))
