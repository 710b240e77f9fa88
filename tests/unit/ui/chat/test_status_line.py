"""The status line: what needs the user, context and cost. The header: the current conversation."""

from dataclasses import replace

import pytest

from tests.cases import each_case
from tui.ui.chat.status_line import Meter, Status, header_row, status_row
from tui.ui.widgets.rows import text_of, width_of

CALLS = Meter("calls", 3, 50, "3 of 50")
WINDOW = Meter("context", 26_000, 32_768, "~26 k of 33 k")
USED = Status(context=WINDOW, tokens="~34 k", cost="$0.12")
FULL = replace(USED, activity="answering", meters=(CALLS,))
URGENT = replace(USED, activity="x" * 300, urgent=True, meters=(CALLS, CALLS), model="a model")


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (USED, "context ~26 k of 33 k ━━━━━   $0.12"),
        (Status(context="~12 k", tokens="~34 k"), "context ~12 k   ~34 k tokens"),
        (Status(), ""),
    ],
)
def test_between_turns_the_line_shows_context_and_cost_or_else_tokens(status, text):
    assert text_of(status_row(status, 140)).strip() == text


def test_in_a_narrow_line_the_context_meter_is_kept_longest():
    text = text_of(status_row(FULL, 50))
    assert "context ~26 k of 33 k" in text
    assert "$" not in text


@pytest.mark.parametrize(("used", "style"), [(39, "text"), (40, "warn"), (50, "warn")])
def test_a_meter_warns_from_four_fifths_on(used, style):
    meter = Meter("calls", used, 50, "x of 50")
    for status in (Status(meters=(meter,)), Status(context=meter)):
        assert ("x of 50", style) in status_row(status, 120)


def test_an_urgent_activity_comes_before_the_meters_in_the_accent_color():
    row = status_row(Status("waiting for approval", True, meters=(CALLS,)), 100)
    assert ("waiting for approval", "accent bold") in row
    assert text_of(row).index("approval") < text_of(row).index("calls")


@pytest.mark.parametrize("width", [60, 80, 100, 120])
def test_the_key_that_stops_a_stalled_reply_is_kept_before_the_meters(width):
    time = Meter("time", 73, 900, "1 min 13 s of 15 min")
    words = "no data for 1 min 13 s · esc stops · writing a call: get_weather 3.4 kB"
    stalled = replace(USED, activity=words, stalled=True, meters=(CALLS, time), model="a model")
    assert "no data for 1 min 13 s · esc stops" in text_of(status_row(stalled, width))


@each_case("width", [10, 24, 40, 60, 80, 100, 200])
def test_the_line_fits_every_width(width):
    assert width_of(status_row(URGENT, width)) <= width
    assert width_of(status_row(FULL, width)) <= width


def test_texts_from_outside_are_cleaned_in_the_line():
    assert "\x1b" not in text_of(status_row(Status("a\x1b[2Jb", model="m\x1b]0;x\x07"), 120))


@each_case("width", [20, 24, 40, 80, 120])
def test_a_fault_comes_first_at_every_width(width):
    status = replace(URGENT, fault="not saved")
    assert text_of(status_row(status, width)).startswith(" not saved ")


def test_the_header_shows_title_folder_model_and_step():
    text = text_of(header_row("Weather in two cities", "~/demo", "qwen   step 2 of 20", 120))
    assert text.startswith(" mcptui   Weather in two cities   ")
    assert text.endswith("   ~/demo   qwen   step 2 of 20 ")
    assert len(text) == 120


def test_the_header_shows_injected_faults_even_if_it_is_narrow():
    text = text_of(header_row("Weather in two cities", "~/demo", "qwen", 70, "faults: 1 rule, 2 injected"))
    assert text.endswith("faults: 1 rule, 2 injected   qwen ")


def test_a_narrow_header_drops_the_folder_before_it_truncates_the_title():
    text = text_of(header_row("Weather in two cities", "~/demo", "qwen", 44))
    assert "Weather in two cities" in text and "~/demo" not in text
    assert text_of(header_row("Weather in two cities", "~/demo", "qwen", 30)).endswith("…  qwen ")
