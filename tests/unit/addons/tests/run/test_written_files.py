"""The files that a run may write: none that the user needs, and each once."""

import os
from pathlib import Path

import pytest

from tui.addons.tests.run.written_files import require_own_files
from tui.core.errors import UsageError


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("suite.toml", "a test file"),
        ("./suite.toml", "a test file"),
        ("link.xml", "a test file"),
        ("other.mcp.toml", "a test file"),
        ("x.lock.json", "the lock of a contract"),
        ("x.mcptrace", "a recording"),
    ],
)
def test_a_test_file_a_lock_or_a_recording_is_never_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, said: str
):
    monkeypatch.chdir(tmp_path)
    Path("link.xml").symlink_to("suite.toml")
    Path("x.lock.json").write_text('{ "mcptui_lock": 1 }')
    with pytest.raises(UsageError, match=f"--report {name}: this is {said}"):
        require_own_files([("--report", name)], [tmp_path / "suite.toml"])


def test_two_reports_do_not_share_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=r"--record \./a: the same file as --report a"):
        require_own_files([("--report", "a"), ("--record", "./a")], [])
    require_own_files([("--report", "a"), ("--report", "b")], [])
    os.mkfifo("pipe")
    require_own_files([("--report", "pipe")], [])
    require_own_files([("--report", "/dev/null"), ("--report", "/dev/null")], [])
