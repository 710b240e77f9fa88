"""Questions of servers to commands without a screen, answered by flags."""

import json
from pathlib import Path

import pytest

from tests import programs
from tests.protocol.command import mcptui


def server() -> tuple[str, ...]:
    return ("--", *programs.command(Path(__file__).parent / "asking_server.py"))


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ((), {"action": "decline"}),
        (("--elicit", "defaults"), {"action": "decline"}),
        (("--elicit", "@{file}"), {"action": "accept", "content": {"name": "Ada"}}),
    ],
)
async def test_a_form_is_answered_by_the_flag_and_sent_to_the_server(
    flags: tuple[str, ...], expected: dict[str, object], tmp_path: Path
) -> None:
    file = tmp_path / "answers.json"
    file.write_text('{"name": "Ada"}')
    done = await mcptui("call", "greet", *(flag.format(file=file) for flag in flags), *server())
    assert done.code == 0
    assert json.loads(done.out) == {"given": {"who": expected}, "exact": True}
    assert "asks: Who are you?" in done.err


async def test_roots_are_given_by_the_flag(tmp_path: Path) -> None:
    done = await mcptui("call", "roots", "--root", str(tmp_path), *server())
    assert json.loads(done.out)["roots"]["roots"][0]["uri"] == tmp_path.as_uri()


async def test_a_file_that_is_not_json_is_reported_before_any_server_starts(tmp_path: Path) -> None:
    file = tmp_path / "answers.json"
    file.write_text("{")
    done = await mcptui("call", "greet", "--elicit", f"@{file}", *server())
    assert done.code == 2 and "line 1, column 2" in done.err and "starting" not in done.err
