from tui.addons.tests.run.outcome import State, TurnCell, TurnRun
from tui.addons.tests.screens.turn_table import TurnList
from tui.addons.tests.turns.last_cells import Key, LastCell

RUNS = [TurnRun(State.FAILED, "no"), TurnRun(State.PASSED)]
FIRST: dict[Key, LastCell] = {
    ("/a.mcp.toml", "rain", "gpt"): LastCell(State.FAILED, cell=TurnCell("gpt", wanted=2, runs=RUNS)),
    ("/a.mcp.toml", "sun", "gpt"): LastCell(State.PASSED, cell=TurnCell("gpt")),
}
MORE = FIRST | {("/a.mcp.toml", "fog", "gpt"): LastCell(State.PASSED, cell=TurnCell("gpt"))}


def selected(shown: TurnList) -> tuple[str, int]:
    """Return the title of the selected case, and the number of the selected run or 0."""
    line = shown.selected
    assert line is not None and line.key is not None
    return line.key[1], line.number


def test_the_cursor_begins_at_the_wanted_case_or_the_first() -> None:
    shown = TurnList(lambda: None)
    assert shown.selected is None
    shown.show(FIRST)
    assert selected(shown) == ("rain", 0)
    other = TurnList(lambda: None)
    other.show(FIRST, ("/a.mcp.toml", "sun"))
    assert selected(other) == ("sun", 0)


def test_the_cursor_stays_on_its_run_when_there_are_more_cases() -> None:
    shown = TurnList(lambda: None)
    shown.show(FIRST)
    shown.cursor += 2
    assert selected(shown) == ("rain", 2)
    shown.show(MORE)
    assert selected(shown) == ("rain", 2)


def test_headings_cannot_be_selected_and_enter_chooses() -> None:
    chosen: list[bool] = []
    shown = TurnList(lambda: chosen.append(True))
    shown.show(FIRST)
    assert not shown.row_selectable(0) and not shown.row_selectable(1)
    shown.row_chosen(shown.cursor)
    assert chosen == [True]
