"""Servers of other hosts from the command line: HOST:NAME, with real processes."""

import json
import sys
from pathlib import Path

import pytest

from tests.protocol.command import doubtful
from tui.settings.locations import config_file, sample_server

WEATHER = {"command": sys.executable, "args": [str(sample_server("weather"))], "env": {"UNITS": "metric"}}
"""With a variable, so that it is not the sample, which needs no consent."""


@pytest.fixture(autouse=True)
def cursor(separate_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = separate_home / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"mcpServers": {"weather": WEATHER}}))
    return path


def rewrite(path: Path, **servers: object) -> None:
    path.write_text(json.dumps({"mcpServers": servers}))


def write_own(text: str) -> None:
    config_file().parent.mkdir(parents=True)
    config_file().write_text(text)


@pytest.mark.parametrize(
    "words", [("list", "cursor:weather"), ("call", "cursor:weather", "get_weather", "location=NYC")]
)
async def test_without_consent_nothing_runs(words: tuple[str, ...], cursor: Path):
    done = await doubtful(*words)
    assert done.code == 2
    assert f"It comes from the file {cursor} and needs your consent" in done.err
    assert "--trust-config" in done.err and not done.out


async def test_the_flag_gives_consent_for_one_run():
    done = await doubtful("call", "cursor:weather", "get_weather", "location=NYC", "--trust-config")
    assert done.code == 0 and "NYC" in done.out
    assert (await doubtful("list", "cursor:weather")).code == 2


async def test_consent_to_the_file_counts_for_its_servers(cursor: Path):
    assert (await doubtful("config", "trust", "--yes", "--config", str(cursor))).code == 0
    done = await doubtful("list", "cursor:weather", "tools")
    assert done.code == 0 and "get_weather" in done.out


async def test_nothing_is_written_to_the_configuration():
    await doubtful("list", "cursor:weather", "--trust-config")
    assert (await doubtful("config", "show")).out.startswith(f"# {config_file()} (not found")


async def test_the_rules_of_the_users_own_configuration_stay_in_force():
    write_own('[approvals]\nrules = ["deny cursor:weather/get_weather"]\n')
    done = await doubtful("call", "cursor:weather", "get_weather", "location=NYC", "--trust-config")
    assert "a rule denies this call to the model" in done.err


async def test_an_imported_server_is_the_same_one():
    assert (await doubtful("config", "import", "--from", "cursor")).code == 0
    done = await doubtful("config", "hosts", "--json")
    (found,) = json.loads(done.out)
    assert found["configured_as"] == "weather"


async def test_a_command_that_is_not_there_names_the_file(cursor: Path):
    rewrite(cursor, gone={"command": "no-such-program-7f"})
    done = await doubtful("list", "cursor:gone", "--trust-config")
    assert done.code == 5
    assert f"was not found on PATH. Check it in the file {cursor}" in done.err


@pytest.mark.parametrize("command", ["login", "logout"])
async def test_a_server_of_a_host_can_be_signed_in_to(command: str, cursor: Path):
    rewrite(cursor, far={"url": "http://127.0.0.1:9/mcp"})
    done = await doubtful(command, "cursor:far", "--trust-config")
    assert "cursor:far" in done.out + done.err and "not found" not in done.err
