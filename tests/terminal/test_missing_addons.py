"""Without the folder of an add-on, everything else works, and whatever needs it says so in one sentence."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.configurations import server
from tests.endpoint import Endpoint, says
from tests.terminal.pty_app import ROOT, home_in
from tui.core.addons import ADDONS

TABLE = server("weather", ROOT / "sample_config" / "servers" / "weather.py", trusted=True)


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
    home = tmp_path / "home"
    return home_in(home) | {"XDG_CONFIG_HOME": str(home / "config"), "PYTHONPATH": str(program)}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "config.toml"
    path.write_text(TABLE)
    return path


PROGRAM = """
import asyncio, dataclasses, json, os, sys
from pathlib import Path
from tests.protocol.command import in_this_process
from tests.ui.real_stage import real_app

async def opened(home, config, *texts):
    async with real_app(Path(home), config) as app:
        await app.shows("RUNNING", "weather", *texts)
        await app.press("f3", "enter")
        await app.shows("WORKBENCH", "6 traffic", "get_weather")
        return app.text

commands, app = json.loads(sys.argv[1])
told = [dataclasses.astuple(in_this_process(words)) for words in commands]
del os.environ["MCPTUI_CONFIG"]
print(json.dumps([asyncio.run(opened(*app)), told]))
"""


def run(
    commands: Sequence[Sequence[str]], app: Sequence[str], env: dict[str, str], cwd: Path
) -> tuple[str, list[tuple[int, str, str]]]:
    """Run commands, and open the app, in one process.

    Return what the workbench of the app shows, and the exit code, the output and the errors of each command.
    """
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps([commands, app])],
        stdout=subprocess.PIPE,
        env=os.environ | env,
        cwd=cwd,
        timeout=60,
        stdin=subprocess.DEVNULL,
        check=True,
    )
    shown, told = json.loads(done.stdout)
    return shown, [tuple(one) for one in told]


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
    "tests": [
        (("test",), "mcptui test"),
        (("keep",), "mcptui keep"),
        (("diff",), "mcptui diff"),
        (("traffic", "x", "--expect-tool", "get_*"), "--expect-tool"),
        (("traffic", "x", "--no-errors"), "--no-errors"),
        (("config", "check"), "keep.call"),
    ],
    "websocket": [(("config", "check"), 'transport = "websocket"')],
}
"""For each add-on, command lines that need it, and what its sentence begins with."""

SETTINGS = {
    "line_dialect": '[servers.old]\ncommand = "x"\ntransport = "lines"\n',
    "packages": '[registry]\nurl = "https://registry.example"\n',
    "tests": '[ui.keys]\n"keep.call" = "K"\n',
    "websocket": '[servers.remote]\nurl = "wss://h.example/"\n',
}


async def test_the_app_opens_commands_work_and_what_needs_the_addon_says_so_in_one_sentence(
    missing: str, env: dict[str, str], config: Path, tmp_path: Path
):
    app = [str(tmp_path / "home"), TABLE]
    if missing == "demo":
        app.append("needs the add-on demo, which is not installed")
    configured, needing = ("--config", str(config)), tmp_path / "needing.toml"
    needing.write_text(TABLE + SETTINGS.get(missing, ""))
    async with Endpoint([says("It rains.")]) as endpoint:
        with config.open("a") as file:
            file.write(f'[models.local]\nbase_url = "{endpoint.base_url}"\nmodel = "m"\n')
        commands = [
            ["--help"],
            [*configured, "list", "weather", "tools"],
            [*configured, "run", "--session", "rain", "Does it rain?"],
            ["sessions"],
            *(words for words, _ in NAMED[missing]),
        ]
        env |= {"MCPTUI_CONFIG": str(needing)}
        shown, found = await asyncio.to_thread(run, commands, app, env=env, cwd=tmp_path)
    told, listed, answer, sessions, *refused = found
    assert ("7 tests" in shown) is (missing != "tests")
    assert told[::2] == (0, "")
    assert [name for name in ADDONS[missing].get("command", ()) if f"    {name} " in told[1]] == []
    assert listed[0] == 0 and "get_weather" in listed[1], listed
    assert answer[:2] == (0, "It rains.\n"), answer
    assert "rain" in sessions[1]
    for (code, *output), (_, what) in zip(refused, NAMED[missing], strict=True):
        said = "".join(output)
        sentence = f"{what} needs the add-on {missing}, which is not installed"
        assert code == 2 and said.count(sentence) == 1 and "unknown" not in said, said
