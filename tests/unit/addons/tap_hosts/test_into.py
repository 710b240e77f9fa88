"""`mcptui tap --into HOST SERVER` and `--out`, on real files."""

import json
import os
import stat
from pathlib import Path

import pytest

from tui.commands.config.host_files import launcher
from tui.commands.tap.tap import parse_tap, tap

KEY = "hunter2hunter2hunter2"
SERVERS = """\
{
  "mcpServers": {
    "time": {"command": "uvx", "args": ["mcp-server-time", "--api-key", "hunter2hunter2hunter2"]},
    "far": {"url": "https://example.com/mcp"}
  }
}
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Cursor's file, in a separate home directory."""
    (tmp_path / "project").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path / "project")
    path = tmp_path / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.write_text(SERVERS)
    path.chmod(0o640)
    return path


def run(*words: str) -> int:
    return tap(parse_tap(words))


def test_a_tap_is_added_to_an_entry_and_removed_again(file: Path, capsys: pytest.CaptureFixture[str]):
    assert run("--into", "cursor", "time", "--yes") == 0
    entry = json.loads(file.read_text())["mcpServers"]["time"]
    start = [*launcher(), "tap", "--name", "time", "--", "uvx"]
    assert [entry["command"], *entry["args"]] == [*start, "mcp-server-time", "--api-key", KEY]
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert run("--into", "cursor", "time", "--yes") == 0
    assert "already goes through the tap" in capsys.readouterr().out
    assert run("--out", "cursor", "time", "--yes") == 0
    assert file.read_text() == SERVERS


def test_the_preview_masks_secrets_and_the_copy_is_private(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert run("--into", "cursor", "time", "--yes") == 0
    shown = capsys.readouterr()
    assert "- uvx mcp-server-time --api-key" in shown.out
    assert KEY not in shown.out + shown.err
    kept = list((tmp_path / "state" / "mcptui" / "tapped").iterdir())
    assert {stat.S_IMODE(one.stat().st_mode) for one in kept} == {0o600}
    assert SERVERS in [one.read_text() for one in kept]


def test_nothing_is_written_without_confirmation(file: Path, capsys: pytest.CaptureFixture[str]):
    assert run("--into", "cursor", "time", "--dry-run") == 0
    assert run("--into", "cursor", "time") == 2
    assert "Add --yes" in capsys.readouterr().err
    assert file.read_text() == SERVERS


def test_changes_elsewhere_in_the_file_are_kept_when_a_tap_is_removed(file: Path):
    run("--into", "cursor", "time", "--yes")
    file.write_text(file.read_text().replace("example.com", "example.org"))
    assert run("--out", "cursor", "time", "--yes") == 0
    assert file.read_text() == SERVERS.replace("example.com", "example.org")


def test_a_reformatted_file_is_restored_from_its_command_line(file: Path):
    run("--into", "cursor", "time", "--yes")
    file.write_text(json.dumps(json.loads(file.read_text()), indent=4))
    assert run("--out", "cursor", "time", "--yes") == 0
    assert json.loads(file.read_text()) == json.loads(SERVERS)


def test_an_entry_changed_meanwhile_is_not_modified(file: Path, capsys: pytest.CaptureFixture[str]):
    run("--into", "cursor", "time", "--yes")
    changed = file.read_text().replace('"mcp-server-time"', '"mcp-server-time", "--verbose"')
    file.write_text(changed)
    assert run("--out", "cursor", "time", "--yes") == 2
    assert "its command or args changed since --into" in capsys.readouterr().err
    assert file.read_text() == changed


def test_a_tap_written_by_hand_can_be_removed(file: Path, capsys: pytest.CaptureFixture[str]):
    by_hand = SERVERS.replace('"uvx", "args": [', '"mcptui", "args": ["tap", "--", "uvx", ')
    file.write_text(by_hand)
    assert run("--out", "cursor", "time", "--yes") == 0
    assert "no record of the original" in capsys.readouterr().out
    assert file.read_text() == SERVERS


def test_a_symlink_is_shown_and_not_followed_with_yes(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    real = tmp_path / "dotfiles.json"
    os.replace(file, real)
    file.symlink_to(real)
    assert run("--into", "cursor", "time", "--yes") == 2
    shown = capsys.readouterr()
    assert f"a symbolic link to {real}" in shown.out
    assert "which --yes does not follow" in shown.err
    assert real.read_text() == SERVERS
    assert run("--into", str(real), "time", "--yes") == 0
    assert file.is_symlink()


def test_a_server_in_two_files_must_be_named_with_its_file(file: Path, capsys: pytest.CaptureFixture[str]):
    Path(".cursor").mkdir()
    Path(".cursor/mcp.json").write_text(SERVERS)
    assert run("--into", "cursor", "time", "--yes") == 2
    assert "time is in several files of Cursor" in capsys.readouterr().err
    assert run("--into", ".cursor/mcp.json", "time", "--yes") == 0
    assert run("--out", "cursor", "time", "--yes") == 0
    assert (file.read_text(), Path(".cursor/mcp.json").read_text()) == (SERVERS, SERVERS)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--into", "curser", "time"], "Did you mean “cursor”?"),
        (["--into", "cursor"], "Servers of Cursor: time, far."),
        (["--into", "cursor", "tim"], "Cursor has no server “tim”. Its servers: time, far."),
        (["--into", "zed", "time"], "no configuration of Zed found (looked for"),
        (["--into", "cursor", "--out", "cursor", "time"], "cannot be combined"),
        (["--into", "cursor", "far"], "mcptui tap --listen 8766 --to https://example.com/mcp"),
    ],
)
def test_what_cannot_be_tapped_is_refused_with_what_can_be_done(
    file: Path, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
):
    assert run(*words) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [("example.com", "example.org", 0), ('"mcp-server-time"', '"another"', 2)],
    ids=["elsewhere", "in the entry"],
)
def test_changes_to_the_file_during_the_question_are_respected(
    file: Path, old: str, new: str, code: int, monkeypatch: pytest.MonkeyPatch
):
    def confirm(question: str, *, yes: bool) -> bool:
        file.write_text(SERVERS.replace(old, new))
        return True

    monkeypatch.setattr("tui.commands.config.host_files.confirm", confirm)
    assert run("--into", "cursor", "time") == code
    changed = file.read_text()
    assert new in changed and ("--name" in changed) is (code == 0)


def test_the_project_server_is_the_one_of_claude_code(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    mine = {"time": {"command": "mine", "args": []}}
    tree = {"mcpServers": {"time": {"command": "all"}}, "projects": {os.getcwd(): {"mcpServers": mine}}}
    (tmp_path / ".claude.json").write_text(json.dumps(tree))
    assert run("--into", "claude", "time", "--dry-run") == 0
    shown = capsys.readouterr().out
    assert f"project {os.getcwd()}" in shown
    assert "- mine" in shown


def test_a_project_file_gets_a_note_about_other_users(file: Path, capsys: pytest.CaptureFixture[str]):
    Path(".mcp.json").write_text(SERVERS)
    assert run("--into", "claude", "time", "--dry-run") == 0
    assert "note: this file belongs to the project" in capsys.readouterr().out


def test_a_file_that_is_not_json_is_reported_with_its_line(file: Path, capsys: pytest.CaptureFixture[str]):
    file.write_text('{\n  "mcpServers": nothing\n}')
    assert run("--into", "cursor", "time") == 2
    assert "mcp.json:2: is not JSON" in capsys.readouterr().err
