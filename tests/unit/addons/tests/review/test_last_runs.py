from dataclasses import replace
from pathlib import Path

from tui.addons.tests.review import last_runs
from tui.addons.tests.review.last_runs import LastCase, LastRuns, LastRunsReporter
from tui.addons.tests.run.outcome import Outcome, RunOutcome, State, SuiteOutcome, TurnCell, TurnRun
from tui.addons.tests.run.reporter import RunStart
from tui.addons.tests.run.runner import NOT_REACHED
from tui.addons.tests.suite.case import Case, Expectation, Request, RequestKind, Suite, TurnCase

SUITE = Suite(Path("/home/ada/weather.mcp.toml"))


def outcome(name: str = "rain", state: State = State.PASSED, ms: float | None = 12.5, call: str = "hand-1"):
    return Outcome(name, 1, state, ms=ms, server="weather", call=call)


RECORDING = Path("/state/run.mcptrace")


def ran(
    runs: LastRuns,
    *outcomes: Outcome,
    suite: Suite = SUITE,
    at: float = 100.0,
    problem: str = "",
    recording: Path | None = RECORDING,
):
    reporter = LastRunsReporter(runs, lambda: recording, lambda text: text.replace("s3cret", "•••"))
    reporter.began(RunStart([suite], None, at))
    reporter.suite_ended(SuiteOutcome(suite, outcomes, problem, not_started=bool(problem)))
    reporter.ended(RunOutcome())


def test_another_process_sees_how_each_case_ended_and_where_its_messages_are(tmp_path: Path):
    mine, other = LastRuns(tmp_path / "tests.json"), LastRuns(tmp_path / "tests.json")
    ran(mine, outcome(), outcome("snow", State.FAILED, None))
    assert other.is_stale
    found = other.read()["/home/ada/weather.mcp.toml"]
    assert not other.is_stale
    assert found.cases == {
        "rain": LastCase(State.PASSED, 100.0, 12.5, "/state/run.mcptrace", "weather", "hand-1"),
        "snow": LastCase(State.FAILED, 100.0, None, "/state/run.mcptrace", "weather", "hand-1"),
    }


def test_a_run_of_some_cases_keeps_what_is_known_of_the_others(tmp_path: Path):
    runs = LastRuns(tmp_path / "tests.json")
    ran(runs, outcome(), outcome("snow"))
    ran(runs, outcome("snow", State.FAILED), at=200.0)
    runs.read()
    assert {name: one.at for name, one in runs.of(SUITE.path).cases.items()} == {"rain": 100.0, "snow": 200.0}


def test_of_two_eras_the_worse_counts(tmp_path: Path):
    runs = LastRuns(tmp_path / "tests.json")
    ran(runs, outcome(state=State.FAILED, call="hand-1"), outcome(state=State.PASSED, call="hand-2"))
    runs.read()
    assert runs.of(SUITE.path).cases["rain"].call == "hand-1"


def test_all_cases_of_a_server_that_did_not_start_are_errors(tmp_path: Path):
    runs = LastRuns(tmp_path / "tests.json")
    case = Case("rain", 3, Request(RequestKind.TOOL, "get_weather"))
    ran(runs, suite=Suite(SUITE.path, cases=(case,)), problem="The server exited.")
    runs.read()
    assert runs.of(SUITE.path).cases["rain"].state is State.ERROR


def test_a_case_that_an_interrupted_run_did_not_reach_keeps_its_last_run(tmp_path: Path):
    runs = LastRuns(tmp_path / "tests.json")
    ran(runs, outcome())
    ran(runs, Outcome("why?", 1, State.PASSED, case=TurnCase("why?", 1)))
    case = Case("rain", 3, Request(RequestKind.TOOL, "get_weather"), Expectation("rain"))
    missed = Outcome("rain", 1, State.SKIPPED, NOT_REACHED, case=case)
    ran(runs, missed, replace(missed, case=TurnCase("why?", 1)), at=200.0)
    runs.read()
    assert {one.state for one in runs.of(SUITE.path).cases.values()} == {State.PASSED}


def test_a_turn_case_has_the_runs_of_all_its_models(tmp_path: Path):
    runs = LastRuns(tmp_path / "tests.json")
    turn = TurnCase("Is it warm?", 1)
    passed = TurnCell("a", wanted=2, runs=[TurnRun(State.PASSED), TurnRun(State.PASSED)])
    failed = TurnCell("b", wanted=3, runs=[TurnRun(State.FAILED)])
    ran(runs, *(Outcome(cell.model, 1, State.PASSED, case=turn, cell=cell) for cell in (passed, failed)))
    runs.read()
    assert runs.of(SUITE.path).cases["Is it warm?"].runs == "2 of 5"


def test_why_a_turn_case_without_a_model_was_skipped_is_remembered(tmp_path: Path):
    runs = LastRuns(tmp_path / "tests.json")
    case = TurnCase("Hi?", 3, calls=("get_weather",))
    ran(runs, Outcome("Hi?", 3, State.SKIPPED, "no model: set up a profile", case=case))
    runs.read()
    assert runs.of(SUITE.path).cases[case.title].problem == "no model: set up a profile"


def test_a_file_that_the_user_kept_a_call_in_is_remembered(tmp_path: Path):
    runs = LastRuns(tmp_path / "tests.json")
    ran(runs, outcome())
    runs.remember(SUITE.path)
    found = runs.read()[str(SUITE.path)]
    assert found.kept
    assert "rain" in found.cases


def test_the_oldest_files_and_cases_are_dropped(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(last_runs, "MAX_FILES", 2)
    monkeypatch.setattr(last_runs, "MAX_CASES", 2)
    runs = LastRuns(tmp_path / "tests.json")
    for number in range(3):
        ran(runs, outcome(f"case {number}"), suite=Suite(Path(f"/home/ada/{number}.mcp.toml")))
        ran(runs, outcome(f"case {number}"), suite=Suite(Path("/home/ada/all.mcp.toml")), at=100.0 + number)
    known = runs.read()
    assert list(known) == ["/home/ada/2.mcp.toml", "/home/ada/all.mcp.toml"]
    assert list(known["/home/ada/all.mcp.toml"].cases) == ["case 1", "case 2"]


def test_invalid_entries_are_ignored_and_a_damaged_file_is_copied_before_it_is_replaced(tmp_path: Path):
    path = tmp_path / "tests.json"
    path.write_text(
        '{"format": 1, "files": [7, {"path": "/a", "kept": false, "cases": [{"name": "x", "state": "odd"}]}]}'
    )
    assert LastRuns(path).read()["/a"].cases == {}
    path.write_text("{")
    runs = LastRuns(path)
    assert runs.read() == {}
    ran(runs, outcome())
    assert "/home/ada/weather.mcp.toml" in runs.read()
    assert (tmp_path / "tests.damaged").read_text() == "{"


def test_why_a_case_failed_is_a_line_without_secrets_if_runs_are_recorded(tmp_path: Path):
    runs = LastRuns(tmp_path / "tests.json")
    why = "text: expected a,\ngot s3cret"
    outcomes = [replace(outcome(state=State.FAILED), problem=why), replace(outcome("snow"), problem=why)]
    for recording, said in ((None, ""), (RECORDING, "text: expected a, got •••")):
        ran(runs, *outcomes, recording=recording)
        runs.read()
        found = runs.of(SUITE.path).cases
        assert (found["rain"].problem, found["snow"].problem) == (said, "")
