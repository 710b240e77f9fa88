"""`mcptui list --search`: real servers, all at once."""

import json
import sys
from pathlib import Path

import pytest

from tests.configurations import config_file, server, table
from tests.protocol.command import Done, mcptui
from tui.settings.locations import sample_server

FOLDER = Path(__file__).parent


@pytest.fixture
def config(tmp_path: Path) -> str:
    return config_file(
        tmp_path,
        server("notes", sample_server("notes")),
        server("weather", sample_server("weather")),
        server("broken", tmp_path / "missing.py"),
        table("servers.off", command="touch", args=[str(tmp_path / "started")], disabled=True),
    )


async def found(config: str, typed: str, *words: str) -> Done:
    return await mcptui("list", *words, "--search", typed, "--config", config)


async def test_all_servers_are_searched_and_failed_ones_named(config: str, tmp_path: Path) -> None:
    done = await found(config, "add note")
    assert done.code == 0
    assert done.out.split()[:3] == ["notes", "tool", "add_note"]
    assert "· starting 3 servers" in done.err and "mcptui: broken: " in done.err
    assert not (tmp_path / "started").exists()


async def test_prompts_and_templates_of_a_command_are_found_as_json() -> None:
    command = ("--", sys.executable, str(FOLDER / "copied_server.py"))
    done = await mcptui("list", "--search", "text", "--json", *command)
    matches = json.loads(done.out)["matches"]
    assert {one["kind"] for one in matches} == {"tool", "template", "prompt"}
    assert json.loads(done.out)["failed"] == []


@pytest.mark.parametrize("words", [("notes", "prompts"), ("prompts",)])
async def test_one_kind_is_searched(words: tuple[str, ...], config: str) -> None:
    done = await found(config, "summary", *words)
    assert [line.split()[:2] for line in done.out.splitlines()] == [["notes", "prompt"]]


@pytest.mark.parametrize(
    ("server", "typed", "code", "said"),
    [
        ("notes", "zzzz", 1, "nothing found in 1 server"),
        ("broken", "x", 5, "mcptui: broken: "),
        ("off", "x", 2, "is disabled in the configuration"),
        ("note", "x", 2, "not found, did you mean “notes”?"),
        ("notes", " ", 2, "--search needs words"),
    ],
)
async def test_what_finds_nothing_says_why(server: str, typed: str, code: int, said: str, config: str):
    done = await found(config, typed, server)
    assert (done.code, done.out) == (code, "") and said in done.err
