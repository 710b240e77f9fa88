"""Questions of servers to commands without a screen."""

import json
from pathlib import Path

import pytest

from tests import programs
from tests.configurations import config_file, model, server
from tests.endpoint import Endpoint, calls, says
from tests.programs import ANSWERING
from tests.protocol.command import mcptui


def asking() -> tuple[str, ...]:
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
    done = await mcptui("call", "greet", *(flag.format(file=file) for flag in flags), *asking())
    assert done.code == 0
    assert json.loads(done.out) == {"given": {"who": expected}, "exact": True}
    assert "asks: Who are you?" in done.err


async def test_roots_are_given_by_the_flag(tmp_path: Path) -> None:
    done = await mcptui("call", "roots", "--root", str(tmp_path), *asking())
    assert json.loads(done.out)["roots"]["roots"][0]["uri"] == tmp_path.as_uri()


async def test_a_file_that_is_not_json_is_reported_before_any_server_starts(tmp_path: Path) -> None:
    file = tmp_path / "answers.json"
    file.write_text("{")
    done = await mcptui("call", "greet", "--elicit", f"@{file}", *asking())
    assert done.code == 2 and "line 1, column 2" in done.err and "starting" not in done.err


SERVER = (
    ANSWERING
    + """
def answer(method, params, ident):
    if method != "tools/call":
        return None
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    for number in range(25):
        params = {"message": f"Question {number}?", "requestedSchema": schema}
        send(id=f"q{number}", method="elicitation/create", params=params)
        sys.stdin.readline()
    return text("asked")
serve(answer, ["ask"])
"""
)
DECLINED = "declined. Answer it with --elicit defaults or --elicit @FILE"


@pytest.mark.parametrize("command", ["run", "call"])
async def test_25_declined_requests_are_one_line(tmp_path: Path, command: str) -> None:
    async with Endpoint([calls(("s__ask", {})), says("Done.")]) as endpoint:
        config = config_file(tmp_path, model(endpoint), server("s", "-c", SERVER))
        words = ("run", "--approve", "all", "go") if command == "run" else ("call", "s", "ask")
        done = await mcptui(*words, "--config", config)
    lines = [line for line in done.err.splitlines() if line.startswith("?")]
    assert lines == [f"? s asks: Question 0? · {DECLINED}"]
