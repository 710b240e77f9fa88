"""The lines of the keep dialog: the server, what varies, the time."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tui.addons.tests.keep.exchange import Exchange
from tui.addons.tests.keep.keeping import Keeping
from tui.addons.tests.keep.target import added_to
from tui.addons.tests.screens.keep_call import AGAIN, TIME, lines_of
from tui.addons.tests.screens.keep_list import SERVER, Layout
from tui.addons.tests.suite.case import Request, RequestKind
from tui.core.servers import ServerSpec
from tui.runtime.copies.origin import Origin
from tui.ui.widgets.rows import text_of, width_of

CALL = Request(RequestKind.TOOL, "get", {"city": "Oslo"})


def keeping(folder: Path, *others: Any, configured: bool = True) -> Keeping:
    def result(temp: int) -> dict[str, Any]:
        return {"content": [], "structuredContent": {"id": "a1", "temp": temp}}

    exchange = Exchange("weather", CALL, result=result(22), ms=7, others=[result(one) for one in others])
    origin = Origin.of_spec(
        ServerSpec("weather", "python", ("server.py",)), str(folder), configured=configured
    )
    return Keeping.of(exchange, origin, folder, str, is_own=True)


def shown(made: Keeping, *, note: str = "", again: str = "", width: int = 60) -> list[str]:
    lines = lines_of(made, made.target(), note, again, Layout(width))
    return [text_of(line.row(width)).rstrip() for line in lines]


def test_each_part_that_varies_has_its_placeholder_and_what_was_seen(tmp_path: Path):
    rows = shown(keeping(tmp_path, 19), width=80)
    words = [" ".join(row.split()) for row in rows]
    assert "● temp <number> 22, 19 differs in 1 of 1" in words
    assert "○ id <id> a1 an id, the same in other results" in words
    assert any(row.startswith("VARIES") and row.endswith("compared with 1 other result") for row in rows)


def test_a_part_that_is_switched_off_is_marked(tmp_path: Path):
    made = keeping(tmp_path)
    (one,) = made.draft.variations
    off = replace(made, draft=made.draft.switch(one))
    assert any(row.startswith("● id") for row in shown(made))
    assert any(row.startswith("○ id") for row in shown(off))


def test_a_configured_server_can_be_written_out_and_another_one_only_shown(tmp_path: Path):
    def keys(made: Keeping) -> list[Any]:
        return [
            line.key
            for line in lines_of(made, made.target(), "", "", Layout(60))
            if isinstance(line.key, str)
        ]

    assert keys(keeping(tmp_path)) == [SERVER, TIME]
    assert keys(keeping(tmp_path, configured=False)) == [TIME]
    assert "python server.py" in shown(keeping(tmp_path, configured=False))


def test_calling_again_is_offered_or_explained(tmp_path: Path):
    made = keeping(tmp_path)
    lines = lines_of(made, made.target(), "", "Call it twice more", Layout(60))
    assert AGAIN in [line.key for line in lines]
    assert "It is not called again." in shown(made, note="It is not called again.")


@pytest.mark.parametrize("width", [20, 40, 80])
def test_no_line_is_wider_than_the_list(width: int, tmp_path: Path):
    made = keeping(tmp_path, 19)
    for line in lines_of(made, made.target(), "It is not called again.", "Call it twice more", Layout(width)):
        assert width_of(line.row(width)) <= width


def test_with_little_room_the_server_and_the_time_limit_come_first(tmp_path: Path):
    made = keeping(tmp_path, 19, configured=False)
    rows = [
        text_of(line.row(60)) for line in lines_of(made, made.target(), "", "", Layout(60, is_short=True))
    ]
    assert "python server.py" in rows[0] and "within" in rows[1] and rows[2].startswith("VARIES")
    assert not any(row in ("SERVER", "TIME", "") for row in rows)


def test_a_file_has_cases_and_turn_cases(tmp_path: Path):
    (tmp_path / "a.mcp.toml").write_text(
        'server = "weather"\n[[call]]\ntool = "other"\n[[turn]]\nquestion = "Rain?"\ncalls = ["get"]\n'
    )
    assert added_to(keeping(tmp_path).target("a")) == "added to 2 cases"


def test_the_server_is_written_as_a_command_or_named(tmp_path: Path):
    named = [row for row in shown(keeping(tmp_path)) if row.startswith("○ write the command ")]
    assert named and named[0].endswith("only where it is configured")
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "server.py").touch()
    assert "● write the command: python server.py" in shown(keeping(tmp_path))
