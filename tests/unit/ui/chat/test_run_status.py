"""The lines of `/status`."""

from dataclasses import replace

from tests.ui.fake_host import crashed, running
from tui.core.conversation.sessions import SessionInfo
from tui.core.ports import Meters
from tui.core.turn.limits import Limits
from tui.ui.chat.run_status import (
    Line,
    limit_lines,
    model_lines,
    server_lines,
    session_lines,
    status_rows,
)
from tui.ui.widgets.rows import text_of, width_of


def words(lines: list[Line]) -> list[str]:
    return [text_of(row).rstrip() for row in status_rows(lines, 200)]


def test_cost_and_window_are_shown_if_they_are_known():
    known = Meters(context=6900, window=33000, tokens=12000, cost=0.0047)
    assert words([*model_lines("deepseek-chat", known)]) == [
        "Model    deepseek-chat",
        "Context  6.9 k of 33 k tokens",
        "Cost     $0.0047 for 12 k tokens",
    ]
    assert words([*model_lines("demo", Meters(tokens=5))])[-1] == "Used   5 tokens"


def test_each_server_has_its_state_and_why_it_does_not_run():
    shown = words([*server_lines([running("weather", 2), crashed("slow")])])
    assert shown[0] == "Servers  1 of 2"
    assert "weather  RUNNING  2 tools" in shown[1]
    assert "slow     STOPPED" in shown[2]


def test_many_servers_are_counted():
    assert words([*server_lines([running(f"s{n}", 1) for n in range(14)])])[-1].strip() == "and 2 more"


def test_limits_of_a_turn_are_said_in_a_line_and_budgets_in_another():
    limits = replace(Limits(), turn_tokens=50_000)
    assert words([*limit_lines(limits)]) == [
        "Limits  20 steps, 100 calls, 15 m 00 s a turn, 1 m 00 s a call",
        "        50 k tokens a turn",
    ]


def test_a_session_that_is_not_saved_says_why():
    info = SessionInfo("2026-1", "Weather")
    assert words([*session_lines(info, "")]) == ["Session  Weather  2026-1"]
    assert words([*session_lines(info, "the disk is full")]) == ["Session  not saved: the disk is full"]
    assert words([*session_lines(None, "")]) == ["Session  begins with the first message"]


def test_rows_fit_any_width():
    lines = [("Model", (("a long name of a model " * 4, "text"),)), ("主题", (("harbor", "text"),))]
    for width in (24, 40, 80):
        assert all(width_of(row) <= width for row in status_rows(lines, width))
