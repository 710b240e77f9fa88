from dataclasses import replace
from pathlib import Path

import pytest

from tests.unit.addons.tests.review.stage import failures
from tui.addons.tests.review.compared import Part
from tui.addons.tests.review.decisions import Change, Decision
from tui.addons.tests.review.failures import Failure
from tui.addons.tests.review.terminal_text import case_lines, change_lines, parts_of
from tui.addons.tests.run.terminal import Paint
from tui.core.text import cells_of

PLAIN, COLORED = Paint(False), Paint(True)


@pytest.fixture
def found(tmp_path: Path) -> list[Failure]:
    return failures(tmp_path / "weather.mcp.toml")


def test_a_failure_is_shown_with_both_sides_and_numbered_differences(found: list[Failure]):
    lines = list(case_lines(found[2], "3 of 5", 80, PLAIN))
    assert lines[0].startswith("3 of 5   an order")
    (differing,) = [line for line in lines if line.startswith("  ~")]
    assert '"state": "open"' in differing and '"state": "closed"' in differing
    assert differing.endswith("[1]")
    assert parts_of(found[2]) == [Part(("result", "state"))]


def test_texts_of_a_server_are_clean_and_there_are_no_colors_without_a_terminal(found: list[Failure]):
    shown = "\n".join(case_lines(found[1], "2 of 5", 80, PLAIN))
    assert "\x1b" not in shown and "cannot open" in shown and "mcptui call weather" in shown
    assert "\x1b[31m" in "\n".join(case_lines(found[1], "2 of 5", 80, COLORED))


@pytest.mark.parametrize("width", [40, 80, 160])
def test_lines_are_as_wide_as_the_terminal(found: list[Failure], width: int):
    outcome = replace(found[2].outcome, repeat="mcptui call x " * 20)
    failure = replace(found[2], path=Path("w"), outcome=outcome)
    lines = list(case_lines(failure, "", width, PLAIN))
    assert len(lines) > 5 and max(map(cells_of, lines)) <= max(width, 56)


def test_a_contract_has_its_sentence_only(found: list[Failure]):
    assert [*case_lines(found[0], "1 of 5", 400, PLAIN)][1:] == ["  a tool is gone"]


def test_a_change_is_shown_as_a_difference_between_lines():
    change = Change(Path("a"), "one\n  two\nthree", "one\n  2\nthree", 0, Decision.VARIES)
    lines = [line for line in change_lines(change, PLAIN) if "@@" not in line]
    assert lines == ["   one", "  -  two", "  +  2", "   three"]
