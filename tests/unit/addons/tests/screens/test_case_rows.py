from dataclasses import replace
from pathlib import Path

import pytest

from tests.cases import each_case
from tui.addons.tests.review.catalog import Listed, ListedFile
from tui.addons.tests.review.last_runs import LastCase
from tui.addons.tests.run.outcome import State
from tui.addons.tests.screens.case_rows import (
    Columns,
    Doing,
    case_row,
    empty_rows,
    file_rows,
    problem_rows,
    progress_row,
    summary,
)
from tui.addons.tests.suite.case import Case, Expectation, Request, RequestKind, Suite, SuiteServer
from tui.ui.widgets.rows import text_of, width_of
from tui.ui.widgets.symbols import UNICODE

CASE = Case(
    "rain in \x1bHangzhou", 3, Request(RequestKind.TOOL, "get_weather"), Expectation("rain", within_ms=800)
)
NOW = 1_000_000.0
IDLE = Doing()


def listed(state: State | None = State.PASSED, ms: float | None = 12.0, case: Case = CASE) -> Listed:
    last = LastCase(state, NOW - 200, ms) if state is not None else None
    return Listed(Path("weather.mcp.toml"), case, last)


def shown(one: Listed, doing: Doing = IDLE, width: int = 120) -> str:
    row = case_row(one, doing, UNICODE, Columns.of(width, [one]), NOW, cursor=True)
    assert width_of(row) <= width
    return text_of(row)


def test_a_case_shows_state_name_tool_latency_against_its_limit_and_last_run():
    text = shown(listed())
    assert text.startswith("▸ ✓ rain in ␛Hangzhou")
    assert " ".join(text.split()).endswith("get_weather 12 ms of 800 ms 3 min ago")


@each_case(
    ("one", "words"),
    [
        (listed(State.FAILED), "✗"),
        (listed(State.ERROR, None), "!"),
        (listed(None), "never ran"),
        (listed(case=replace(CASE, expected=Expectation())), "no result"),
        (listed(State.SKIPPED, case=replace(CASE, skip="needs a database")), "needs a database"),
    ],
)
def test_states_are_words_or_signs(one: Listed, words: str):
    assert words in shown(one)


def test_a_case_of_a_run_waits_and_then_runs():
    assert "◌" in shown(listed(), Doing(waits=True)) and "waiting" in shown(listed(), Doing(waits=True))
    assert "running" in shown(listed(), Doing(runs=True))


@each_case("width", [40, 60, 80, 99, 200])
def test_a_row_fits_any_width(width: int):
    assert "rain in" in shown(listed(), width=width)


def test_why_a_case_did_not_run_has_the_room_of_its_latency():
    one = replace(listed(State.SKIPPED, ms=None), problem="no model: set up a profile, or use --demo")
    assert "set up a profile" in shown(one, width=84)


def test_a_slow_case_is_a_warning():
    row = case_row(listed(ms=900.0), Doing(), UNICODE, Columns.of(120, []), NOW, cursor=False)
    assert any("900 ms" in text and style == "warn" for text, style in row)


def test_a_file_shows_its_server_problems_and_warnings_without_secrets():
    server = SuiteServer(command=("python", "server.py", "--api-key", "s3cret-value-123456"))
    suite = Suite(Path("a.mcp.toml"), server, warnings=("<nubmer> is literal",))
    text = "\n".join(map(text_of, file_rows(ListedFile(suite.path, suite, "line 3\nline 4"), 100)))
    assert "a.mcp.toml   python server.py" in text and "s3cret" not in text
    assert "! line 3" in text and "! line 4" in text and "<nubmer> is literal" in text


def test_the_summary_counts_each_state():
    found = [listed(), listed(State.ERROR), listed(State.ERROR), listed(None)]
    assert " ".join(text_of(summary(found)).split()) == "4 cases 1 passed 2 errors 1 never ran"


def test_without_cases_it_says_how_to_keep_one():
    text = "\n".join(map(text_of, empty_rows("~/demo", "K", 80)))
    assert "  K  " in text and "mcptui keep" in text and "~/demo" in text


def test_progress_is_only_shown_during_a_run():
    assert text_of(progress_row(2, 5)).endswith("2 of 5 ")
    assert progress_row(0, 0) == ()


def test_the_limit_of_a_case_is_shown_on_a_terminal_of_80_columns():
    assert "12 ms of 800 ms" in " ".join(shown(listed(), width=80).split())


@pytest.mark.parametrize("width", [60, 80, 120])
def test_a_failed_case_shows_its_whole_first_difference_in_place_of_the_request_or_below(width: int):
    said = 'text: expected "rain", got "snow"'
    failed = replace(listed(State.FAILED), problem=said)
    below = problem_rows(failed, Columns.of(width, [failed]), NOW)
    assert (said in shown(failed, width=width)) is not bool(below)
    assert not below or text_of(below[0]).strip() == said
    assert "get_weather" in shown(failed, Doing(runs=True))


def test_a_failed_case_whose_difference_is_unknown_differs():
    assert "differs" in shown(listed(State.FAILED)) and "get_weather" not in shown(listed(State.FAILED))


def test_all_problems_of_a_file_begin_in_one_column():
    rows = file_rows(ListedFile(Path("a.mcp.toml"), None, "line 3\n  line 4"), 100)
    assert list(map(text_of, rows))[2:] == ["   ! line 3", "   ! line 4"]
