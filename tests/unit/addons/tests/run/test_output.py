"""The output of a run on a terminal."""

import re
from pathlib import Path
from typing import Any

from tui.addons.tests.run.outcome import ABSENT, Mismatch, Outcome, RunOutcome, State, SuiteOutcome
from tui.addons.tests.run.output import TerminalReport
from tui.addons.tests.run.reporter import RunStart
from tui.addons.tests.run.runner import STOPPED
from tui.addons.tests.suite.case import Case, Request, RequestKind, Suite
from tui.commands.recordings import recordings
from tui.core.text import cells_of

SUITE = Suite(Path("weather.mcp.toml"))


def outcome(state: State = State.FAILED, name: str = "rain", **more: Any) -> Outcome:
    return Outcome(name, 4, state, case=Case(name, 4, Request(RequestKind.TOOL, "rain")), **more)


def output(*outcomes: Outcome, suite: SuiteOutcome | None = None, colored: bool = False, **more: Any) -> str:
    written: list[str] = []
    report = TerminalReport(written.append, colored=colored, width=60)
    suite = suite or SuiteOutcome(SUITE, outcomes)
    report.began(RunStart([suite.suite]))
    report.suite_began(suite.suite)
    for one in suite.outcomes:
        report.case_ended(suite.suite, one)
    report.suite_ended(suite)
    report.ended(RunOutcome([suite], 1.5, **more))
    return "".join(written)


def differing(expected: Any, got: Any, path: str = "result.a") -> str:
    return output(outcome(mismatches=[Mismatch(path, expected, got)]))


def test_a_passed_run_is_a_line_a_case_and_a_summary():
    assert output(outcome(State.PASSED, ms=12.3)) == (
        "weather.mcp.toml::rain                    PASSED      12 ms\n\n1 passed in 1.5 s\n"
    )


def test_a_failure_shows_where_what_and_how_to_repeat_it():
    one = outcome(
        problem="result.a differs",
        mismatches=[Mismatch("result.a", 1, "1")],
        said=["cannot open the database"],
        repeat="mcptui call rain -- python server.py",
    )
    assert output(one).split("\n\n")[1].splitlines() == [
        "FAILED  rain  (weather.mcp.toml:4)",
        "  result.a",
        "    - expected 1",
        '    + got      "1"',
        "  stderr: cannot open the database",
        "  repeat: mcptui call rain -- python server.py",
    ]


def test_a_missing_value_is_shown_as_nothing():
    assert "- expected 1\n    + got      (nothing)" in differing(1, ABSENT)
    assert "- expected (nothing)\n    + got      null" in differing(ABSENT, None)


def test_long_texts_are_a_small_difference():
    lines = [f"line {number}" for number in range(200)]
    said = differing("\n".join(lines), "\n".join([*lines[:100], "other", *lines[101:]]), "text")
    assert "- line 100" in said and "+ other" in said
    assert "line 50" not in said and said.count("\n") < 15


def test_lines_of_dashes_are_part_of_a_difference():
    said = differing("a\n-- b\nc", "a\n++ b\nc", "text")
    assert "- -- b" in said and "+ ++ b" in said


def test_one_long_line_is_shown_around_the_difference():
    said = differing("a" * 5000 + "x", "a" * 5000 + "y", "text")
    assert "ax" in said and "ay" in said
    assert max(map(len, said.splitlines())) < 200


def test_large_values_are_a_difference_of_their_lines():
    before = {f"key{number}": "value" for number in range(50)}
    said = differing(before, {**before, "key7": "other"})
    assert '-   "key7": "value"' in said and '+   "key7": "other"' in said and "key30" not in said


def test_a_finding_says_how_to_accept_it():
    said = output(outcome(mismatches=[Mismatch("findings", ABSENT, "stray-output", "Not a message.")]))
    assert "finding stray-output: Not a message." in said
    assert 'to accept it, add findings = ["stray-output"]' in said


def test_only_the_first_differences_are_shown():
    said = output(outcome(mismatches=[Mismatch(f"result.a{number}", 1, 2) for number in range(9)]))
    assert "result.a2" in said and "result.a3" not in said and "and 6 more differences" in said


def test_a_server_that_did_not_start_is_told_once_with_its_log():
    cases = [outcome(State.ERROR, name, problem="it exited.") for name in ("one", "two")]
    suite = SuiteOutcome(SUITE, cases, "it exited.", not_started=True, stdout=["ImportError: x"])
    said = output(suite=suite)
    assert said.count("it exited.") == 1 and "log: ImportError: x" in said
    assert said.count("ERROR") == 2 and "2 errors" in said


def test_an_invalid_file_is_an_error_of_its_own():
    said = output(suite=SuiteOutcome(SUITE, problem="weather.mcp.toml:3: call[1].tol: unknown key"))
    assert "weather.mcp.toml ERROR" in said and "tol: unknown key" in said and "1 file not run" in said


def test_notes_and_skipped_cases_are_listed_once():
    one = outcome(State.PASSED, notes=["slow: 2 s, expected within 1 s."])
    skipped = outcome(State.SKIPPED, "two", problem="needs a database")
    said = output(one, one, skipped)
    assert said.count("slow: 2 s") == 1 and "two: skipped: needs a database" in said
    assert "2 passed, 1 skipped" in said


def test_cases_that_were_not_run_are_not_listed_again():
    said = output(outcome(State.SKIPPED, problem="not run: interrupted"), interrupted=True)
    assert "not run" not in said and "interrupted: 1 skipped" in said


def test_cases_after_the_first_failure_say_why_they_were_not_run():
    said = output(outcome(), *[outcome(State.SKIPPED, name, problem=STOPPED) for name in ("two", "three")])
    assert "2 cases not run: an earlier case failed (-x)\n" in said


def test_an_era_is_named_with_its_case():
    assert "::rain [modern]" in output(outcome(State.PASSED, era="modern"))


def test_a_failed_run_names_its_recording():
    assert "messages: mcptui traffic '/x/a b.mcptrace'" in output(
        outcome(), recording=Path("/x/a b.mcptrace")
    )
    own = recordings().folder / "1.mcptrace"
    assert "messages: mcptui traffic 1.mcptrace" in output(outcome(), recording=own)
    assert "messages:" not in output(outcome(State.PASSED), recording=Path("/x/a.mcptrace"))


def test_nothing_from_a_server_reaches_the_terminal_unchanged():
    evil = "a\x1b[31mb\x07\u202ec\r\n::error::x"
    one = outcome(
        name=evil,
        problem=evil,
        mismatches=[Mismatch(evil, evil, {evil: [evil]}, evil), Mismatch("findings", ABSENT, evil, evil)],
        notes=[evil],
        said=[evil],
        repeat=f"mcptui call {evil}",
    )
    suite = SuiteOutcome(Suite(Path(evil)), [one], evil, stdout=[evil])
    said = output(suite=suite)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202e]", said)
    assert not any(line.startswith("::") for line in said.splitlines())


def test_colors_are_only_for_terminals():
    assert "\x1b" not in output(outcome()) and "\x1b[31;1m" in output(outcome(), colored=True)


def fitted(*outcomes: Outcome, is_terminal: bool = True) -> list[str]:
    written: list[str] = []
    report = TerminalReport(written.append, width=60, is_terminal=is_terminal)
    for one in outcomes:
        report.case_ended(SUITE, one)
    report.ended(RunOutcome([SuiteOutcome(SUITE, outcomes)], 1.5))
    return "".join(written).splitlines()


def test_on_a_terminal_each_line_fits_and_a_command_is_broken_between_its_words():
    name, repeat = "a long name " * 9, "mcptui call rain --args '{\"a b\": 1}' -- python server.py"
    cases = [outcome(one, name, ms=61_000.0, repeat=repeat, problem=f"It {name}") for one in State]
    lines = fitted(*cases)
    assert max(map(cells_of, lines)) < 60
    assert "  repeat: mcptui call rain --args '{\"a b\": 1}' -- python \\" in lines


def test_elsewhere_no_name_is_cut():
    name = "a long name " * 6
    assert name.strip() in fitted(outcome(State.PASSED, name, ms=1.0), is_terminal=False)[0]


def test_a_server_that_printed_one_line_and_ended_is_not_quoted_again():
    cases = [outcome(State.ERROR, "one", problem="it exited: boom")]
    for lines, logged in ((["boom", "boom"], 0), (["a", "boom", "a", "boom"], 2)):
        said = output(suite=SuiteOutcome(SUITE, cases, "it exited: boom", not_started=True, stdout=lines))
        assert said.count("log: ") == logged
