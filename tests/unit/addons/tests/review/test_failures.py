from dataclasses import replace
from pathlib import Path

import pytest

from tests.unit.addons.tests.review.stage import TEXT, failures, text
from tui.addons.tests.review.compared import Part
from tui.addons.tests.review.failures import Failure, response_of
from tui.addons.tests.run.outcome import Mismatch, Outcome, State
from tui.addons.tests.suite.case import RequestKind, TurnCase
from tui.addons.tests.suite.read import suite_of


@pytest.fixture
def found(tmp_path: Path) -> list[Failure]:
    return failures(tmp_path / "weather.mcp.toml")


def test_failures_and_cases_without_a_result_are_reviewed_in_their_order(found: list[Failure]):
    assert [one.name for one in found] == [
        "contract",
        "the weather",
        "an order",
        "its state, then[0]",
        "saved",
    ]
    assert [one.is_new for one in found] == [False, False, False, False, True]
    assert all(one.differs for one in found)


def test_the_failed_step_of_a_case_is_reviewed_with_its_own_response(found: list[Failure]):
    state = found[3]
    assert state.place == (2, 0)
    assert state.case is not None and state.case.request.name == "count"
    assert state.response is not None and state.response.value == {"n": 2}


def test_saved_values_of_earlier_cases_are_filled_in(found: list[Failure]):
    assert found[3].saved == {"id": "a-1"}
    assert found[3].fill("${id} is open") == "a-1 is open"
    assert found[3].fill("${other}") == "${other}"


def test_why_a_result_cannot_be_accepted(found: list[Failure]):
    contract, weather, order, *_ = found
    assert "lock" in contract.why_not_accepted
    assert weather.why_not_accepted == ""
    assert "no response" in replace(weather, response=None).why_not_accepted
    turn = replace(weather, outcome=replace(weather.outcome, case=TurnCase("Is it warm?", 1)))
    assert "turn case" in turn.why_not_accepted
    unsent = replace(order.outcome, mismatches=[Mismatch("args", why="a is missing")])
    assert "args does not fit" in replace(order, outcome=unsent).why_not_accepted


def test_a_case_whose_request_was_changed_after_its_run_is_not_accepted(found: list[Failure]):
    changed = TEXT.replace('tool = "order"', 'tool = "orders"')
    order = found[2].with_case(suite_of(changed, found[2].path))
    assert "Run it again" in order.why_not_accepted
    gone = found[2].with_case(suite_of(TEXT.replace("an order", "orders"), found[2].path))
    assert "not in its file" in gone.why_not_accepted


def test_a_case_is_found_again_by_its_name_after_another_moved_it(found: list[Failure]):
    head, _, rest = TEXT.partition("[[call]]")
    moved = f'{head}[[call]]\nname = "new"\ntool = "new"\n\n[[call]]{rest}'
    assert found[2].with_case(suite_of(moved, found[2].path)).place == (2, -1)


def test_only_values_of_the_result_can_vary(found: list[Failure]):
    _, weather, _, _, saved = found
    assert weather.why_not_varied(Part(("text",))) == ""
    assert "Select" in weather.why_not_varied(Part(("error",)))
    assert "Accept the result first" in saved.why_not_varied(Part(("text",)))


def test_findings_and_slowness_are_those_of_the_failed_step(found: list[Failure]):
    mismatches = [Mismatch("then[0].findings", got="odd", why="odd"), Mismatch("findings", got="other")]
    state = replace(found[3], outcome=replace(found[3].outcome, mismatches=mismatches))
    assert state.findings == ["odd"]
    assert not state.is_slow


def test_an_error_of_a_response_is_told_from_a_result():
    outcome = Outcome("a", 1, State.FAILED)
    error = response_of(RequestKind.TOOL, {"code": -32000, "message": "no"}, outcome)
    result = response_of(RequestKind.TOOL, text("yes"), outcome)
    assert error is not None and error.error is not None
    assert result is not None and result.error is None
    assert response_of(RequestKind.TOOL, None, outcome) is None
