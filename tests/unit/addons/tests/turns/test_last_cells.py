import json
import os
from pathlib import Path
from typing import Any

from tui.addons.tests.run.outcome import Outcome, State, TurnCell, TurnRun
from tui.addons.tests.suite.case import TurnCase
from tui.addons.tests.turns.last_cells import LastCell, LastCells

RUNS = [
    TurnRun(State.PASSED, steps=2, tokens=30, ms=12.5, turn=3, session="abc"),
    TurnRun(State.FAILED, "no"),
]
CELL = TurnCell("gpt", "gpt-5", "EUR", 2, RUNS)
CASE = TurnCase("rain?", 4)


def put(file: Path, outcome: Outcome, recording: Path = Path("run.mcptrace"), at: float = 5.0) -> None:
    cells = LastCells(file)
    cells.put(Path("weather.mcp.toml"), outcome, recording, at)
    cells.close()


def test_what_was_put_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "cells.json"
    put(file, Outcome("rain? (gpt)", 4, State.FAILED, "1 of\n2", case=CASE, cell=CELL))
    known = LastCells(file).read()
    assert known == {
        (os.path.abspath("weather.mcp.toml"), "rain?", "gpt"): LastCell(
            State.FAILED, "1 of 2", 5.0, "run.mcptrace", CELL
        )
    }


def test_a_newer_run_replaces_the_older_one_of_the_same_model(tmp_path: Path) -> None:
    file = tmp_path / "cells.json"
    for state in (State.FAILED, State.PASSED):
        put(file, Outcome("rain?", 4, state, case=CASE, cell=CELL), Path())
    put(file, Outcome("rain?", 4, State.ERROR, case=CASE, cell=TurnCell("qwen")))
    known = LastCells(file).read()
    assert [(key[2], one.state, one.recording) for key, one in known.items()] == [
        ("gpt", State.PASSED, ""),
        ("qwen", State.ERROR, "run.mcptrace"),
    ]


def test_outcomes_without_a_model_are_not_kept(tmp_path: Path) -> None:
    file = tmp_path / "cells.json"
    put(file, Outcome("rain?", 4, State.SKIPPED, "no model", case=CASE))
    assert not file.exists() and LastCells(file).read() == {}


def test_the_file_is_read_again_when_another_process_has_changed_it(tmp_path: Path) -> None:
    file = tmp_path / "cells.json"
    mine = LastCells(file)
    assert not mine.read()
    put(file, Outcome("rain?", 4, State.PASSED, case=CASE, cell=CELL))
    assert mine.is_stale
    assert len(mine.read()) == 1


def test_invalid_entries_are_left_out(tmp_path: Path) -> None:
    good: dict[str, Any] = {"path": "/a", "title": "t", "model": "m", "state": "passed", "runs": []}
    odd: list[Any] = [
        None,
        {},
        good | {"state": "green"},
        good | {"title": "x" * 2000},
        good | {"runs": [None, {"state": 3}, {"state": "passed", "steps": -1, "cost": "x", "ms": None}]},
    ]
    file = tmp_path / "cells.json"
    file.write_text(json.dumps({"format": 1, "cells": odd}), "utf-8")
    (one,) = LastCells(file).read().values()
    assert one.cell.runs == [TurnRun(State.PASSED)]
