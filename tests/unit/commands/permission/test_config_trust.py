"""`mcptui config trust` with a user who answers."""

from pathlib import Path

import pytest

from tui.commands.permission import config_trust as module
from tui.commands.permission.config_trust import config_trust
from tui.core.errors import ConfigError, UsageError
from tui.runtime.permission.consent import missing_consents
from tui.settings.locations import decisions_file, state_dir
from tui.settings.state.permission.stored_decisions import read_decisions

CONFIG = (
    '[servers.one]\ncommand = "sh"\nargs = ["-c", "id"]\n\n[servers.two]\nurl = "https://example.com/mcp"\n'
)


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    given: list[str] = []
    monkeypatch.setattr(module, "is_terminal", lambda: True)
    monkeypatch.setattr("builtins.input", lambda prompt: given.pop(0))
    return given


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "foreign.toml"
    path.write_text(CONFIG)
    return path


def test_each_server_is_shown_and_only_a_yes_gives_consent(
    file: Path, answers: list[str], capsys: pytest.CaptureFixture[str]
):
    answers += ["o", "y", ""]
    assert config_trust(file, yes=False) == 0
    said = capsys.readouterr().out
    assert "sh -c id" in said and "one: agreed" in said
    assert "https://example.com/mcp" in said and "two: no answer, nothing saved" in said
    assert [one.server for one in read_decisions(decisions_file())[0]] == ["one"]
    answers += ["yes"]
    assert config_trust(file, yes=False) == 0
    said = capsys.readouterr().out
    assert "one" not in said and "two: agreed" in said
    assert config_trust(file, yes=False) == 0


def test_the_end_of_input_is_not_an_answer(file: Path, answers: list[str], monkeypatch: pytest.MonkeyPatch):
    def ended(prompt: str) -> str:
        raise EOFError

    monkeypatch.setattr("builtins.input", ended)
    with pytest.raises(UsageError, match="no answer was given"):
        config_trust(file, yes=False)
    assert not read_decisions(decisions_file())[0]


def test_a_refusal_is_recorded_and_shown_the_next_time(
    file: Path, answers: list[str], capsys: pytest.CaptureFixture[str]
):
    file.write_text(f'{CONFIG}\n[models.m]\nmodel = "m"\nbase_url = "https://e.example/v1"\n')
    answers += ["n", "n"]
    assert config_trust(file, yes=False) == 0
    records = read_decisions(decisions_file())[0]
    assert [(one.server, one.subject, one.allowed, one.by, one.asked) for one in records] == [
        ("one", "start", False, "key", True),
        ("two", "connect", False, "key", True),
        ("models.m", "use", False, "key", True),
    ]
    assert "You declined" not in capsys.readouterr().out
    answers += ["y", "y"]
    assert config_trust(file, yes=False) == 0
    said = capsys.readouterr().out
    assert said.count("  You declined this on 20") == 3 and "models.m: agreed" in said


@pytest.mark.parametrize(
    ("answer", "outcome", "left"), [("y", "agreed", 0), ("n", "declined", 2), ("", "no answer", 2)]
)
def test_one_answer_covers_all_servers_of_a_file_after_all_are_shown(
    file: Path, answers: list[str], capsys: pytest.CaptureFixture[str], answer: str, outcome: str, left: int
):
    answers.append(answer)
    assert config_trust(file, yes=False) == 0
    said = capsys.readouterr().out
    assert said.index("https://example.com/mcp") < said.index("Yes: mcptui starts all") < said.index("one: ")
    assert f"one: {outcome}" in said and f"two: {outcome}" in said
    assert len(missing_consents(file, {})) == left
    assert bool(read_decisions(decisions_file())[0]) is bool(answer)


def test_an_empty_line_is_not_an_answer(file: Path, answers: list[str], capsys: pytest.CaptureFixture[str]):
    file.write_text(f'{CONFIG}\n[models.m]\nmodel = "m"\nbase_url = "https://e.example/v1"\n')
    answers += ["", "", "", ""]
    assert config_trust(file, yes=False) == 0
    said = capsys.readouterr().out
    assert said.count("no answer, nothing saved") == 3
    assert "n no, or just enter to decide later:" in said and not read_decisions(decisions_file())[0]
    assert config_trust(file, yes=False) == 0
    assert "You declined" not in capsys.readouterr().out


def test_a_server_or_model_with_an_unset_variable_is_reported(file: Path, capsys: pytest.CaptureFixture[str]):
    file.write_text(
        '[servers.one]\ncommand = "sh"\nargs = ["${UNSET_OF_TEST}"]\n'
        '[models.m]\nmodel = "m"\nbase_url = "https://${UNSET_OF_TEST}/v1"\n'
    )
    assert config_trust(file, yes=True) == 0
    said = capsys.readouterr()
    first, second = said.err.splitlines()
    assert "skipped the server “one”" in first and "UNSET_OF_TEST" in first
    assert "skipped the model “m”" in second and "UNSET_OF_TEST" in second
    assert "no server or model needs consent" in said.out


def test_a_truncated_consent_file_is_reported_once_and_copied(
    file: Path, answers: list[str], capsys: pytest.CaptureFixture[str]
):
    path = state_dir() / "consents.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{")
    answers.append("y")
    assert config_trust(file, yes=False) == 0
    said = capsys.readouterr()
    assert (
        said.err.count(f"{(state_dir() / 'consents.json')} is not JSON") == 1 and "never been" not in said.out
    )
    assert path.with_suffix(".damaged").read_text() == "{"
    assert missing_consents(file, {}) == []


def test_consent_does_not_cover_a_server_that_changed_while_it_was_shown(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def swap(prompt: str) -> str:
        file.write_text(CONFIG.replace('"id"', '"rm"'))
        return "y"

    monkeypatch.setattr(module, "is_terminal", lambda: True)
    monkeypatch.setattr("builtins.input", swap)
    assert config_trust(file, yes=False) == 2
    assert "“one” has changed in the meantime." in capsys.readouterr().err


def test_without_a_terminal_the_command_requires_yes(file: Path):
    with pytest.raises(UsageError, match="--yes"):
        config_trust(file, yes=False)


def test_an_unreadable_file_is_an_error(tmp_path: Path):
    (tmp_path / "bad.toml").write_text("[")
    with pytest.raises(ConfigError):
        config_trust(tmp_path / "bad.toml", yes=True)
