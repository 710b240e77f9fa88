"""The screen of all cases, the tab of the workbench, and its badges, over real servers."""

import json
import os
import time
from pathlib import Path

import pytest

from tests.conftest import until
from tests.ui.kept_stage import CHANGED, Kept, kept_folder, open_tests, run_all
from tests.ui.real_stage import real_app
from tui.addons.tests.review.last_runs import LastRuns, LastRunsReporter
from tui.addons.tests.run.outcome import Outcome, RunOutcome, State, SuiteOutcome
from tui.addons.tests.run.reporter import RunStart
from tui.addons.tests.suite.read import read_suite


@pytest.fixture
def kept(tmp_path: Path, separate_home: Path, monkeypatch: pytest.MonkeyPatch) -> Kept:
    return kept_folder(tmp_path / "work", monkeypatch)


def ran_elsewhere(kept: Kept, state: State, why: str = "text: it rains") -> None:
    """Store a run as another process does."""
    suite = read_suite(kept.file)
    why = why if state is State.FAILED else ""
    outcomes = [Outcome(case.name, case.line, state, why, ms=12.0) for case in suite.cases]
    reporter = LastRunsReporter(LastRuns(), lambda: kept.folder / "run.mcptrace", str)
    reporter.began(RunStart([suite], None, time.time()))
    reporter.suite_ended(SuiteOutcome(suite, outcomes))
    reporter.ended(RunOutcome())


async def test_without_cases_it_says_how_to_keep_the_first_call(
    tmp_path: Path, separate_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with real_app(separate_home, "") as app:
        await open_tests(app, "No kept calls yet", "mcptui keep", "C ")


async def test_calls_kept_in_the_project_of_a_server_are_listed_in_another_folder(
    kept: Kept, separate_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    LastRuns().remember(kept.file)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    async with real_app(separate_home, kept.config) as app:
        await app.has_state("weather", "RUNNING")
        await open_tests(app, "2 cases")


async def test_all_cases_run_after_consent_and_the_servers_of_the_user_are_not_touched(
    kept: Kept, separate_home: Path
) -> None:
    async with real_app(separate_home, kept.config) as app:
        await app.has_state("weather", "RUNNING")
        pid = app.runtime.host.status("weather").pid
        await open_tests(app, "2 cases", "2 never ran", "the weather")
        await app.press("R")
        await app.shows("comes from the test file", "Start it?", "waiting")
        while "Start it?" in app.text:  # its first keys are ignored
            await app.press("ctrl+s")
        await app.shows("2 passed", "just now", " of 10 s")
        await until(lambda: not app.app.screen.browser.runs.is_running)
        assert app.runtime.host.status("weather").pid == pid
        assert [status.name for status in app.runtime.host.statuses()] == ["weather"]


async def test_a_refused_server_is_not_started_and_its_file_says_so(kept: Kept, separate_home: Path) -> None:
    async with real_app(separate_home, "") as app:
        await open_tests(app, "2 cases")
        await app.press("R")
        await app.shows("Start it?")
        while "Start it?" in app.text:
            await app.press("ctrl+x")
        await app.shows("needs consent", "2 never ran")
        await app.press("R")
        await app.shows("Start it?", "waiting")
        assert "its server needs consent" not in app.text


async def test_one_case_runs_alone_and_its_messages_open(kept: Kept, separate_home: Path) -> None:
    kept.agree()
    async with real_app(separate_home, "") as app:
        await open_tests(app, "2 never ran")
        await app.press("down", "r")
        await app.shows("1 passed", "1 never ran")
        await until(lambda: not app.app.screen.browser.runs.is_running)
        await app.press("f4")
        await app.shows("TRAFFIC", "call:", "tools/call", "order")
        await app.press("escape")
        await app.shows("TESTS")


async def test_it_follows_a_run_in_a_shell_and_new_files(kept: Kept, separate_home: Path) -> None:
    async with real_app(separate_home, "") as app:
        await open_tests(app, "2 never ran")
        ran_elsewhere(kept, State.FAILED)
        await app.shows("2 failed", "12 ms", "text: it rains")
        (kept.folder / "more.mcp.toml").write_text("[[call]]\nname = 5\n")
        await app.shows("more.mcp.toml", "must be a string")


async def test_the_filter_finds_names_and_states_and_esc_clears_it(kept: Kept, separate_home: Path) -> None:
    ran_elsewhere(kept, State.FAILED)
    async with real_app(separate_home, "") as app:
        await open_tests(app, "2 failed")
        await app.press("slash", *"failed order", "enter")
        await app.shows("1 case", "an order")
        assert "the weather" not in app.text
        await app.press("escape")
        await app.shows("2 cases", "the weather")


async def test_esc_cancels_a_run_and_nothing_is_left_running(kept: Kept, separate_home: Path) -> None:
    kept.agree()
    (kept.folder / "answers.json").unlink()
    os.mkfifo(kept.folder / "answers.json")  # the server waits for it
    async with real_app(separate_home, "") as app:
        await open_tests(app, "2 never ran")
        await app.press("R")
        await app.shows("running", "0 of 2")
        browser = app.app.screen.browser
        await until(lambda: browser.runs.can_interrupt)
        await app.press("escape")
        await until(lambda: not browser.runs.is_running, what="the run ends")
        await app.shows("TESTS")


async def test_the_workbench_shows_kept_calls_and_whether_a_call_is_as_kept(
    kept: Kept, separate_home: Path
) -> None:
    ran_elsewhere(kept, State.PASSED)
    async with real_app(separate_home, kept.config) as app:
        await app.has_state("weather", "RUNNING")
        await app.press("f3", "enter")
        await app.shows("1 kept ✓", "weather", "order")
        await app.press("ctrl+s")
        await app.shows("done   as kept")
        kept.answer(CHANGED)
        await app.press("ctrl+s")
        await app.shows("done   differs", "C keep")
        await app.press("d")
        await app.shows("kept as the weather", "station 5", "station 7")
        ran_elsewhere(kept, State.FAILED)
        await app.shows("1 kept ✗")


async def test_a_result_is_as_kept_as_soon_as_it_was_kept(kept: Kept, separate_home: Path) -> None:
    kept.answer(CHANGED)
    async with real_app(separate_home, kept.config) as app:
        await app.has_state("weather", "RUNNING")
        await app.press("f3", "enter", "ctrl+s")
        await app.shows("done   differs")
        call = f'[[call]]\ntool = "weather"\ntext = {json.dumps(CHANGED["weather"])}\n'
        kept.file.write_text(f"{kept.file.read_text()}\n{call}")
        await app.shows("2 kept", "done   as kept")


async def test_the_tab_of_the_workbench_runs_the_cases_of_its_server(kept: Kept, separate_home: Path) -> None:
    kept.agree()
    (kept.folder / "other.mcp.toml").write_text('server = "other"\n[[call]]\nname = "another"\ntool = "x"\n')
    async with real_app(separate_home, kept.config) as app:
        await app.has_state("weather", "RUNNING")
        await app.press("f3", "enter")
        await app.shows("7 tests")
        await app.press("7")
        await app.shows("2 cases", "the weather")
        assert "another" not in app.text
        await app.press("r")
        await app.shows("1 passed")
        await app.press("1")
        await app.shows("protocol")


async def test_a_failure_is_that_of_the_last_run_whoever_made_it(kept: Kept, separate_home: Path) -> None:
    kept.agree()
    kept.answer(CHANGED)
    async with real_app(separate_home, "") as app:
        await open_tests(app, "2 never ran")
        await run_all(app, "2 failed", "station 5")
        ran_elsewhere(kept, State.FAILED, "not sent: no days")
        await app.shows("2 failed", "not sent: no days")
        await app.press("enter")
        await app.shows("REVIEW", "1 of 2", "not sent: no days")
        assert "station" not in app.text


async def test_the_footer_has_the_keys_for_the_selected_case(kept: Kept, separate_home: Path) -> None:
    turn = '\n[[turn]]\nname = "greets"\nquestion = "Hello"\ncalls = ["weather"]\n'
    kept.file.write_text(kept.file.read_text() + turn)
    async with real_app(separate_home, "") as app:
        await open_tests(app, "3 never ran")
        await app.shows("enter open   r run   R all   / filter   esc back")
        await app.press("end")
        await app.shows("enter open   r run   R all   / filter   t turns")
        ran_elsewhere(kept, State.FAILED)
        await app.shows("2 failed")
        await app.press("up")
        await app.shows("enter open   r run   R all   / filter   f4 messages")


async def test_the_filter_is_in_the_footer_of_a_small_terminal(kept: Kept, separate_home: Path) -> None:
    async with real_app(separate_home, "", size=(80, 24)) as app:
        await open_tests(app, "2 never ran", "/ filter")
