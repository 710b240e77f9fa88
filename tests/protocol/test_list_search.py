"""`mcptui list --search`: real servers, all at once."""

import json
from pathlib import Path

import pytest

from tests.configurations import config_file, server, table
from tests.protocol.command import mcptui

FOLDER = Path(__file__).parent


@pytest.fixture
def config(tmp_path: Path) -> str:
    return config_file(
        tmp_path,
        server("copied", FOLDER / "copied_server.py"),
        server("weather", FOLDER / "weather_server.py"),
        server("broken", tmp_path / "missing.py"),
        table("servers.off", command="touch", args=[str(tmp_path / "started")], disabled=True),
    )


async def test_all_servers_are_searched_and_failed_ones_named(config: str, tmp_path: Path) -> None:
    done = await mcptui("list", "--search", "repeat arguments", "--config", config)
    assert done.code == 0
    assert done.out.split()[:3] == ["copied", "tool", "repeat"]
    assert "· starting 3 servers" in done.err and "mcptui: broken: " in done.err
    assert not (tmp_path / "started").exists()


async def test_prompts_and_templates_are_found_as_json(config: str) -> None:
    done = await mcptui("list", "copied", "--search", "text", "--json", "--config", config)
    found = json.loads(done.out)
    assert {one["kind"] for one in found["matches"]} == {"tool", "template", "prompt"}
    assert {one["server"] for one in found["matches"]} == {"copied"}
    assert found["failed"] == []


async def test_one_kind_is_searched(config: str) -> None:
    done = await mcptui("list", "copied", "prompts", "--search", "text", "--config", config)
    assert [line.split()[1] for line in done.out.splitlines()] == ["prompt"]


async def test_a_kind_of_all_servers_is_searched(config: str) -> None:
    done = await mcptui("list", "prompts", "--search", "text", "--config", config)
    assert [line.split()[:2] for line in done.out.splitlines()] == [["copied", "prompt"]]


async def test_a_disabled_server_says_so(config: str) -> None:
    done = await mcptui("list", "off", "--search", "x", "--config", config)
    assert done.code == 2 and "is disabled in the configuration" in done.err


async def test_nothing_found_is_exit_code_1(config: str) -> None:
    done = await mcptui("list", "copied", "--search", "zzzz", "--config", config)
    assert (done.code, done.out) == (1, "")
    assert "nothing found in 1 server" in done.err


async def test_no_server_started_is_exit_code_5(config: str) -> None:
    done = await mcptui("list", "broken", "--search", "x", "--config", config)
    assert done.code == 5


async def test_an_unknown_server_and_no_words_are_refused(config: str) -> None:
    assert (await mcptui("list", "nobody", "--search", "x", "--config", config)).code == 2
    assert (await mcptui("list", "--search", " ", "--config", config)).code == 2


async def test_a_server_that_is_not_configured_is_searched() -> None:
    import sys

    words = ("list", "--search", "repeat", "--", sys.executable, str(FOLDER / "copied_server.py"))
    done = await mcptui(*words)
    assert done.code == 0 and "repeat" in done.out
