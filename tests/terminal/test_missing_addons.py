"""Without the folder of an add-on, everything else works, and whatever needs it says so in one sentence."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.configurations import server
from tests.endpoint import Endpoint, says
from tests.terminal.pty_app import ROOT, home_in
from tui.core.addons import ADDONS

TABLE = server("weather", ROOT / "sample_config" / "servers" / "weather.py", trusted=True)


def env_without(missing: Collection[str], folder: Path) -> dict[str, str]:
    """Return the environment of a program whose package lacks the folders of some add-ons."""
    program = folder / "program"
    addons = program / "tui" / "addons"
    addons.mkdir(parents=True)
    linked = [(program, ROOT, ["tui"]), (program / "tui", ROOT / "tui", ["addons"])]
    for into, source, left_out in (*linked, (addons, ROOT / "tui" / "addons", missing)):
        for path in source.iterdir():
            if path.name not in (*left_out, "__pycache__") and not path.name.startswith("."):
                (into / path.name).symlink_to(path)
    home = folder / "home"
    return home_in(home) | {"XDG_CONFIG_HOME": str(home / "config"), "PYTHONPATH": str(program)}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "config.toml"
    path.write_text(TABLE)
    return path


FORKS = """
import dataclasses, json, os, sys
import tui.commands.call.call, tui.commands.run, tui.commands.sessions, tui.runtime.log, tui.runtime.runtime
import tui.host.transports.stdio, tui.model.openai_api.openai_chat, tui.storage.sessions.store
from tests.protocol.command import in_this_process
assert not [name for name in sys.modules if name.startswith("tui.addons")]
for line in sys.stdin:
    program, env, commands = json.loads(line)
    if os.fork():
        if os.wait()[1]:
            print("[]", flush=True)  # the fork printed why
        continue
    tui.__path__[:] = [program + "/tui"]
    os.environ.clear()
    os.environ.update(env)
    print(json.dumps([dataclasses.astuple(in_this_process(words)) for words in commands]), flush=True)
    os._exit(0)
"""
"""Runs the commands of each line in a fork, whose package lacks add-ons.

The import of what all commands share takes more processor time than the commands. Nothing imported may
depend on an add-on.
"""

Told = list[tuple[int, str, str]]


@pytest.fixture(scope="module")
def told(shared_processes: set[int]) -> Iterator[Callable[[dict[str, str], Sequence[Sequence[str]]], Told]]:
    """Return codes, output and errors of commands that run one after the other in an environment."""
    with subprocess.Popen(
        [sys.executable, "-c", FORKS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT, text=True
    ) as forks:
        shared_processes.add(forks.pid)
        assert forks.stdin is not None and forks.stdout is not None
        lines, printed = forks.stdin, forks.stdout

        def told(env: dict[str, str], commands: Sequence[Sequence[str]]) -> Told:
            print(json.dumps([env["PYTHONPATH"], os.environ | env, commands]), file=lines, flush=True)
            return [(code, out, err) for code, out, err in json.loads(printed.readline())]

        yield told
        lines.close()


OPENED = """
import asyncio, json, sys
from pathlib import Path
from tests.ui.real_stage import real_app

async def opened(home, config, *texts):
    async with real_app(Path(home), config) as app:
        await app.shows("RUNNING", "weather", *texts)
        await app.press("f3", "enter")
        await app.shows("WORKBENCH", "6 traffic", "get_weather")
        return app.text

print(json.dumps(asyncio.run(opened(*json.loads(sys.argv[1])))))
"""


def printed_by(code: str, given: object, env: dict[str, str], cwd: Path) -> Any:
    """Return what a program prints that gets a value. Both are JSON."""
    done = subprocess.run(
        [sys.executable, "-c", code, json.dumps(given)],
        stdout=subprocess.PIPE,
        env=os.environ | env,
        cwd=cwd,
        timeout=60,
        stdin=subprocess.DEVNULL,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize("missing", [["demo"], ["tests"], list(ADDONS)], ids="+".join)
def test_the_app_opens_and_closes(missing: list[str], tmp_path: Path):
    """Without the two that its screens use, and without all."""
    said = ["needs the add-on demo, which is not installed"] if "demo" in missing else []
    env = env_without(missing, tmp_path)
    shown = printed_by(OPENED, [env["HOME"], TABLE, *said], env, tmp_path)
    assert ("7 tests" in shown) is ("tests" not in missing)


NAMED = {
    "act_as": [(("config", "check"), "`act_as`")],
    "cards": [
        (("add", "https://example.com", "--card", "x"), "--card"),
        (("config", "check", "--cards"), "--cards"),
        (("config", "check"), "card"),
    ],
    "apps": [(("config", "check"), "bench.app")],
    "agent": [(("agent",), "mcptui agent")],
    "demo": [(("run", "--demo", "hello"), "the demo model")],
    "doctor": [(("doctor",), "mcptui doctor")],
    "enterprise_sign_in": [(("config", "check"), "[identity_providers]")],
    "events": [(("events", "x"), "mcptui events"), (("config", "check"), "[events]")],
    "up": [
        (("up",), "mcptui up"),
        (("call", "weather", "get_weather", "--own"), "--own"),
        (("config", "check"), "[up]"),
    ],
    "faults": [
        (("tap", "--fault", "flaky", "--", "x"), "--fault"),
        (("tap", "--hold", "--", "x"), "--hold"),
        (("test", "--fault", "flaky"), "--fault"),
        (("config", "check"), "`faults`"),
    ],
    "line_dialect": [(("config", "check"), 'transport = "lines"')],
    "packages": [
        (("search", "weather"), "mcptui search"),
        (("add", "--set", "a=b", "x"), "--set"),
        (("add", "weather.mcpb"), "a package"),
        (("config", "check"), "[registry]"),
    ],
    "plain": [(("--plain",), "--plain")],
    "replay": [
        (("mock", "x"), "mcptui mock"),
        (("traffic", "x", "--replay"), "--replay"),
        (("traffic", "x", "--mask", "$.time"), "--mask"),
    ],
    "skills": [
        (("skill", "x"), "mcptui skill"),
        (("list", "weather", "skills"), "mcptui list SERVER skills"),
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
    "watch": [(("dev", "--", "x"), "mcptui dev"), (("config", "check"), "watch")],
    "telemetry": [
        (("traffic", "--export", "otlp"), "--export otlp"),
        (("traffic", "--with-content"), "--with-content"),
        (("config", "check"), "[telemetry]"),
    ],
    "websocket": [(("config", "check"), 'transport = "websocket"')],
}
"""For each add-on, command lines that need it, and what its sentence begins with."""

SETTINGS = {
    "act_as": '[servers.mine]\ncommand = "x"\nact_as = "codex"\n',
    "cards": '[servers.remote]\nurl = "https://h.example/mcp"\ncard = "https://h.example/card"\n',
    "enterprise_sign_in": '[identity_providers.acme]\nissuer = "https://idp.example"\nclient_id = "c"\n',
    "apps": '[ui.keys]\n"bench.app" = "K"\n',
    "events": "[events]\nact = true\n",
    "up": '[up]\nattach = "ask"\n',
    "faults": '[servers.broken]\ncommand = "x"\nfaults = ["flaky"]\n',
    "line_dialect": '[servers.old]\ncommand = "x"\ntransport = "lines"\n',
    "packages": '[registry]\nurl = "https://registry.example"\n',
    "tests": '[ui.keys]\n"keep.call" = "K"\n',
    "watch": '[servers.mine]\ncommand = "x"\nwatch = "*.py"\n',
    "telemetry": '[telemetry]\nendpoint = "http://127.0.0.1:9"\n',
    "websocket": '[servers.remote]\nurl = "wss://h.example/"\n',
}


@pytest.mark.parametrize("missing", ADDONS)
async def test_commands_work_and_what_needs_the_addon_says_so_in_one_sentence(
    missing: str,
    config: Path,
    tmp_path: Path,
    told: Callable[[dict[str, str], Sequence[Sequence[str]]], Told],
):
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
        env = env_without([missing], tmp_path) | {"MCPTUI_CONFIG": str(needing)}
        helped, listed, answer, sessions, *refused = await asyncio.to_thread(told, env, commands)
    assert helped[::2] == (0, "")
    assert [name for name in ADDONS[missing].get("command", ()) if f"    {name} " in helped[1]] == []
    assert listed[0] == 0 and "get_weather" in listed[1], listed
    assert answer[:2] == (0, "It rains.\n"), answer
    assert "rain" in sessions[1]
    for (code, *output), (_, what) in zip(refused, NAMED[missing], strict=True):
        said = "".join(output)
        sentence = f"{what} needs the add-on {missing}, which is not installed"
        assert code == 2 and said.count(sentence) == 1 and "unknown" not in said, said
