"""`mcptui agent --skill`: the skill for agents, and whether what it teaches works."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import wait_until
from tests.protocol.command import in_this_process
from tests.terminal.pty_app import ROOT
from tests.unit.addons.agent.agent_stage import files, keep
from tui.addons.agent.skill_file import skill_text
from tui.core.addons import ADDONS

COMMANDS = [
    line.strip()
    for block in re.findall(r"```sh\n(.*?)```", skill_text(), re.DOTALL)
    for line in block.splitlines()
    if line.strip()
]


def test_its_front_matter_is_that_of_a_skill():
    import yaml

    _, head, body = skill_text().split("---\n", 2)
    front = yaml.safe_load(head)
    assert front.keys() == {"name", "description"} and front["name"] == "mcptui"
    assert len(front["description"]) <= 1024
    assert len(body.splitlines()) < 150


def test_every_command_of_it_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """In order, as an agent would run them, against the sample servers."""
    shutil.copytree(ROOT / "sample_config" / "servers", tmp_path, dirs_exist_ok=True)
    (tmp_path / "weather.py").rename(tmp_path / "server.py")
    monkeypatch.chdir(tmp_path)
    keep(files())  # by the app: such a recording is the default of mcptui traffic
    said = dict[str, str]()
    assert len(COMMANDS) >= 20
    up: subprocess.Popen[bytes] | None = None
    failed = []
    for command in COMMANDS:
        words = shlex.split(command)
        assert words[0] == "mcptui"
        if words[1] == "up" and "up" not in ADDONS.get("up", {}).get("command", ()):
            continue
        words = [sys.executable if word == "python" else word for word in words[1:]]
        if words[0] == "up" and "--idle" in words:
            argv = [sys.executable, "-m", "tui", *words]
            up = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            wait_until(lambda: "weather" in in_this_process(["up", "--list"]).out, what="up")
            continue
        done = in_this_process(words)
        said[command] = done.out
        if done.code != (1 if "--unchecked" in words else 0):
            failed.append((command, done.code, done.err))
    if up is not None:
        up.communicate(timeout=20)
    assert failed == []
    assert "tools/call get_weather" in said["mcptui traffic --since 10m --failed"]


def test_it_is_printed_and_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert in_this_process(["agent", "--skill"]).out == skill_text()
    assert in_this_process(["agent", "--skill", "install", "--yes"]).code == 0
    path = tmp_path / ".claude" / "skills" / "mcptui" / "SKILL.md"
    assert path.read_text() == skill_text()
    assert "is installed already" in in_this_process(["agent", "--skill", "install"]).out


def test_a_changed_skill_is_shown_and_only_replaced_after_a_yes(tmp_path: Path):
    path = tmp_path / "mcptui" / "SKILL.md"
    path.parent.mkdir()
    path.write_text(skill_text() + "My own line.\n")
    done = in_this_process(["agent", "--skill", "install", str(tmp_path)])
    assert done.code == 2 and "-My own line." in done.out
    assert "My own line." in path.read_text()
    done = in_this_process(["agent", "--skill", "install", str(tmp_path), "--yes"])
    backup = Path(done.out.rpartition("backup: ")[2].strip())
    assert path.read_text() == skill_text() and "My own line." in backup.read_text()


@pytest.mark.parametrize("words", [["copy"], ["install", "a", "b"], ["install", "nowhere"]])
def test_anything_else_is_refused_with_the_usage(words: list[str]):
    done = in_this_process(["agent", "--skill", *words])
    assert done.code == 2 and "mcptui agent --skill [install" in done.err


def test_it_is_in_the_package():
    assert os.path.isfile(ROOT / "tui" / "addons" / "agent" / "SKILL.md")
