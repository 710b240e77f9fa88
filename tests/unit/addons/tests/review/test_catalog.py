import os
from pathlib import Path

import pytest

from tui.addons.tests.review.catalog import Catalog, Listed, ListedFile, part_of
from tui.addons.tests.review.last_runs import LastCase, LastFile
from tui.addons.tests.run.outcome import State
from tui.addons.tests.suite.read import suite_of

CASES = """
server = "weather"
[contract]
lock = "weather.lock.json"
[[call]]
name = "rain"
tool = "get_weather"
tags = ["slow"]
text = "rain"
[[turn]]
question = "Is it warm?"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    here = tmp_path / "here"
    here.mkdir()
    (here / "weather.mcp.toml").write_text(CASES)
    monkeypatch.chdir(here)
    return here


def names(files: list[ListedFile]) -> list[str]:
    return [one.shown for one in files]


def test_suites_below_the_folder_and_those_that_the_user_kept_calls_in_are_listed(folder: Path):
    kept = folder.parent / "kept.mcp.toml"
    kept.write_text(CASES)
    files = Catalog().files(Path(), [str(kept), str(folder / "weather.mcp.toml"), "/gone.mcp.toml"])
    assert names(list(files)) == ["weather.mcp.toml", str(kept)]


def test_a_file_that_cannot_be_used_is_listed_with_every_problem(folder: Path):
    (folder / "bad.mcp.toml").write_text("[[call]]\nname = 5\n")
    bad, good = Catalog().files(Path(), [])
    assert bad.suite is None and "must be a string" in bad.problem
    assert good.suite is not None and not good.problem


def test_only_changed_files_are_read_again(folder: Path):
    catalog = Catalog()
    (first,) = catalog.files(Path(), [])
    assert catalog.files(Path(), [])[0] is first
    assert not catalog.is_stale
    (folder / "weather.mcp.toml").write_text(CASES.replace("rain", "snow"))
    assert catalog.is_stale
    assert catalog.files(Path(), [])[0] is not first


def test_contract_cases_and_turn_cases_are_listed_with_their_last_runs(folder: Path):
    (file,) = Catalog().files(Path(), [])
    found = file.cases(LastFile({"rain": LastCase(State.FAILED, 5.0)}))
    assert [(one.name, one.request) for one in found] == [
        ("contract", "weather.lock.json"),
        ("rain", "get_weather"),
        ("Is it warm?", "active model"),
    ]
    assert [one.last.state if one.last else None for one in found] == [None, State.FAILED, None]


def test_the_filter_knows_names_tools_tags_files_and_states(folder: Path):
    (file,) = Catalog().files(Path(), [])
    contract, rain, turn = file.cases(LastFile({"rain": LastCase(State.FAILED)}))
    assert rain.matches("get_weather slow failed") and rain.matches("weather.mcp rain")
    assert turn.matches("never ran warm") and not contract.matches("failed")


def test_a_file_that_was_changed_after_the_last_run_of_its_cases_is_known(folder: Path):
    os.utime(folder / "weather.mcp.toml", (100.0, 100.0))
    (file,) = Catalog().files(Path(), [])
    runs = [LastFile({"rain": LastCase(State.FAILED, at)}) for at in (99.0, 101.0)]
    assert [file.is_changed_since(one) for one in (*runs, LastFile())] == [True, False, False]


ORDERS = """
server = "orders"
[contract]
lock = "orders.lock.json"
[[call]]
name = "create"
tool = "create"
save = { id = "$.id" }
text = "ok"
[[call]]
name = "other"
tool = "other"
text = "ok"
[[call]]
name = "pay"
tool = "pay"
args = { id = "${id}" }
save = { receipt = "$.receipt" }
text = "ok"
[[call]]
name = "receipt"
tool = "receipt"
text = "${receipt}"
[[turn]]
question = "Which orders are open?"
"""
ORDER_SUITE = suite_of(ORDERS, Path("orders.mcp.toml"))


def run_of(what: object) -> list[str]:
    found = part_of(ORDER_SUITE, [Listed(ORDER_SUITE.path, what)])  # type: ignore[arg-type]
    contract = ["contract"] if found.contract is not None else []
    return [*contract, *(case.name for case in found.cases), *(turn.title for turn in found.turns)]


def test_a_case_runs_after_those_that_save_what_it_needs():
    assert run_of(ORDER_SUITE.cases[3]) == ["create", "pay", "receipt"]
    assert run_of(ORDER_SUITE.cases[1]) == ["other"]


def test_a_turn_case_and_a_contract_run_alone():
    assert run_of(ORDER_SUITE.turns[0]) == ["Which orders are open?"]
    assert run_of(ORDER_SUITE.contract) == ["contract"]
