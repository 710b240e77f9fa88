from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.addons.tests.review import stage
from tests.unit.addons.tests.review.stage import TEXT, failures
from tui.addons.tests.review import review as module
from tui.addons.tests.review.decisions import Review
from tui.addons.tests.review.review import TerminalReview
from tui.addons.tests.run.terminal import Paint


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
