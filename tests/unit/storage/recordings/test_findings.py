"""A finding is stored once for its rule, method and server; every entry that has it is found."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from tests.unit.storage.traffic_samples import requests
from tui.core.errors import StorageError
from tui.core.traffic import Finding, Severity
from tui.storage.recordings import findings as table
from tui.storage.recordings.findings import JudgedFindings, judged_of
from tui.storage.recordings.reader import RecordingReader
from tui.storage.recordings.writer import RecordingWriter


def found(seq: int, code: str = "unknown-id", method: str = "ping", source: str = "a") -> Finding:
    return Finding(seq, code, Severity.ERROR, f"Sentence of {seq}.", "basic", source, method)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "r.mcptrace"


def written(path: Path, *batches: list[Finding]) -> RecordingReader:
    with closing(RecordingWriter(path)) as writer:
        writer.write(requests(1, 50))
        for batch in batches:
            writer.write([], batch)
        assert not writer.problem
    return RecordingReader(path)


def rows(path: Path, name: str) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0])


def test_a_repeated_finding_is_one_row_with_a_count_and_its_first_places(path: Path):
    reader = written(path, [found(seq) for seq in range(1, 8)], [found(seq) for seq in range(9, 20)])
    with closing(reader):
        (first,), (late,) = reader.findings_of(2), reader.findings_of(19)
    assert (first.sentence, first.count, first.places) == ("Sentence of 2.", 18, (1, 2, 3, 4, 5))
    assert (late.seq, late.sentence, late.count) == (19, "", 18)
    assert (rows(path, "findings"), rows(path, "flags")) == (1, 2)


def test_findings_differ_by_rule_method_and_server(path: Path):
    four = [found(1), found(2, code="null-id"), found(3, method="x"), found(4, source="b")]
    with closing(written(path, four)) as reader:
        each = [reader.findings_of(seq) for seq in range(1, 5)]
    assert [(one.code, one.method, one.source, one.count) for (one,) in each] == [
        (one.code, one.method, one.source, 1) for one in four
    ]


def test_exactly_the_entries_with_a_finding_are_flagged(path: Path):
    reader = written(path, [found(3), found(5), found(6, "null-id"), found(6)], [found(9)])
    with closing(reader):
        flags, after = reader.flagged()
        assert sorted(seq for _, seqs in flags for seq in seqs) == [3, 5, 6, 6, 9]
        assert reader.flagged(after) == ([], after)
        assert [len(reader.findings_of(seq)) for seq in (3, 4, 5, 6, 9, 99)] == [1, 0, 1, 2, 1, 0]


def test_flags_far_apart_are_separate_ranges(path: Path):
    with closing(written(path, [found(1), found(2), found(1 << 40)])) as reader:
        assert [list(seqs) for _, seqs in reader.flagged()[0]] == [[1, 2], [1 << 40]]


def test_excess_methods_share_one_finding_per_rule(path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(table, "MAX_METHODS", 2)
    batches = [[found(seq, method=f"m{seq}")] for seq in range(1, 6)]
    with closing(written(path, *batches)) as reader:
        each = [reader.findings_of(seq)[0] for seq in range(1, 6)]
    assert [one.method for one in each] == ["m1", "m2", "", "", ""]
    assert (each[-1].source, each[-1].count) == ("", 3)
    assert rows(path, "findings") == 3


def test_an_entry_counts_once_and_keeps_all_its_sentences(path: Path):
    other = Finding(3, "unknown-id", Severity.ERROR, "Another of 3.", "basic", "a", "ping")
    with closing(written(path, [found(1), found(3), other], [found(9)])) as reader:
        (one,) = reader.findings_of(3)
    assert (one.count, one.places) == (3, (1, 3, 9))
    assert one.sentence == "Sentence of 3. Another of 3."


@pytest.mark.parametrize("places", ["", "[]", "[1]", "{}", '{"a": 1}', "[[[], 1]]", "[[1, 2, 3]]"])
def test_malformed_places_are_an_error(path: Path, places: str):
    written(path, [found(1)]).close()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE findings SET places = ?", (places,))
    with closing(RecordingReader(path)) as reader, pytest.raises(StorageError):
        reader.findings_of(1)


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
    for start in range(1, 20_001, 2_000):
        judged.add([found(seq) for seq in range(start, start + 2_000)])
    judged.keep(path, 20_000)
    assert stored(path) == (list(range(1, 20_001)), 20_000)


def test_a_recording_in_the_previous_format_is_unchanged_and_its_findings_are_not_read(made, tmp_path: Path):
    path = tmp_path / "r.mcptrace"
    written(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("DROP TABLE findings; DROP TABLE flags; PRAGMA user_version = 1")
    made(7).keep(path, 50)
    assert stored(path) == ([], 0)
    with closing(RecordingReader(path)) as reader:
        assert reader.findings_of(7) == ()


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


def test_findings_are_stored_after_a_transaction_that_could_not_be_rolled_back(made):
    judged = made(1)
    judged._connection.execute("BEGIN")
    with pytest.raises(StorageError, match="cannot be stored"):
        judged.add([found(2)])
    judged.add([found(3)])
    assert [one.seq for seq in range(4) for one in judged.of(seq)] == [1, 3]
