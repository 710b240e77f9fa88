"""What became of a restart, in a line."""

import pytest

from tests.cases import each_case
from tests.changing_server import tool
from tui.addons.watch.handover import HandoverResult
from tui.addons.watch.report import RANKS, RestartReport, fitting, report_row, shortened, watched_words
from tui.core.permission.definitions import Accepted, DefinitionChange
from tui.ui.widgets.rows import text_of, width_of
from tui.ui.workbench.kept_calls import KeptCheck

BEFORE = tool("get_weather", "city")


def change(after, before=BEFORE):
    accepted = None if before is None else Accepted("old", before)
    return DefinitionChange("srv", after["name"], "new", accepted, after)


def new(**more):
    return HandoverResult(True, True, 0.42, **more)


@each_case(
    ("report", "expected"),
    [
        (RestartReport(new()), "restarted in 0.4 s"),
        (RestartReport(new(), was_running=False), "started in 0.4 s"),
        (
            RestartReport(new(changes=[change(tool("get_weather", "city", "day"))])),
            "restarted in 0.4 s · get_weather: input changed, breaking",
        ),
        (
            RestartReport(new(changes=[change({**BEFORE, "description": "Another tool."})])),
            "restarted in 0.4 s · get_weather: description changed, routing",
        ),
        (
            RestartReport(new(changes=[change(tool("a"), None), change(tool("b"), None)], removed=["c"])),
            "restarted in 0.4 s · c: removed, breaking · a: new · 1 more",
        ),
        (
            RestartReport(new(stopped_first=True), KeptCheck(4, ["Oslo"])),
            "restarted in 0.4 s · the old process was stopped first · 5 kept: 4 passed, 1 differs",
        ),
        (
            RestartReport(new(), KeptCheck(0, ["a", "b"], 1)),
            "restarted in 0.4 s · 3 kept: 2 differ, 1 not run",
        ),
        (RestartReport(new(), KeptCheck()), "restarted in 0.4 s"),
        (RestartReport(new(), printed="1 line on stdout"), "restarted in 0.4 s · 1 line on stdout"),
        (
            RestartReport(HandoverResult(False, True, 0.1, problem="KeyError: 'x'", place="server.py:3")),
            "server.py:3  KeyError: 'x' · the old process still runs",
        ),
        (
            RestartReport(HandoverResult(False, False, 0.1, problem="exited with code 3.")),
            "exited with code 3 · the server is stopped",
        ),
    ],
)
def test_a_restart_is_told_in_a_line(report, expected):
    assert report.text == expected


def test_a_line_without_room_loses_the_end_of_the_problem_only():
    problem = "the server exited with code 3 after 1.5 s, and said: " + "x" * 100
    row = report_row(RestartReport(HandoverResult(False, True, 0.1, problem=problem, place="server.py:3")))
    text = text_of(short := shortened(row, 60))
    assert text.startswith("server.py:3  the") and text.endswith("… · the old process still runs")
    assert width_of(short) == 60
    assert shortened(row, 500) == row


BREAKING = RestartReport(
    new(stopped_first=True, changes=[change(tool("get_weather", "city", "day"))]), KeptCheck(2, ["Oslo"])
)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (
            110,
            "restarted in 0.4 s · stopped first · get_weather: input changed, breaking"
            " · 3 kept: 2 passed, 1 differs",
        ),
        (
            90,
            "restarted in 0.4 s · stopped first · get_weather: breaking · 3 kept: 2 passed, 1 differs",
        ),
        (80, "restarted in 0.4 s · stopped first · get_weather: breaking · 1 kept differs"),
        (60, "0.4 s · stopped first · get_weather: breaking · 1 kept differs"),
    ],
)
def test_a_line_without_room_keeps_the_effect_of_a_change(cells, expected):
    rows = [report_row(BREAKING, shorter) for shorter in range(RANKS + 1)]
    assert text_of(fitting(rows, cells)) == expected


def test_a_line_without_room_keeps_the_reason_that_the_process_gave():
    problem = "`python server.py` exited with code 1 after 34 ms. Last line: config.toml: no token."
    report = RestartReport(HandoverResult(False, True, 0.1, problem=problem))
    row = fitting([report_row(report, shorter) for shorter in range(RANKS + 1)], 60)
    assert text_of(row) == "config.toml: no token · the old process still runs"


def test_a_failure_without_a_cause_says_what_was_tried_and_what_may_help():
    failed = HandoverResult(False, True, 0.1, problem="exited with code 1.", may_need_stop=True)
    assert RestartReport(failed, stop_first="--stop-first").text == (
        "exited with code 1 · the old process still runs · --stop-first may help"
    )
    alone = HandoverResult(False, False, 0.1, stopped_first=True, problem="exited with code 1.")
    assert RestartReport(alone).text == (
        "exited with code 1 · also without the old process · the server is stopped"
    )


def test_many_patterns_are_counted():
    assert watched_words(["a", "b", "c"]) == "watching a, b and 1 more"
    assert watched_words(["*.zz"], is_empty=True) == "watching *.zz: no file matches"
