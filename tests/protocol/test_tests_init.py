"""`mcptui test --init`: a first test file, which passes, and whose comments say what is missing."""

import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.protocol.command import Done, mcptui

SERVER = Path(__file__).with_name("first_server.py")
COMMAND = ("--", sys.executable, "-I", str(SERVER))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


async def init(*words: str) -> Done:
    return await mcptui("test", "--init", *words, "--yes", *COMMAND)


def cases(path: Path) -> dict[str, dict[str, Any]]:
    return {case["name"]: case for case in tomllib.loads(path.read_text("utf-8"))["call"]}


async def test_what_can_be_called_and_stays_the_same_is_a_case_and_passes(folder: Path):
    done = await init("first.mcp.toml", "--read-only", "un*")
    assert done.code == 0, done.err
    found = cases(folder / "first.mcp.toml")
    assert found["weather Rome"]["text"] == "Rome: sunny, <number> °C"
    assert found["list of tools"]["list"] == "tools"
    assert {"note:a", "greet", "unmarked", "process", "now"} <= found.keys()
    assert found["process"]["text"] == "process <number> of <text>"
    assert ":" not in found["now"]["text"] and not found["now"]["text"].endswith("day")
    comments = (folder / "first.mcp.toml").read_text("utf-8")
    for line in (
        "# writes: the server does not mark it as read-only",
        "# search: query has no example and no default in its schema",
        "# login: it takes a secret",
        "# counter: nothing of its result is the same each time",
        "# refuse: the call failed: no such place",
        "# ask: who has no example",
        "# note:{id}: its URI has no example",
    ):
        assert line in comments, comments
    for _ in range(2):
        again = await mcptui("test")  # it was written by the user's own command, so it needs no consent
        assert again.code == 0 and f"{len(found)} passed" in again.out, again.out + again.err


async def test_an_existing_file_is_never_replaced(folder: Path):
    (folder / "first.mcp.toml").write_text("# mine\n")
    done = await init("first.mcp.toml")
    assert done.code == 2 and "first.mcp.toml exists already" in done.err, done.err
    assert (folder / "first.mcp.toml").read_text() == "# mine\n"


async def test_a_folder_that_is_missing_is_refused_before_the_server_starts(folder: Path):
    done = await init("missing/first.mcp.toml")
    assert done.code == 2 and "cannot write it: No such file or directory" in done.err, done.err
    assert "starting" not in done.err and done.out == ""


async def test_nothing_is_called_without_a_yes(folder: Path):
    done = await mcptui("test", "--init", "first.mcp.toml", *COMMAND)
    assert done.code == 2 and "weather" in done.out and "--yes" in done.err, done.out + done.err
    assert not (folder / "first.mcp.toml").exists()


async def test_a_server_is_required(folder: Path):
    done = await mcptui("test", "--init")
    assert done.code == 2 and "--init needs a server" in done.err, done.err


async def test_a_server_that_does_not_start_is_an_error(folder: Path):
    done = await mcptui("test", "--init", "--yes", "--", sys.executable, "-c", "exit(3)")
    assert done.code == 5 and "exited with code 3" in done.err, done.err
