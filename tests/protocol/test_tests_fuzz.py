"""`mcptui test --fuzz` and `--load`, with a server whose tools have one defect each."""

import json
import shlex
import shutil
import sys
import tomllib
from pathlib import Path

import pytest

from tests.protocol.command import doubtful, mcptui

SERVER = Path(__file__).with_name("fuzzed_server.py")
FILE = "fuzzed.mcp.toml"
COMMAND = ("--", sys.executable, "-I", SERVER.name)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copy(SERVER, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


async def test_each_defect_is_found_once_with_the_smallest_arguments_and_kept(folder: Path):
    words = ("search", "root", "weather", "greet", "page", "sum")
    done = await mcptui("test", "--fuzz", *words, "--runs", "10", "--seed", "1", "--json", "--keep", *COMMAND)
    assert done.code == 1, done.err
    found = {one["tool"]: (one["fault"], one["arguments"]) for one in done.of_type("finding")}
    assert found == {
        "search": ("crash", {"query": ""}),
        "root": ("internal-error", {"number": -1}),
        "weather": ("accepted", {}),
        "greet": ("stray-output", {"name": "é"}),
        "page": ("accepted", {"size": 101}),
    }
    assert all(one["repeats"] for one in done.of_type("finding"))
    (end,) = done.of_type("fuzz")
    assert (end["seed"], end["tools"], end["findings"]) == (1, 6, 5)
    assert end["kept"] == str(folder / FILE)
    cases = {one["tool"]: one for one in tomllib.loads((folder / FILE).read_text("utf-8"))["call"]}
    assert cases["weather"]["error"] is True and cases["search"]["args"] == {"query": ""}

    line = shlex.split(next(one["repeat"] for one in done.of_type("finding") if one["tool"] == "root"))
    again = await mcptui(*line[1:])
    assert again.code == 1 and "domain" in again.err, again.err
    assert (await mcptui("test")).code == 1  # the kept cases, of a file that needs no consent


async def test_the_call_of_a_finding_is_repeated_with_the_configuration_that_was_trusted(folder: Path):
    config = f"[servers.s]\ncommand = {json.dumps(sys.executable)}\nargs = ['-I', '{folder / SERVER.name}']\n"
    (folder / "c.toml").write_text(config)
    words = ("root", "--runs", "1", "--seed", "1", "--server", "s", "--config", "c.toml", "--trust-config")
    (found,) = (await doubtful("test", "--fuzz", *words, "--json")).of_type("finding")
    again = await doubtful(*shlex.split(found["repeat"])[1:])
    assert again.code == 1 and "domain" in again.err, again.err


async def test_a_hang_is_shrunk_within_its_time():
    done = await mcptui("test", "--fuzz", "wait", "--runs", "1", "--seconds", "1", "--json", *COMMAND)
    (found,) = done.of_type("finding")
    assert found["fault"] == "hang" and found["arguments"] == {"text": "a" * 1_001}, found
    assert "--args @" in found["repeat"]  # too long for a line


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("writes",), "no tool is marked as read-only: writes. Use --all"),
        (("nope",), "no tool matches nope"),
        (("writes", "--all"), "not called: no terminal to ask on. Add --yes"),
    ],
)
async def test_only_read_only_tools_are_called_unless_the_user_agrees(words: tuple[str, ...], said: str):
    done = await mcptui("test", "--fuzz", *words, *COMMAND)
    assert done.code == 2 and said in done.err, done.err


async def test_a_load_is_compared_with_the_one_before():
    words = ("test", "--load", "3", "--for", "100ms", "sum", "a=2", "--json", *COMMAND)
    (first,), (second,) = [(await mcptui(*words)).objects for _ in range(2)]
    assert first["before"] is None and second["before"] == first["now"]
    now = second["now"]
    assert now["calls"] > 3 and now["errors"] == 0 and 0 < now["p50"] <= now["p99"] <= now["slowest"]
    assert second["calls"] == [{"tool": "sum", "arguments": {"a": 2}}]


async def test_a_single_tool_that_already_fails_is_named_with_the_reason():
    done = await mcptui("test", "--load", "2", "wait", f"text={'a' * 1_001}", "--seconds", "1", *COMMAND)
    assert done.code == 2 and "wait already fails when it is called once: " in done.err, done.err
    assert "did not respond within 1 s" in done.err and "Name one" not in done.err, done.err


async def test_a_server_elsewhere_gets_no_load_without_a_flag():
    done = await mcptui("test", "--load", "2", "--server", "https://mcp.example.com/mcp")
    assert done.code == 2 and "not on this computer. Use --remote" in done.err, done.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--fuzz",), "--fuzz needs a server"),
        (("--load", "2"), "--load needs a server"),
        (("--all",), "--all requires --fuzz"),
        (("--for", "5s"), "--for requires --fuzz or --load"),
        (("--remote",), "--remote requires --load"),
        (("--fuzz", "--for", "soon"), "must be a time such as 30s"),
    ],
)
async def test_options_that_have_no_effect_are_errors(words: tuple[str, ...], said: str):
    done = await mcptui("test", *words)
    assert done.code == 2 and said in done.err, done.err
