"""The files that a run writes: none that the user needs, each once, and the copy of its recording."""

import os
from pathlib import Path

import pytest

from tui.addons.tests.run.written_files import RECORD, copy_recording, require_own_files
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
    with pytest.raises(UsageError, match=r"--report \./a: the same file as --report a"):
        require_own_files([("--report", "a"), ("--report", "./a")], [])
    require_own_files([("--report", "a"), ("--report", "b")], [])
    os.mkfifo("pipe")
    require_own_files([("--report", "pipe")], [])
    require_own_files([("--report", "/dev/null"), ("--report", "/dev/null")], [])


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("x.txt", "ends in .mcptrace"),
        ("no/x.mcptrace", "cannot write the recording"),
        ("mine.mcptrace", "not a recording"),
    ],
)
def test_a_recording_that_cannot_be_written_is_an_error_before_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, said: str
):
    monkeypatch.chdir(tmp_path)
    Path("mine.mcptrace").write_text("mine")
    with pytest.raises(UsageError, match=said):
        require_own_files([(RECORD, name)], [])


def test_the_recording_is_copied_over_an_older_one(tmp_path: Path):
    source, target = tmp_path / "a.mcptrace", tmp_path / "b.mcptrace"
    source.write_bytes(b"new")
    target.write_bytes(b"SQLite format 3\0older")
    require_own_files([(RECORD, str(target))], [])
    assert copy_recording(source, target, is_off=False) == ""
    assert target.read_bytes() == b"new" and sorted(tmp_path.iterdir()) == [source, target]


def test_a_copy_that_fails_says_why_and_leaves_no_part_of_it(tmp_path: Path):
    target = tmp_path / "b.mcptrace"
    assert copy_recording(None, target, is_off=False).endswith("nothing was recorded.")
    assert copy_recording(None, target, is_off=True).endswith("Set record = true in [traffic].")
    said = copy_recording(tmp_path / "missing.mcptrace", target, is_off=False)
    assert "cannot write the recording: No such file" in said
    assert list(tmp_path.iterdir()) == []
