from dataclasses import replace
from pathlib import Path
from typing import Any

from tui.addons.tests.run.outcome import Outcome, RunOutcome, State, SuiteOutcome, TurnCell, TurnRun
from tui.addons.tests.suite.case import Suite, TurnCase
from tui.addons.tests.turns.table import CellWords, cell_object, matrix, rows_of, text_table

RAIN = TurnCase("Does it rain in Hangzhou?", 3, name="rain")
SUN = TurnCase("Is it sunny?", 9)


def cell(model: str, *states: State, **more: Any) -> TurnCell:
    known = {"tokens": 1200, "cost": 0.002, "ms": 1500.0} | more
    return TurnCell(model, f"{model}-1", wanted=len(states), runs=[TurnRun(one, **known) for one in states])


def outcome(case: TurnCase, found: TurnCell | None, state: State = State.PASSED) -> Outcome:
    return Outcome(case.title, case.line, state, case=case, cell=found)


def run(*outcomes: Outcome) -> RunOutcome:
    return RunOutcome([SuiteOutcome(Suite(Path("weather.mcp.toml")), outcomes)])


PASSED = outcome(RAIN, cell("gpt", State.PASSED, State.PASSED))
HALF = outcome(RAIN, cell("qwen", State.PASSED, State.FAILED, cost=None), State.FAILED)


def test_a_run_without_turn_cases_has_no_table() -> None:
    assert text_table(run(Outcome("call", 1, State.PASSED))) == []
    assert matrix(run()) == []


def test_the_table_has_a_line_for_each_case_and_model() -> None:
    lines = text_table(run(PASSED, HALF, outcome(SUN, None, State.SKIPPED)))
    assert lines == [
        "turn          model   passed  tokens    cost   time",
        "rain          gpt     2 of 2   1.2 k  $0.002  1.5 s",
        "              qwen    1 of 2   1.2 k       –  1.5 s",
        "Is it sunny?  –      skipped       –       –      –",
    ]


def test_the_matrix_has_a_column_for_each_model() -> None:
    missing = outcome(SUN, TurnCell("other"), State.ERROR)
    assert matrix(run(PASSED, HALF, missing)) == [
        ["turn", "gpt", "qwen", "other"],
        ["rain", "2 of 2, 1.2 k tokens, $0.002, 1.5 s", "1 of 2, 1.2 k tokens, 1.5 s", ""],
        ["Is it sunny?", "", "", "error"],
    ]


def test_cases_with_the_same_title_have_rows_of_their_own() -> None:
    again = TurnCase(RAIN.question, 20, name="rain")
    assert [row.title for row in rows_of(run(PASSED, outcome(again, None)))] == ["rain", "rain"]


def test_each_era_has_a_row_of_its_own() -> None:
    eras = [replace(PASSED, era=era) for era in ("legacy", "modern")]
    assert [row.title for row in rows_of(run(*eras))] == ["rain [legacy]", "rain [modern]"]


def test_runs_that_could_not_be_run_are_not_in_the_means() -> None:
    found = TurnCell(
        "gpt",
        wanted=3,
        runs=[TurnRun(State.PASSED, tokens=100, ms=10), TurnRun(State.ERROR, tokens=900, ms=999)],
    )
    assert CellWords.of(found, State.PASSED) == CellWords("1 of 3", "100", "–", "10 ms")


def test_a_cell_without_a_judged_run_says_its_state() -> None:
    found = TurnCell("gpt", wanted=2, runs=[TurnRun(State.ERROR)])
    assert str(CellWords.of(found, State.ERROR)) == "error"


def test_texts_are_cleaned() -> None:
    (_, line) = text_table(run(outcome(TurnCase("a\x1b[31m\nb", 1), cell("g\tpt", State.PASSED))))
    assert line.isprintable() and "\x1b" not in line


def test_a_cell_is_an_object_with_its_runs() -> None:
    found = cell_object(cell("gpt", State.PASSED, State.FAILED, calls=["t a=1"], turn=4))
    assert (found["passed"], found["wanted"], found["tokens"], found["ms"]) == (1, 2, 1200, 1500.0)
    assert [one["state"] for one in found["runs"]] == ["passed", "failed"]
    assert found["runs"][0]["calls"] == ["t a=1"] and found["runs"][0]["turn"] == 4
