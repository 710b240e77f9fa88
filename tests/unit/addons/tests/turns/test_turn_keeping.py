from collections.abc import Callable
from pathlib import Path

import pytest

from tui.addons.tests.keep.home import Origin
from tui.addons.tests.suite.read import suite_of
from tui.addons.tests.turns.keep import MadeTurn
from tui.addons.tests.turns.turn_keeping import TurnKeeping
from tui.core.errors import UsageError
from tui.core.servers import ServerSpec

TURN = MadeTurn(
    "Weather in Hangzhou, and note milk",
    (
        ("weather", "get_weather", {"location": "Hangzhou"}),
        ("notes", "add", {"text": "milk"}),
        ("notes", "list", {}),
        ("gone", "x", {}),
    ),
)


def origins(folder: Path, *names: str) -> dict[str, Origin]:
    made = {}
    for name in names:
        spec = ServerSpec(name, "python", (f"{name}.py",))
        made[name] = Origin.of_spec(spec, str(folder), configured=True)
    return made


def keeping(
    folder: Path, *names: str, server: str = "", redact: Callable[[str], str] = str, turn: MadeTurn = TURN
) -> TurnKeeping:
    (folder / "pyproject.toml").touch()
    return TurnKeeping.of(turn, origins(folder, *names), folder, redact, server)


def test_a_turn_is_kept_for_the_first_server_that_is_known(tmp_path: Path) -> None:
    made = keeping(tmp_path, "notes", "weather")
    assert (made.server, made.servers) == ("weather", ["weather", "notes"])
    assert made.case.calls == ("get_weather location~Hangzhou",)
    assert made.for_next_server().case.calls == ("add text~milk", "list")
    assert made.for_next_server().for_next_server().server == "weather"
    assert keeping(tmp_path, "notes", "weather", server="notes").server == "notes"


def test_the_file_has_the_turn_at_its_end(tmp_path: Path) -> None:
    made = keeping(tmp_path, "notes").switched(1)
    target = made.target()
    said = made.keep(target)
    assert said == "Kept in notes.mcp.toml. Run it with: mcptui test notes.mcp.toml"
    text = (tmp_path / "notes.mcp.toml").read_text("utf-8")
    assert text == made.preview(target)
    (turn,) = suite_of(text, tmp_path / "notes.mcp.toml").turns
    assert (turn.question, turn.calls, turn.runs, turn.passing) == (TURN.question, ("add text~milk",), 5, 0.8)


def test_a_turn_is_kept_once_and_its_question_with_other_calls_needs_a_name(tmp_path: Path) -> None:
    made = keeping(tmp_path, "notes")
    made.keep(made.target())
    target = made.target()
    with pytest.raises(UsageError, match=r"notes.mcp.toml already expects these calls for this question"):
        made.named("milk").keep(target)
    other = made.switched(1)
    with pytest.raises(UsageError, match="already has a turn case with this question"):
        other.keep(target)
    assert other.free_name(target) == f"{TURN.question} (2)"
    other.named("milk").keep(target)
    with pytest.raises(UsageError, match="already has a turn case with this name"):
        made.switched(0).named("milk").keep(made.target())


def test_calls_and_arguments_can_be_left_out(tmp_path: Path) -> None:
    made = keeping(tmp_path, "weather").switched(0)
    assert made.problem(made.target()) == "A turn case expects at least one call."
    assert made.switched(0).problem(made.target()) == ""
    assert made.switched(0).switched(0, 0).case.calls == ("get_weather",)


def test_a_turn_without_a_call_that_worked_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No call of this turn can be expected"):
        keeping(tmp_path, "other")


@pytest.mark.parametrize("text", ["[redacted]", "[redacted:notes.env.KEY]", "Hangzhou"])
def test_a_secret_is_refused(tmp_path: Path, text: str) -> None:
    turn = MadeTurn(f"Weather in {text}", TURN.calls)
    with pytest.raises(UsageError, match="contains a secret"):
        keeping(tmp_path, "weather", redact=lambda one: one.replace("Hangzhou", "***"), turn=turn)


def test_an_argument_with_a_secret_is_not_proposed(tmp_path: Path) -> None:
    turn = MadeTurn("Weather?", (("weather", "get_weather", {"location": "Oslo", "key": "s3cret"}),))
    made = keeping(tmp_path, "weather", redact=lambda one: one.replace("s3cret", "***"), turn=turn)
    assert made.case.calls == ("get_weather location~Oslo",)
