"""The status line says what matters, at every width."""

import pytest

from tui.ui.chat.status_line import Meter, Status, Used, status_row
from tui.ui.widgets.rows import text_of, width_of

CALLS = Meter("calls", 3, 50, "3 of 50")
WINDOW = Meter("context", 26_000, 32_768, "~26 k of 33 k")
USED = Used(WINDOW, "~34 k", "$0.12")
FULL = Status("answering", False, (CALLS,), "", 2, 3, USED, 214)


def test_an_idle_line_counts_servers_what_was_used_and_frames():
    text = text_of(status_row(Status(running=2, servers=3, used=USED, frames=214), 140))
    assert text.endswith("2 of 3 servers   context ~26 k of 33 k ━━━━━   ~34 k tokens   $0.12   214 frames ")


def test_without_a_known_window_the_context_is_a_number():
    assert "context ~12 k   " in text_of(status_row(Status(used=Used("~12 k", "~12 k")), 120))


def test_before_anything_was_said_and_without_prices_nothing_is_counted():
    text = text_of(status_row(Status(running=1, servers=1), 120))
    assert text.strip() == "1 of 1 server   0 frames"


def test_the_window_warns_from_four_fifths_on():
    nearly = Meter("context", 80, 100, "80 of 100")
    assert ("80 of 100", "warn") in status_row(Status(used=Used(nearly)), 120)
    half = Meter("context", 50, 100, "50 of 100")
    assert ("50 of 100", "text") in status_row(Status(used=Used(half)), 120)


def test_the_window_stays_longest_where_room_is_short():
    text = text_of(status_row(FULL, 80))
    assert "context ~26 k of 33 k" in text
    assert "frames" not in text


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
    urgent = Status("x" * 300, True, (CALLS, CALLS), "a model", 2, 3, USED, 10**6)
    assert width_of(status_row(urgent, width)) <= width
    assert width_of(status_row(FULL, width)) <= width


def test_texts_from_outside_are_cleaned():
    assert "\x1b" not in text_of(status_row(Status("a\x1b[2Jb", model="m\x1b]0;x\x07"), 120))


@pytest.mark.parametrize("width", [20, 24, 40, 80, 120])
def test_what_is_not_saved_stands_first_at_every_width(width):
    status = Status("x" * 300, True, (CALLS, CALLS), "a model", 2, 3, USED, 10**6, fault="not saved")
    assert text_of(status_row(status, width)).startswith(" not saved ")


def test_without_a_fault_no_mark_stands_there():
    assert "not saved" not in text_of(status_row(FULL, 120))
