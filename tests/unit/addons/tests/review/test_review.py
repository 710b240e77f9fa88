from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.unit.addons.tests.review import stage
from tests.unit.addons.tests.review.stage import TEXT, failures
from tui.addons.tests.review import review as module
from tui.addons.tests.review.compared import Part
from tui.addons.tests.review.decisions import Change, Decision, Review
from tui.addons.tests.review.failures import Failure
from tui.addons.tests.review.review import TerminalReview, case_lines, change_lines, parts_of
from tui.addons.tests.run.terminal import Paint
from tui.core.text import cells_of


def reviewed(path: Path, monkeypatch: pytest.MonkeyPatch, *answers: str, first: int = 0) -> str:
    """Answer the questions of a review, and return the text of its file; it quits after the last answer."""
    found = failures(path)[first:]
    said: Iterator[str] = iter(answers)
    monkeypatch.setattr(module, "typed_answer", lambda text: next(said, None))
    state = Review.of(found, {path: path.read_text()})
    TerminalReview(state, 100, Paint(False)).ask_all()
    return path.read_text()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "weather.mcp.toml"


def test_each_failure_gets_its_decision(path: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    text = reviewed(path, monkeypatch, "x", "a", "m", "y", "a", "a")
    assert '"snow, <number> °C"' in text and '"state": "<text>"' in text and '{ "n": 2 }' in text
    assert 'text = "rain, 4 °C"' in text
    assert "Reviewed: 3 accepted, 1 varies, 1 keeps failing." in capsys.readouterr().out


def test_a_proposed_placeholder_is_shown_and_written_only_after_a_yes(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys
):
    assert reviewed(path, monkeypatch, "n", "n", "m", "n", "q") == TEXT
    said = capsys.readouterr().out
    assert '+result = \'{ "id": "<id>", "state": "<text>" }\'' in said
    assert "Reviewed: 5 without a decision." in said


def test_undo_writes_the_text_before(path: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    assert reviewed(path, monkeypatch, "n", "a", "u", "q") == TEXT
    assert "Undone in weather.mcp.toml." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("a", "write its lock again with mcptui test --lock"),
        ("m", "write its lock again with mcptui test --lock"),
        ("u", "Nothing to undo."),
        ("what", "Type one of these letters"),
    ],
)
def test_what_has_no_effect_says_why(path: Path, monkeypatch, capsys, answer: str, said: str):
    assert reviewed(path, monkeypatch, answer, "q") == TEXT
    assert said in capsys.readouterr().out


def test_a_difference_that_does_not_exist_cannot_vary(path: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    assert reviewed(path, monkeypatch, "m 7", "q", first=2) == TEXT
    assert "1 difference" in capsys.readouterr().out


def test_a_file_that_was_changed_meanwhile_is_not_written(path: Path, monkeypatch, capsys):
    found = failures(path)
    said = iter(["a", "q"])
    monkeypatch.setattr(module, "typed_answer", lambda text: next(said))
    state = Review.of(found[1:], {path: TEXT})
    path.write_text("# mine")
    TerminalReview(state, 100, Paint(False)).ask_all()
    assert path.read_text() == "# mine"
    assert "changed by another program" in capsys.readouterr().out


def test_an_accepted_rename_is_shown_and_written_only_after_a_yes(path: Path, monkeypatch, capsys):
    renamed = TEXT.replace('{ "id": "<id>", "state": "open" }', '{ "id": "<id>", "was": "open" }')
    monkeypatch.setattr(stage, "TEXT", renamed)
    assert reviewed(path, monkeypatch, "a", "n", "q", first=2) == renamed
    assert '"state": "closed"' in capsys.readouterr().out
    text = reviewed(path, monkeypatch, "a", "y", "q", first=2)
    assert '"state": "closed"' in text and '"id": "<id>"' in text and '"was"' not in text


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
