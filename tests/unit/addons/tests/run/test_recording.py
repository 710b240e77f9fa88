"""The copy of a recording that `--record` keeps."""

from pathlib import Path

import pytest

from tui.addons.tests.run.recording import RecordedCopy
from tui.core.errors import UsageError


def test_the_recording_is_copied_over_an_older_one(tmp_path: Path):
    source, target = tmp_path / "a.mcptrace", tmp_path / "b.mcptrace"
    source.write_bytes(b"new")
    target.write_bytes(b"SQLite format 3\0older")
    copy = RecordedCopy(str(target))
    copy.source = source
    assert copy.write() == ""
    assert target.read_bytes() == b"new" and sorted(tmp_path.iterdir()) == [source, target]


@pytest.mark.parametrize(
    ("name", "said"), [("x.txt", "ends in .mcptrace"), ("no/x.mcptrace", "cannot write")]
)
def test_a_file_that_cannot_be_written_is_an_error_before_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, said: str
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=said):
        RecordedCopy(name)


def test_a_copy_that_fails_says_why_and_leaves_no_part_of_it(tmp_path: Path):
    copy = RecordedCopy(str(tmp_path / "b.mcptrace"))
    assert copy.write().endswith("nothing was recorded.")
    copy.is_off = True
    assert copy.write().endswith("Set record = true in [traffic].")
    copy.source = tmp_path / "missing.mcptrace"
    assert "cannot write the recording: No such file" in copy.write()
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_not_a_recording_is_not_replaced(tmp_path: Path):
    mine = tmp_path / "mine.mcptrace"
    mine.write_text("mine")
    with pytest.raises(UsageError, match="not a recording"):
        RecordedCopy(str(mine))
