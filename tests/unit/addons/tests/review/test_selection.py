from pathlib import Path

from tui.addons.tests.review.catalog import Listed
from tui.addons.tests.review.selection import only
from tui.addons.tests.suite.read import suite_of

TEXT = """
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
SUITE = suite_of(TEXT, Path("orders.mcp.toml"))


def run_of(what: object) -> list[str]:
    found = only(SUITE, Listed(SUITE.path, what))  # type: ignore[arg-type]
    contract = ["contract"] if found.contract is not None else []
    return [*contract, *(case.name for case in found.cases), *(turn.title for turn in found.turns)]


def test_a_case_runs_after_those_that_save_what_it_needs():
    assert run_of(SUITE.cases[3]) == ["create", "pay", "receipt"]
    assert run_of(SUITE.cases[1]) == ["other"]


def test_a_turn_case_and_a_contract_run_alone():
    assert run_of(SUITE.turns[0]) == ["Which orders are open?"]
    assert run_of(SUITE.contract) == ["contract"]
