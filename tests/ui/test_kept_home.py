"""What users have stays valid: the app and the commands over a home folder made by commit 6b63815a."""

import json
import os
import shutil
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import until
from tests.endpoint import Endpoint, calls, says
from tests.protocol.command import Done, doubtful
from tests.ui.real_stage import real_app
from tui.core.workbench import CallKey, CallKind
from tui.runtime.options import Options
from tui.settings.locations import data_dir, server_folder, state_dir

KEPT = Path(__file__).parents[1] / "corpus" / "home_6b63815a"
EXPORTS = KEPT / "exports"
ADD = CallKey("calc", CallKind.TOOL, "add")


@pytest.fixture
def home(separate_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the home in use. Its eras are new, because they expire."""
    for name in ("config", "data", "state"):
        shutil.copytree(KEPT / name, separate_home / name, dirs_exist_ok=True)
    for path in separate_home.rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)
    for name in ("calc", "found", "refused"):
        server_folder(name).mkdir(parents=True)
        shutil.copy(KEPT / "server.py", server_folder(name))
    eras = state_dir() / "eras.json"
    found = json.loads(eras.read_text())
    for era in found["eras"]:
        era["at"] = int(time.time())
    eras.write_text(json.dumps(found))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("FAR_TOKEN", "another-token")
    return separate_home


def config_of(home: Path, url: str = "http://127.0.0.1:9/v1") -> str:
    path = home / "config" / "mcptui" / "config.toml"
    path.write_text(path.read_text().replace("http://127.0.0.1:9/v1", url))
    return path.read_text()


def damage() -> None:
    """Overwrite the complete results of the session."""
    (session,) = (data_dir() / "sessions").iterdir()
    with session.open("r+b") as file:
        file.seek(6 * 4096)
        file.write(bytes(4096))


def lines(done: Done) -> list[str]:
    assert done.code == 0, done.err
    return done.out.splitlines()


async def test_consents_and_refusals_apply(home: Path) -> None:
    for server in ("calc", "found"):
        assert "write" in (await doubtful("list", server)).out
    assert "needs your consent" in (await doubtful("list", "refused")).err
    asked = await doubtful("config", "trust", "--yes")
    assert [line for line in asked.out.splitlines() if line.endswith(": agreed")] == ["refused: agreed"]
    assert "You declined this on 2026-11-28." in asked.out


@pytest.mark.parametrize("is_damaged", [False, True])
async def test_trust_approvals_rules_and_accepted_definitions_apply_in_a_kept_session(
    home: Path, is_damaged: bool
) -> None:
    (server_folder("calc") / "changed").touch()
    if is_damaged:
        damage()
    script = [calls(("calc__add", {"a": 1})), calls(("calc__write", {"text": "3"})), says("Done.")]
    async with Endpoint(script) as endpoint:
        config_of(home, endpoint.base_url)
        done = await doubtful("run", "--session", "kept", "--server", "calc", "--", "Again")
        first, *_, last = (request.json for request in endpoint.requests)
    assert [tool["function"]["name"] for tool in first["tools"]] == ["calc__add", "calc__write"]
    assert "1 + 2 is 3, and it is written down." in [one["content"] for one in first["messages"]]
    results = [one["content"] for one in last["messages"] if one["role"] == "tool"][-2:]
    assert results == ["three", "three"], done.err
    assert "helper" in done.err and "changed" in done.err
    told = [f"The damaged file is kept as {one}." for one in (data_dir() / "sessions").glob("*.damaged")]
    assert len(told) == done.err.count("could be read, other data may be lost. ") == is_damaged
    assert all(one in done.err for one in told)


async def test_sessions_recordings_exports_and_decisions_are_read(home: Path) -> None:
    assert lines(await doubtful("sessions", "export", "kept", "--as", "json")) == (
        (EXPORTS / "kept.json").read_text().splitlines()
    )
    assert "imported" in (await doubtful("sessions", "import", str(EXPORTS / "kept.json"))).out
    (recording,) = (state_dir() / "recordings").iterdir()
    exported = await doubtful("traffic", str(recording), "--export", "jsonl")
    assert lines(exported) == (EXPORTS / "traffic.jsonl").read_text().splitlines()
    assert lines(await doubtful("traffic", str(recording))) == (
        lines(await doubtful("traffic", str(EXPORTS / "traffic.jsonl")))
    )
    found = [json.loads(line) for line in lines(await doubtful("decisions", "--json"))]
    assert [one["subject"] for one in found][-3:] == ["add", "write", "drop"] and len(found) == 7


async def test_the_app_shows_what_was_configured_and_saved(home: Path) -> None:
    damage()
    async with real_app(home, config_of(home), options=Options(session="kept")) as app:
        await app.has_state("calc", "RUNNING")
        await app.has_state("found", "RUNNING")
        await app.shows("1 + 2 is 3, and it is written down.", "alt+s sessions", "refused STOPPED")
        await app.shows("! The session is damaged: its 8 messages could be read")
        assert app.app.theme == "paper"
        runtime = app.runtime
        await runtime.calls.load()
        assert runtime.calls.memory.saved[ADD] == {"big": {"a": 1e9, "b": None}}
        assert runtime.calls.memory.last[ADD] == {"a": 5, "b": 6}
        spec = runtime.host.status("calc").spec
        assert [one.id for one in runtime._memory.tasks.of("calc", spec.origin)] == ["task-1"]
        assert not any(runtime.host.status(one).changes for one in ("calc", "found"))
        assert runtime.trust.trusted("calc")
        await app.press("f9")
        await until(lambda: "it is written down." not in app.text, what="a new conversation")
    newest = max((state_dir() / "recordings").iterdir())
    recorded = "\n".join(lines(await doubtful("traffic", str(newest))))
    assert "initialize" in recorded and "server/discover" not in recorded  # the eras are known
    assert (data_dir() / "calls.json").read_bytes() == (KEPT / "data/mcptui/calls.json").read_bytes()
