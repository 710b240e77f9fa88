"""Findings judged later are read like stored ones and replace them in the file."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from tests.unit.storage.recordings.test_findings import OLD, found, written
from tui.core.errors import StorageError
from tui.core.traffic import Finding
from tui.storage.recordings.findings import JudgedFindings, judged_of
from tui.storage.recordings.reader import RecordingReader


@pytest.fixture
def made() -> Iterator[Callable[..., JudgedFindings]]:
    """Yield a function that returns findings about some entries; they are closed at the end."""
    with ExitStack() as stack:

        def make(*seqs: int) -> JudgedFindings:
            judged = stack.enter_context(closing(JudgedFindings()))
            judged.add([found(seq) for seq in seqs])
            return judged

        yield make


def stored(path: Path) -> tuple[list[int], int]:
    with closing(RecordingReader(path)) as reader:
        seqs = sorted(seq for _, each in reader.flagged()[0] for seq in each)
        return seqs, judged_of(reader.meta())


def test_judged_findings_can_be_read_before_they_are_stored(made):
    judged = made(2, 5)
    judged.add([found(7)])
    assert [one.seq for seq in range(9) for one in judged.of(seq)] == [2, 5, 7]


def test_judged_findings_replace_those_in_the_file(made, tmp_path: Path):
    path = tmp_path / "r.mcptrace"
    written(path, [found(1), found(9)]).close()
    made(2, 5).keep(path, 50)
    assert stored(path) == ([2, 5], 50)


def test_a_flood_of_findings_is_stored(made, tmp_path: Path):
    path = tmp_path / "r.mcptrace"
    written(path, [found(1)]).close()
    judged = made()
    for start in range(1, 120_001, 2_000):
        judged.add([found(seq) for seq in range(start, start + 2_000)])
    judged.keep(path, 120_000)
    assert stored(path) == (list(range(1, 120_001)), 120_000)


def test_a_recording_in_the_previous_format_is_unchanged(made, tmp_path: Path):
    path = tmp_path / "r.mcptrace"
    written(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(OLD)
    made(7).keep(path, 50)
    assert stored(path) == ([2, 4], 0)


def test_a_failure_keeps_the_stored_findings(made, tmp_path: Path):
    path = tmp_path / "r.mcptrace"
    written(path, [found(1)]).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            "CREATE TRIGGER no BEFORE INSERT ON flags BEGIN SELECT raise(ABORT, 'no'); END;"
        )
    with pytest.raises(StorageError):
        made(7).keep(path, 50)
    assert stored(path) == ([1], 0)


def test_at_first_there_are_no_findings(made):
    assert not made().of(1)
    assert isinstance(made(1).of(1)[0], Finding)


def test_a_full_disk_is_a_storage_error(made):
    judged = made(1)
    judged._connection.execute("PRAGMA max_page_count = 4")
    with pytest.raises(StorageError, match="cannot be stored"):
        for start in range(2, 9_000, 1_000):
            judged.add([found(seq) for seq in range(start, start + 1_000)])
    assert judged.of(1)
