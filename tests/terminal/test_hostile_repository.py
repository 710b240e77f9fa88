"""The program in a hostile folder: nothing in it is executed, imported or connected to.

Checked twice: by the record that its files would write, and by strace, which follows every process.
"""

import os
import shutil
import subprocess
import sys

import pytest

from tests.terminal.hostile_repository import (
    HostileRepository,
    Traced,
    read_trace,
    under_strace,
    why_not_traced,
)
from tests.terminal.pty_app import ROOT, TerminalApp, home_in

STRACE = shutil.which("strace")
PROGRAM = [sys.executable, "-P", "-m", "tui"]
SERVER = ROOT / "tests" / "corpus" / "faults" / "crlf.py"
NPX = """#!/bin/sh
# As npx does: a program of the folder comes before one of the registry.
[ -x node_modules/.bin/server-everything ] && exec node_modules/.bin/server-everything
exec {python} {server}
"""
COMMANDS = {
    "servers": ["servers"],
    "config check": ["config", "check"],
    "call": ["call", "everything", "echo", "text=hi"],
    "run": ["run", "--demo", "What's the weather in Hangzhou?"],
    "run without a configuration": ["run", "What's the weather in Hangzhou?"],
    "traffic": ["traffic"],
}


@pytest.fixture(scope="module", autouse=True)
def strace_works() -> None:
    if why := why_not_traced(STRACE):
        pytest.skip(why)


@pytest.fixture
def repository(tmp_path):
    found = HostileRepository(tmp_path / "repository")
    yield found
    found.close()


@pytest.fixture
def env(tmp_path, repository):
    """Return an environment with the servers of the README and the most dangerous search path possible."""
    home = tmp_path / "home"
    programs, modules, config = home / "bin", home / "lib", home / "mcptui"
    for folder in (programs, modules, config):
        folder.mkdir(parents=True)
    (programs / "npx").write_text(NPX.format(python=sys.executable, server=SERVER))
    (programs / "npx").chmod(0o755)
    (programs / "python3").symlink_to(sys.executable)
    shutil.copy(SERVER, modules / "mcp_server_time.py")
    shutil.copy(SERVER.with_name("_server.py"), modules)
    (config / "config.toml").write_text(
        '[servers.everything]\ncommand = "npx"\nargs = ["-y", "@modelcontextprotocol/server-everything"]\n'
        '[servers.time]\ncommand = "python3"\nargs = ["-m", "mcp_server_time"]\n'
        f'env = {{ PYTHONPATH = "{modules}" }}\n'
    )
    path = f".:node_modules/.bin::bin:{programs}:/usr/bin:/bin"
    return home_in(home) | {"PATH": path, "EDITOR": "true", "DISPLAY": ":99", "WAYLAND_DISPLAY": "w"}


def assert_untouched(repository: HostileRepository, traced: Traced) -> None:
    assert traced.executed and traced.opened  # it was traced at all
    assert repository.executed_of(traced) == []
    assert repository.loaded_of(traced) == []
    assert repository.connects_of(traced) == []
    assert not repository.ran.exists(), repository.ran.read_text()
    assert not repository.has_connected()


def followed(repository: HostileRepository, env: dict[str, str], *arguments: str) -> tuple[str, Traced]:
    report = repository.folder.parent / "strace"
    assert STRACE is not None
    done = subprocess.run(
        under_strace(STRACE, report, [*PROGRAM, *arguments]),
        env={"PYTHONPATH": str(ROOT), "LANG": "C.UTF-8", "TERM": "xterm-256color"} | env,
        cwd=repository.folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
        check=False,
    )
    return (done.stdout + done.stderr).decode(errors="replace"), read_trace(report)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_executes_imports_and_contacts_nothing_from_a_hostile_folder(repository, env, command):
    said, traced = followed(repository, env, *COMMANDS[command])
    assert "Traceback" not in said
    assert_untouched(repository, traced)
    if command == "servers":  # those of the README
        assert said.count("1 tool") == 2, said
        assert any(path.endswith("npx") for path in traced.executed)
        assert any(path.endswith("mcp_server_time.py") for path in traced.opened)


@pytest.mark.skipif(
    shutil.which("npx", path="/usr/bin:/usr/local/bin") is None, reason="npx is not installed"
)
def test_npx_runs_nothing_from_the_folder(repository, env, tmp_path):
    (tmp_path / "home" / "bin" / "npx").unlink()
    (tmp_path / "home" / "mcptui" / "config.toml").write_text(
        '[servers.everything]\ncommand = "npx"\nargs = ["--offline", "-y", "server-everything"]\n'
    )
    env["PATH"] += ":/usr/local/bin"
    _, traced = followed(repository, env, "servers")
    assert any(path.endswith("node") for path in traced.executed)
    assert_untouched(repository, traced)


def test_the_app_executes_imports_and_contacts_nothing_from_a_hostile_folder(repository, env, tmp_path):
    report = tmp_path / "strace"
    assert STRACE is not None
    argv = under_strace(STRACE, report, [*PROGRAM, "--demo"])
    with TerminalApp(argv, env=env, cwd=repository.folder) as app:
        app.shows("2 of 2", seconds=60)
        app.send("hello\r")
        app.until(lambda: "answered" in app.text and "esc stop" not in app.text, 60)
        app.send("\x1bOQc")  # the conversation: copy
        app.until(lambda: "clipboard" in app.text, 60)
        app.send("\x1b[15~word\x06")  # the input: $EDITOR
        app.shows("› word", seconds=60)
        app.send(" @")  # completes files
        app.shows("AGENTS.md", seconds=60)
        app.send("\x11")
        assert app.ended(60) == 0
    assert_untouched(repository, read_trace(report))


def test_the_checks_detect_a_program_that_does_all_of_it(repository, tmp_path):
    """Checks the test itself: a program that does everything forbidden."""
    evil = (
        "import socket, subprocess, json; subprocess.run(['./npx']);"
        f"socket.create_connection(('127.0.0.1', {repository.port})).close()"
    )
    report = tmp_path / "strace"
    assert STRACE is not None
    environment = {"PATH": os.defpath, "PYTHONPATH": "."}
    argv = under_strace(STRACE, report, [sys.executable, "-S", "-c", evil])
    subprocess.run(argv, cwd=repository.folder, env=environment, check=False, timeout=60, capture_output=True)
    traced = read_trace(report)
    assert repository.ran.exists()
    assert repository.has_connected()
    assert repository.executed_of(traced) != []
    assert repository.connects_of(traced) != []
    assert "json.py" in {os.path.basename(path) for path in repository.loaded_of(traced)}
