"""Contracts over a real server, whose definitions change with a variable: locks, diffs, coverage."""

import json
import sys
from pathlib import Path

import pytest

from tests.protocol.command import Done, in_this_process, recordings
from tui.addons.tests.contract.listing import ServerListing
from tui.addons.tests.contract.lock import Lock

COMMAND = [sys.executable, str(Path(__file__).with_name("contract_server.py"))]
SUITE = f"""
[server]
command = {json.dumps(COMMAND)}
env = {{ CHANGE = "${{CHANGE}}" }}

[contract]
lock = "weather.lock.json"
tokens = 4000

[[call]]
name = "rain"
tool = "get_weather"
args = {{ location = "Hangzhou", unit = "celsius" }}
text = "light rain"
"""


@pytest.fixture(name="suite")
def _suite(tmp_path: Path) -> Path:
    path = tmp_path / "weather.mcp.toml"
    path.write_text(SUITE)
    return path


def run(*words: object, change: str = "") -> Done:
    return in_this_process([*map(str, words)], env={"CHANGE": change})


def outcome_of(suite: Path, *words: str, change: str = "") -> Done:
    return run("test", suite, "--trust-config", *words, change=change)


def test_a_contract_from_its_first_lock_to_an_update(suite: Path) -> None:
    lock = suite.with_name("weather.lock.json")
    missing = outcome_of(suite, "-k", "contract")
    assert missing.code == 1 and f"Create it: mcptui test --lock {suite}" in missing.out

    assert outcome_of(suite, "--lock").code == 0
    first = lock.read_bytes()
    assert b"add_note" in first and b"_meta" not in first and b'"size"' not in first

    harmless = outcome_of(suite, "--coverage", change="routing cosmetic default")
    assert harmless.code == 0, harmless.out
    assert "contract: routing: tool get_weather: description" in harmless.out
    assert 'get_weather: unit = "fahrenheit"' in harmless.out

    broken = outcome_of(suite, "--json", "--min-coverage", "80", change="argument enum hidden prompt")
    contract, _, _, ended = broken.objects
    assert broken.code == 1 and [one["path"] for one in contract["mismatches"]] == [
        "tool add_note: description",
        "tool get_weather: inputSchema.properties.days",
        "tool get_weather: inputSchema.$defs.Unit.enum",
        "prompt plan: arguments.city.required",
    ]
    assert ended["coverage"]["kinds"]["tools"] == {"covered": 1, "total": 2}
    assert "less than --min-coverage 80" in broken.err

    unfinished = outcome_of(suite, "-k", "contract", change="page")
    assert unfinished.code == 1 and "page 2 is lost" in unfinished.out

    refused = outcome_of(suite, "--lock", change="enum")
    assert refused.code == 1 and "no longer fahrenheit" in refused.out
    assert lock.read_bytes() == first, "nobody agreed"
    assert outcome_of(suite, "--lock", "--yes", change="enum").code == 0
    assert outcome_of(suite, "-k", "contract", change="enum").code == 0


def test_diff_compares_a_lock_a_recording_and_a_server(suite: Path) -> None:
    assert outcome_of(suite, "--lock").code == 0
    lock = suite.with_name("weather.lock.json")
    same = run("diff", lock, recordings()[-1])
    assert (same.code, same.out) == (0, "No differences.\n")

    report = suite.with_name("diff.md")
    given = ["--json", "--report", f"md={report}", "--env", "CHANGE=gone routing"]
    changed = run("diff", lock, *given, "--", *COMMAND)
    (found,) = changed.objects
    assert changed.code == 1
    assert [(one["verdict"], one["kind"], one["name"], one["path"]) for one in found["changes"]] == [
        ("breaking", "tool", "add_note", ""),
        ("routing", "tool", "get_weather", "description"),
    ]
    assert found["tokens"]["before"]["add_note"] > 0 and "add_note" not in found["tokens"]["after"]
    assert "| breaking | tool add_note | removed |" in report.read_text()

    assert run("diff", recordings()[-1], lock, "--fail", "suspicious").code == 0
    failed = run("diff", lock, "--", sys.executable, "-c", "raise SystemExit(3)")
    assert failed.code == 5 and "exited with code 3" in failed.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "two sides are required"),
        (("a.mcp.toml", "a.mcp.toml"), "Name its lock"),
        (("a.mcp.toml", "none.lock.json"), "Name its lock"),
        (("none.lock.json", "x"), "file not found"),
        (("package.json", "x"), "not a lock of mcptui"),
        (("lock.json", "nothing"), "“nothing” is no file, server or recording"),
        (("lock.json", "lock.json", "--fail", "breakin"), "did you mean “breaking”?"),
        (("lock.json", "lock.json", "--report", "pdf=x"), "Kinds: md."),
    ],
)
def test_diff_says_what_is_wrong(
    words: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.mcp.toml").write_text(SUITE)
    Path("package.json").write_text("{}")
    Path("lock.json").write_text(Lock(ServerListing()).text())
    done = run("diff", *words)
    assert done.code == 2 and said in done.err
