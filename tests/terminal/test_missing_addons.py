"""Without the folder of an add-on, everything else works, and whatever needs it says so in one sentence."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.endpoint import Endpoint, says
from tests.terminal.pty_app import ROOT, TerminalApp, home_in
from tui.core.addons import ADDONS

WEATHER = ROOT / "sample_config" / "servers" / "weather.py"


@pytest.fixture(params=ADDONS)
def missing(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def env(missing: str, tmp_path: Path) -> dict[str, str]:
    """Return the environment of a program whose package lacks a folder."""
    program = tmp_path / "program"
    addons = program / "tui" / "addons"
    addons.mkdir(parents=True)
    linked = [(program, ROOT, "tui"), (program / "tui", ROOT / "tui", "addons")]
    for folder, source, left_out in (*linked, (addons, ROOT / "tui" / "addons", missing)):
        for path in source.iterdir():
            if path.name not in (left_out, "__pycache__") and not path.name.startswith("."):
                (folder / path.name).symlink_to(path)
    return home_in(tmp_path / "home") | {"PYTHONPATH": str(program)}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "config.toml"
    path.write_text(
        f'[servers.weather]\ncommand = "{sys.executable}"\nargs = ["{WEATHER}"]\ntrusted = true\n'
    )
    return path


def mcptui(*args: str, env: dict[str, str], cwd: Path) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "tui", *args],
        capture_output=True,
        text=True,
        env=os.environ | env,
        cwd=cwd,
        timeout=60,
        stdin=subprocess.DEVNULL,
    )
    return done.returncode, done.stdout, done.stderr


def test_the_app_opens_and_quits(missing: str, env: dict[str, str], config: Path, tmp_path: Path):
    with TerminalApp.real("--config", str(config), env=env, cwd=tmp_path) as app:
        app.shows("RUNNING", "weather", seconds=40)
        if missing == "demo":
            app.shows("needs the add-on demo, which is not installed")
        app.quits()


async def test_help_list_run_and_sessions_work(
    missing: str, env: dict[str, str], config: Path, tmp_path: Path
):
    code, out, err = mcptui("--help", env=env, cwd=tmp_path)
    assert (code, err) == (0, "")
    assert [name for name in ADDONS[missing].get("command", ()) if f"    {name} " in out] == []
    code, out, err = mcptui("--config", str(config), "list", "weather", "tools", env=env, cwd=tmp_path)
    assert code == 0 and "get_weather" in out, err
    async with Endpoint([says("It rains.")]) as endpoint:
        with config.open("a") as file:
            file.write(f'[models.local]\nbase_url = "{endpoint.base_url}"\nmodel = "m"\n')
        ask = ("--config", str(config), "run", "--session", "rain", "Does it rain?")
        code, out, err = await asyncio.to_thread(mcptui, *ask, env=env, cwd=tmp_path)
    assert (code, out) == (0, "It rains.\n"), err
    assert "rain" in mcptui("sessions", env=env, cwd=tmp_path)[1]


NAMED = {
    "demo": [(("run", "--demo", "hello"), "the demo model")],
    "line_dialect": [(("config", "check"), 'transport = "lines"')],
    "packages": [
        (("search", "weather"), "mcptui search"),
        (("add", "--set", "a=b", "x"), "--set"),
        (("add", "weather.mcpb"), "a package"),
        (("config", "check"), "[registry]"),
    ],
    "replay": [
        (("mock", "x"), "mcptui mock"),
        (("traffic", "x", "--replay"), "--replay"),
        (("traffic", "x", "--mask", "$.time"), "--mask"),
    ],
    "tap_hosts": [(("tap", "--into", "claude", "time"), "--into")],
    "websocket": [(("config", "check"), 'transport = "websocket"')],
}
"""For each add-on, command lines that need it, and what its sentence begins with."""

SETTINGS = {
    "line_dialect": '[servers.old]\ncommand = "x"\ntransport = "lines"\n',
    "packages": '[registry]\nurl = "https://registry.example"\n',
    "websocket": '[servers.old]\nurl = "wss://h.example/"\n',
}


def test_what_needs_the_addon_says_so_in_one_sentence(
    missing: str, env: dict[str, str], config: Path, tmp_path: Path
):
    with config.open("a") as file:
        file.write(SETTINGS.get(missing, ""))
    for words, what in NAMED[missing]:
        code, out, err = mcptui(*words, env=env | {"MCPTUI_CONFIG": str(config)}, cwd=tmp_path)
        sentence = f"{what} needs the add-on {missing}, which is not installed"
        assert code == 2 and (out + err).count(sentence) == 1, out + err
        assert "unknown" not in out + err
