from tests.cases import each_case
from tui.addons.tests.run.outcome import State, TurnCell, TurnRun
from tui.addons.tests.screens.turn_rows import heads, line_row, model_cells, summary, turn_lines
from tui.addons.tests.turns.last_cells import Key, LastCell
from tui.ui.widgets.rows import text_of, width_of
from tui.ui.widgets.symbols import Symbols

PASSED = TurnRun(State.PASSED, steps=2, tokens=300, cost=0.002, ms=1200.0, turn=1)
FAILED = TurnRun(State.FAILED, "get_weather:\nnot called", steps=1, tokens=100, ms=800.0, turn=2)


def last(*runs: TurnRun, state: State = State.PASSED) -> LastCell:
    return LastCell(state, at=1.0, cell=TurnCell("gpt", wanted=len(runs), runs=runs))


CELLS: dict[Key, LastCell] = {
    ("/a/weather.mcp.toml", "rain", "gpt"): last(PASSED, FAILED, state=State.FAILED),
    ("/a/weather.mcp.toml", "rain", "a-model-with-a-very-long-name-indeed"): last(PASSED),
    ("/a/notes.mcp.toml", "notes", "gpt"): LastCell(State.ERROR, cell=TurnCell("gpt")),
}


def rows(width: int = 100, cursor: int = -1) -> list[str]:
    lines = turn_lines(CELLS, {"/a/notes.mcp.toml": "notes.mcp.toml"})
    models = model_cells(lines)
    return [
        text_of(line_row(line, models, Symbols(), width, 1.0, cursor=at == cursor)).rstrip()
        for at, line in enumerate(lines)
    ]


def test_cells_are_listed_by_file_and_case_and_several_runs_below() -> None:
    assert [line.split() for line in rows()] == [
        [],
        ["notes.mcp.toml"],
        ["!", "notes", "gpt", "error", "–", "–", "–", "never"],
        [],
        ["/a/weather.mcp.toml"],
        *[
            "✓ rain a-model-with-a-very-lon… 1 of 1 300 $0.002 1.2 s just now".split(),
            "✗ gpt 1 of 2 200 $0.002 1.0 s just now".split(),
            "run 1 ✓ 2 steps 300 tokens 1.2 s".split(),
            "run 2 ✗ get_weather: not called 1 step 100 tokens 0.8 s".split(),
        ],
    ]


@each_case("width", [20, 40, 78, 100, 140])
def test_rows_fit_any_width(width: int) -> None:
    lines = turn_lines(CELLS, {})
    models = model_cells(lines)
    found = [line_row(line, models, Symbols(), width, 1.0, cursor=True) for line in lines]
    assert all(width_of(row) <= width for row in (*found, heads(models, width)))


def test_a_cell_stands_for_its_first_run_that_did_not_pass() -> None:
    lines = turn_lines(CELLS, {})
    chosen = [line.chosen_run for line in lines if line.key is not None]
    assert chosen == [None, PASSED, FAILED, PASSED, FAILED]


def test_the_summary_counts_cases_models_and_what_did_not_pass() -> None:
    assert text_of(summary(CELLS)) == "2 turn cases   2 models   1 failed   1 error"
