from pathlib import Path

from tui.addons.tests.keep.home import Origin
from tui.addons.tests.screens.keep_list import SERVER
from tui.addons.tests.screens.keep_turn import turn_lines
from tui.addons.tests.turns.keep import MadeTurn
from tui.addons.tests.turns.turn_keeping import TurnKeeping
from tui.core.servers import ServerSpec
from tui.ui.widgets.rows import text_of, width_of

TURN = MadeTurn(
    "Rain in Hangzhou?", (("weather", "get", {"place": "Hangzhou", "days": 2}), ("notes", "add", {}))
)


def keeping(folder: Path, *servers: str) -> TurnKeeping:
    origins = {
        name: Origin.of_spec(ServerSpec(name, "python"), str(folder), configured=True) for name in servers
    }
    return TurnKeeping.of(TURN, origins, folder, str)


def test_calls_and_their_arguments_can_be_switched_and_one_server_cannot(tmp_path: Path) -> None:
    made = keeping(tmp_path, "weather").switched(0, 1)
    chosen = [line for line in turn_lines(made, made.target(), 60) if line.key is not None]
    assert [line.key for line in chosen] == [(0,), (0, 0), (0, 1)]
    assert [text_of(line.row(60)).rstrip() for line in chosen] == [
        "● get place~Hangzhou days=2",
        "  ● place~Hangzhou",
        "  ● days=2                               not in the question",
    ]
    made = made.switched(0)
    assert [line.key for line in turn_lines(made, made.target(), 60) if line.key is not None] == [(0,)]


def test_of_several_servers_another_can_be_chosen(tmp_path: Path) -> None:
    made = keeping(tmp_path, "weather", "notes")
    lines = turn_lines(made, made.target(), 60)
    assert SERVER in [line.key for line in lines]
    assert all(width_of(line.row(cells)) <= cells for line in lines for cells in (20, 60, 100))


def test_sentences_are_wrapped_rather_than_truncated(tmp_path: Path) -> None:
    made = keeping(tmp_path, "weather")
    rows = [text_of(line.row(46)).rstrip() for line in turn_lines(made, made.target(), 46)]
    assert "EXPECTED CALLS" in rows and not any("…" in row for row in rows)
    assert "The answer is not compared." in " ".join(rows)
