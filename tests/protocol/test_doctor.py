"""`mcptui doctor`: names the cause of broken set-ups, and never calls a tool."""

import asyncio
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.configurations import config_file, server, table
from tests.conftest import until
from tests.http_server import http_server
from tests.protocol.command import Done, doubtful, start
from tests.protocol.doctor_setups import PYTHON, SET_UPS, SetUp, answering, names_cause
from tests.protocol.oauth_server import OAuthServer
from tests.terminal.pty_app import ROOT
from tui.host.sign_in.token_store import TokenStore
from tui.settings.locations import state_dir

CHEAP = [one for one in SET_UPS if one.cheap]


async def doctor(*args: str, **env: str) -> Done:
    return await doubtful("doctor", *args, **env)


def states(found: dict[str, Any]) -> dict[str, str]:
    return {step["name"]: step["state"] for step in found["steps"]}


def written(line: str) -> str:
    return Path(line.partition("without secrets: ")[2]).read_text()


@pytest.mark.parametrize("one", CHEAP, ids=lambda one: one.name)
async def test_doctor_names_the_cause(one: SetUp, tmp_path: Path):
    async with one.make(tmp_path) as given:
        done = await doctor("--json", "--trust-config", *given.args, **given.env)
    found = json.loads(done.out)
    assert names_cause(found, one), found
    assert done.code == (1 if found["failed"] else 0)


async def test_a_good_server_passes_every_step_and_no_tool_is_called(tmp_path: Path):
    async with http_server(modern=False) as remote:
        done = await doctor(remote.url)
    assert done.code == 0 and done.out.endswith("Nothing wrong.\n"), done
    assert "✓ close          DELETE, HTTP 204" in done.out
    assert "tools/call" not in remote.methods()


async def test_without_arguments_all_configured_servers_are_checked_shortly(tmp_path: Path):
    sample = ROOT / "sample_config" / "servers" / "weather.py"
    path = config_file(
        tmp_path,
        server("weather", sample),
        server("broken", "-c", "import sys; sys.exit(3)"),
        table("servers.lost", command="${NO_SUCH_VARIABLE}"),
    )
    done = await doctor("--config", path, "--trust-config")
    lines = done.out.splitlines()
    assert done.code == 1 and any(line.startswith("✓ weather  2 tools") for line in lines), done
    assert any(line.startswith("✗ broken   start: ") and "exited with code 3" in line for line in lines)
    assert any(line.startswith("✗ lost     configuration: ") and "NO_SUCH_VARIABLE" in line for line in lines)
    report = written(lines[-1])
    assert "✗ start" in report and "python" in report


async def test_the_report_has_no_secrets(tmp_path: Path):
    say = "import os, sys; sys.exit('bad key ' + os.environ['API_KEY'])"
    path = config_file(tmp_path, server("s", "-c", say, env={"API_KEY": "canary-5a5a5a5a"}))
    report = tmp_path / "report.txt"
    done = await doctor("s", "--config", path, "--trust-config", "--report", str(report))
    assert done.code == 1 and "bad key [redacted" in report.read_text()
    assert "canary" not in done.out + done.err + report.read_text()


async def test_another_host_is_told_what_it_does_otherwise(tmp_path: Path):
    path = tmp_path / "claude_desktop_config.json"
    entry = {"command": PYTHON, "args": ["-c", answering()], "env": {"TOKEN": "${TOKEN}"}}
    far = {"url": "http://127.0.0.1:1/mcp"}
    path.write_text(json.dumps({"mcpServers": {"near": entry, "far": far}}))
    env = {"XDG_CONFIG_HOME": str(tmp_path), "TOKEN": "t"}
    (tmp_path / "Claude").mkdir()
    path.rename(tmp_path / "Claude" / path.name)
    done = await doctor("--host", "claude-desktop", "--json", **env)
    near, far = json.loads(done.out)
    told = {step["name"]: step["seen"] for step in near["steps"]}
    assert done.code == 1 and "needs your consent" in told["consent"]
    assert "passes ${TOKEN} on as it is" in told["host"]
    assert states(far)["host"] == "failed"


async def test_a_server_of_another_host_starts_where_that_host_starts_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / ".cursor" / "mcp.json"
    path.parent.mkdir()
    (tmp_path / "server.py").write_text(answering())
    path.write_text(json.dumps({"mcpServers": {"s": {"command": PYTHON, "args": ["server.py"]}}}))
    monkeypatch.chdir(tmp_path)
    done = await doctor("--host", "cursor", "--json", "--trust-config", "s")
    (found,) = json.loads(done.out)
    told = {step["name"]: step for step in found["steps"]}
    assert told["folder"]["seen"] == str(tmp_path) and found["failed"] == "lists"
    assert told["host"]["fix"] == f"Write its absolute path: {tmp_path / 'server.py'}."


async def test_a_working_directory_that_a_host_ignores_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "server.py").write_text(answering())
    entry = {"command": PYTHON, "args": ["server.py"], "cwd": str(tmp_path / "there")}
    (tmp_path / ".mcp.json").write_text(json.dumps({"mcpServers": {"s": entry}}))
    monkeypatch.chdir(tmp_path)
    done = await doctor("--host", "claude-code", "--json", "--trust-config", "s")
    (found,) = json.loads(done.out)
    told = {step["name"]: step["seen"] for step in found["steps"]}
    assert done.code == 1 and found["failed"] == "folder" and "server.py does not exist" in told["folder"]


async def test_a_disabled_server_of_another_host_is_listed(tmp_path: Path):
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"mcpServers": {"off": {"command": PYTHON, "disabled": True}}}))
    done = await doctor("--host", str(path), "--trust-config")
    assert done.code == 0 and "it is disabled in this file" in done.out, done
    (found,) = json.loads((await doctor("--host", str(path), "--json")).out)
    assert found["server"] == "off" and found["ok"] and states(found) == {"host": "warning"}


@pytest.mark.parametrize(
    ("host", "place", "text"),
    [
        ("codex", ".codex/config.toml", '[mcp_servers.off]\ncommand = "x"\nenabled = false\n'),
        ("goose", ".config/goose/config.yaml", "extensions: {off: {type: stdio, cmd: x, enabled: false}}"),
    ],
)
async def test_hosts_without_json_are_examined_too(host: str, place: str, text: str, separate_home: Path):
    path = separate_home / place
    path.parent.mkdir(parents=True)
    path.write_text(text)
    done = await doctor("--host", host, "--json", XDG_CONFIG_HOME=str(separate_home / ".config"))
    (found,) = json.loads(done.out)
    assert found["server"] == "off" and states(found) == {"host": "warning"}


async def test_a_server_named_by_its_host_is_examined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".cursor").mkdir()
    (tmp_path / ".cursor/mcp.json").write_text('{"mcpServers": {"s": {"command": "no-such-program-7f"}}}')
    done = await doctor("cursor:s", "--json", "--trust-config")
    found = json.loads(done.out)
    assert found["server"] == "cursor:s" and found["failed"] == "command"


async def test_inputs_that_vs_code_asks_for_are_no_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    entries = {
        name: {"command": PYTHON, "env": {"A": f"${{input:{name}}}"} | more}
        for name, more in (("good", {}), ("lost", {}), ("both", {"B": "${env:NO_SUCH_B}"}))
    }
    inputs = [{"id": name, "type": "promptString"} for name in ("good", "both")]
    path = tmp_path / ".vscode" / "mcp.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"inputs": inputs, "servers": entries}))
    monkeypatch.chdir(tmp_path)
    found = {one["server"]: one for one in json.loads((await doctor("--host", "vscode", "--json")).out)}
    told = {name: (one["ok"], one["steps"][0]["seen"]) for name, one in found.items()}
    assert told["good"] == (True, "VS Code asks for good when it starts. Not started here")
    assert told["lost"] == (False, "VS Code does not start it: `inputs` does not define lost")
    assert not told["both"][0] and "NO_SUCH_B" in told["both"][1] and "BOTH" not in told["both"][1]


async def test_faults_of_the_configuration_are_left_out(tmp_path: Path):
    sample = ROOT / "sample_config" / "servers" / "weather.py"
    faults = ["method:initialize,server/discover garbage"]
    path = config_file(tmp_path, server("s", sample, faults=faults))
    done = await doctor("--config", path, "--trust-config", "--json", "s")
    found = json.loads(done.out)
    assert done.code == 0 and found["ok"] and found["steps"][0]["name"] == "faults", found


async def test_usage_errors_have_their_own_code(tmp_path: Path):
    path = config_file(tmp_path, table("servers.s", command=PYTHON))
    for args in (("a", "b"), ("no-such", "--config", path), ("--host", "no-such-host")):
        done = await doctor(*args)
        assert done.code == 2 and done.err.startswith("mcptui: "), done


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
async def test_ctrl_c_ends_a_hanging_server_at_once(tmp_path: Path):
    ids = tmp_path / "pid"
    hang = f"import os, signal, time; open({str(ids)!r}, 'w').write(str(os.getpid())); "
    hang += "signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"
    process = await start("doctor", "--", PYTHON, "-c", hang)
    await until(lambda: ids.exists() and ids.read_text() != "", 20)
    process.send_signal(signal.SIGINT)
    async with asyncio.timeout(1.5):
        await process.communicate()
    assert process.returncode == 130
    with pytest.raises(ProcessLookupError):
        os.kill(int(ids.read_text()), 0)


async def test_a_sign_in_without_a_user_is_kept_under_the_name_of_the_server_only(tmp_path: Path):
    oauth = {"grant": "client_credentials", "client_id": "robot", "client_secret": "canary-robot"}
    store = TokenStore(state_dir() / "sign-in", use_keychain=False)
    async with OAuthServer(client=("robot", "canary-robot"), methods=("client_secret_basic",)) as remote:
        path = config_file(tmp_path, table("servers.safe", url=remote.url, oauth=oauth))
        for command in ("servers", "logout"):  # so that its era is known, and it is signed out
            name = ("safe",) if command == "logout" else ()
            assert (await doubtful(command, *name, "--config", path, "--trust-config")).code == 0
        done = await doctor("safe", "--config", path, "--trust-config")
    assert "✓ token          signed in until" in done.out and "stream" in done.out
    assert {one.server for one in await store.listed()} == {"safe"}
