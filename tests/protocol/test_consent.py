"""Commands with a configuration that somebody else wrote: nothing of it runs without a yes."""

import json
import sys
from pathlib import Path

import pytest

from tests.http_server import http_server
from tests.protocol.command import doubtful
from tui.settings.locations import sample_server

WORDS = {
    "run": ("run", "--demo", "hello"),
    "servers": ("servers",),
    "call": ("call", "planted", "tool"),
    "list": ("list", "planted"),
    "read": ("read", "planted", "memo://x"),
    "prompt": ("prompt", "planted", "x"),
}


def planted(folder: Path) -> str:
    """Return a foreign configuration whose server leaves a file behind when it is executed."""
    code = f"open({str(folder / 'EXECUTED')!r}, 'w')"
    path = folder / "mcp.json"
    path.write_text(
        json.dumps({"mcpServers": {"planted": {"command": sys.executable, "args": ["-c", code]}}})
    )
    return str(path)


@pytest.mark.parametrize("words", WORDS.values(), ids=WORDS)
async def test_nothing_is_executed_and_the_refusal_names_command_and_flag(
    tmp_path: Path, words: tuple[str, ...]
):
    done = await doubtful(*words, "--config", planted(tmp_path))
    assert done.code == (5 if words == ("servers",) else 2)
    assert "EXECUTED" in done.err and "--trust-config" in done.err
    assert not (tmp_path / "EXECUTED").exists()


async def test_with_the_flag_it_runs_for_this_run_only(tmp_path: Path):
    config = planted(tmp_path)
    await doubtful("servers", "--config", config, "--trust-config")
    assert (tmp_path / "EXECUTED").exists()
    (tmp_path / "EXECUTED").unlink()
    done = await doubtful("servers", "--config", config)
    assert done.code == 5 and not (tmp_path / "EXECUTED").exists()
    said = await doubtful("decisions")
    assert "--trust-config" in said.out


async def test_the_environment_variable_names_no_file_of_ones_own(tmp_path: Path):
    done = await doubtful("servers", MCPTUI_CONFIG=planted(tmp_path))
    assert "needs your consent" in done.out and not (tmp_path / "EXECUTED").exists()


def write_own(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    weather = f'command = "{sys.executable}"\nargs = ["{sample_server("weather")}"]\n'
    path.write_text(f'[servers.mine]\n{weather}env = {{ A = "b" }}\n')


async def test_the_persons_own_file_runs_without_a_question(tmp_path: Path):
    named = (await doubtful("config", "path")).out.strip()
    write_own(Path(named))
    assert (await doubtful("servers")).code == 0
    assert (await doubtful("servers", "--config", named)).code == 0


async def test_the_shipped_samples_need_no_consent(tmp_path: Path):
    config = sample_server("weather").parents[1] / "mcp.json"
    done = await doubtful("servers", "--config", str(config))
    assert (done.code, "consent" in done.out + done.err) == (0, False)


async def test_no_address_is_connected_to(tmp_path: Path):
    async with http_server() as server:
        path = tmp_path / "mcp.json"
        path.write_text(json.dumps({"mcpServers": {"far": {"url": server.url}}}))
        for words in (("servers",), ("call", "far", "x"), ("login", "far"), ("run", "--demo", "hi")):
            done = await doubtful(*words, "--config", str(path))
            assert done.code in (2, 5)
        assert server.methods() == []


async def test_json_says_why_it_was_not_started(tmp_path: Path):
    done = await doubtful("servers", "--json", "--config", planted(tmp_path))
    (found,) = json.loads(done.out)
    assert (found["status"], found["reason"]) == ("STOPPED", "needs consent")
