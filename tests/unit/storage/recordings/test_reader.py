"""A recording is read as it was written; damaged and other files are reported."""

import os
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.storage.any_traffic import any_entries
from tests.unit.storage.damage import overwrite
from tests.unit.storage.traffic_samples import request, requests
from tui.core.errors import StorageError
from tui.core.traffic import BodyTerm, Cause, Direction, Entry, Kind, Redaction
from tui.storage.recordings.body_search import LARGE
from tui.storage.recordings.database import APPLICATION_ID
from tui.storage.recordings.reader import LIST_COLUMNS, RecordingReader
from tui.storage.recordings.writer import RecordingWriter

text = st.text(max_size=20)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=5,
)
numbers = st.integers(0, 2**63 - 1)
entries = any_entries(text, pair=numbers, root=numbers, detail=st.dictionaries(text, json_values, max_size=3))


def recorded(path: Path, what: list[Entry], **more) -> Path:
    writer = RecordingWriter(path, **more)
    writer.write(what)
    assert not writer.problem
    writer.close()
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "r.mcptrace"


@given(entry=entries)
def test_an_entry_survives_a_round_trip(entry: Entry, tmp_path_factory: pytest.TempPathFactory):
    path = recorded(tmp_path_factory.mktemp("r") / "r.mcptrace", [entry])
    with closing(RecordingReader(path)) as reader:
        assert reader.entry(1) == entry
        (column,) = reader.columns(0, 10)
        assert (column.detail, column.cause, column.body, column.redactions) == (
            entry.detail,
            entry.cause,
            b"",
            (),
        )


def test_column_rows_equal_the_entries(path: Path):
    recorded(path, [request(1, cause=Cause(3, 1, "call-7")), request(2, tool="t")])
    with closing(RecordingReader(path)) as reader:
        rows = [dict(zip(LIST_COLUMNS, row, strict=True)) for row in reader.column_rows(0, 10)]
        first, second = reader.columns(0, 10)
    assert (rows[0]["turn"], rows[0]["step"], rows[0]["call"]) == (3, 1, "call-7")
    assert (rows[1]["turn"], rows[1]["step"], rows[1]["call"], rows[1]["tool"]) == (None, None, None, "t")
    for row, entry in zip(rows, (first, second), strict=True):
        for name in LIST_COLUMNS[:13]:
            assert row[name] == getattr(entry, name)


def test_columns_are_read_in_pages(path: Path):
    recorded(path, requests(1, 700))
    with closing(RecordingReader(path)) as reader:
        assert [entry.seq for entry in reader.columns(698, 5)] == [699, 700]
        assert [row[0] for row in reader.column_rows(0, 3)] == [1, 2, 3]
        assert reader.columns(700, 5) == []


def test_entries_are_read_in_pages_without_large_bodies(path: Path):
    marked = request(3, b"abc")._replace(redactions=(Redaction(0, 3, "key"),))
    recorded(
        path, [request(1, b"x" * 9), request(2, b"x" * 10), marked, request(4)._replace(body=b"", size=0)]
    )
    with closing(RecordingReader(path)) as reader:
        assert [one.body for one in reader.whole(0, 2, 9)] == [b"x" * 9, b""]
        assert reader.whole(2, 9, 9) == [reader.entry(3), reader.entry(4)]
        assert reader.whole(4, 9, 9) == []


def test_part_of_a_body_is_read_without_the_rest(path: Path):
    body = bytes(range(256)) * 20_000
    recorded(path, [request(1, body)])
    with closing(RecordingReader(path)) as reader:
        assert reader.body(1) == body and reader.body(1, 1000, 10) == body[1000:1010]
        assert reader.body(1, len(body) + 5, 3) == b"" and reader.body(1, len(body) - 1, 9) == body[-1:]
        assert reader.body(2) == b""
        assert reader.entry(1, body_limit=7).body == body[:7] and reader.entry(2) is None


def test_metadata_is_stored_with_the_recording(path: Path):
    recorded(path, [], meta={"program": "mcptui", "pid": "7"})
    with closing(RecordingReader(path)) as reader:
        assert reader.meta() == {"program": "mcptui", "pid": "7"} and reader.span() == (0, 0)


# ---- searching ---------------------------------------------------------------------------------------


def expected(terms: list[BodyTerm], bodies: dict[int, bytes]) -> list[frozenset[int]]:
    found = []
    for term in terms:
        pattern = term.needle if term.regex else re.escape(term.needle)
        compiled = re.compile(pattern, re.IGNORECASE if term.fold else 0)
        texts = {seq: body.decode("utf-8", "replace") for seq, body in bodies.items()}
        found.append(frozenset(seq for seq, text in texts.items() if compiled.search(text)))
    return found


def test_regular_expressions_are_matched_against_each_body_separately(path: Path):
    stored = {1: b"start end", 2: b"xstart\nendx", 3: b"START END"}
    recorded(path, [request(seq, body) for seq, body in stored.items()])
    terms = [
        BodyTerm("^start", regex=True, fold=False),
        BodyTerm("end$", regex=True),
        BodyTerm("t.e", regex=True),
    ]
    with closing(RecordingReader(path)) as reader:
        assert list(reader.search(terms, 1, 3)) == expected(terms, stored)
        assert reader.search([BodyTerm("start")], 2, 2) == [frozenset({2})]
        with pytest.raises(re.error):
            reader.search([BodyTerm("(", regex=True)], 1, 3)


def test_matches_across_a_window_edge_of_a_large_body_are_found(path: Path):
    body = bytearray(b"." * (3 * LARGE))
    body[LARGE - 3 : LARGE + 3] = b"Needle"
    recorded(path, [request(1, bytes(body)), request(2, b"needle"), request(3, b"n")])
    with closing(RecordingReader(path)) as reader:
        terms = [BodyTerm("needle"), BodyTerm("needle", fold=False), BodyTerm("n[e]+dle", regex=True)]
        assert reader.search(terms, 1, 3) == [{1, 2}, {2}, {1, 2}]


# ---- files that are not recordings -------------------------------------------------------------------


def test_a_missing_file_is_reported(path: Path):
    with pytest.raises(StorageError, match="recording not found"):
        RecordingReader(path)
    assert not path.exists()


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "the file is empty"),
        ("PRAGMA journal_mode = WAL", "the file is empty"),  # killed during creation
        ("CREATE TABLE entries (seq)", "not a recording"),
        (b"hello", "not a recording, or damaged"),
        (b'{"jsonrpc":"2.0"}\n' * 500, "not a recording, or damaged"),
        (os.urandom(10_000), "not a recording, or damaged"),
        (f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = 99; CREATE TABLE entries (seq)",
         r"newer mcptui .*99.* Update mcptui"),
    ],
)  # fmt: skip
def test_a_file_that_is_not_a_recording_is_reported(path: Path, content: bytes | str, why: str):
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(content)
    with pytest.raises(StorageError, match=why):
        RecordingReader(path)


@pytest.mark.parametrize("seq", [2**31, 2**62, 2**63 - 1])
def test_an_entry_with_an_enormous_number_is_read_like_any_other(path: Path, seq: int):
    recorded(path, requests(1, 3))
    with closing(sqlite3.connect(path)) as connection:
        for table in ("entries", "bodies"):
            connection.execute(f"UPDATE {table} SET seq = ? WHERE seq = 3", (seq,))
        connection.commit()
    with closing(RecordingReader(path)) as reader:
        found = reader.entry(seq)
        assert found is not None and found.body and found.body[1:4] == reader.body(seq, 1, 3)
        assert reader.damage == "" and reader.span() == (1, seq)


def test_a_finished_recording_can_be_read_from_a_read_only_folder(path: Path):
    recorded(path, requests(1, 3))
    path.chmod(0o400)
    path.parent.chmod(0o500)
    try:
        with closing(RecordingReader(path)) as reader:
            assert reader.span() == (1, 3)
    finally:
        path.parent.chmod(0o700)


def test_a_reader_cannot_write(path: Path):
    recorded(path, requests(1, 3))
    with closing(RecordingReader(path)) as reader, pytest.raises(sqlite3.OperationalError, match="readonly"):
        reader._connection.execute("DELETE FROM entries")


def tear(path: Path, mark: bytes) -> None:
    """Damage the first page filled with one byte: an overflow page of a large body."""
    data = path.read_bytes()
    pages = (at for at in range(0, len(data), 4096) if data[at + 4 : at + 4096] == mark * 4092)
    overwrite(path, next(pages), fill=b"\xff")


def test_a_large_body_that_cannot_be_read_completely_is_lost(path: Path):
    recorded(path, [*requests(1, 3), request(4, b"Q" * 20_000), request(5, b"R" * 20_000)])
    tear(path, b"Q")
    with closing(RecordingReader(path)) as reader:
        assert [seq for seq in range(1, 6) if reader.entry(seq).is_body_lost] == [4]
        assert reader.damage == "the recording is damaged: part of it could not be read"


@pytest.mark.parametrize("size", [20_000, 1_000_000])
def test_a_search_records_that_it_skipped_a_body(path: Path, size: int):
    recorded(path, [*requests(1, 3), request(4, b"Q" * size)])
    with closing(RecordingReader(path)) as reader:
        reader.search([BodyTerm("zzz")], 1, 4)
        assert reader.damage == ""
    tear(path, b"Q")
    with closing(RecordingReader(path)) as reader:
        assert reader.search([BodyTerm("zzz")], 1, 4) == [frozenset()]
        assert reader.damage


@pytest.mark.parametrize("detail", ["{", "[1]", "5", "[" * 5000 + "]" * 5000])
def test_a_detail_that_is_not_an_object_is_lost_and_reported(path: Path, detail: str):
    recorded(path, requests(1, 3))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE entries SET detail = ? WHERE seq = 2", (detail,))
    with closing(RecordingReader(path)) as reader:
        assert reader.entry(2).detail == {"detail_lost": True}
        assert reader.damage == "the recording is damaged: part of it could not be read"


def test_the_maximum_number_of_entries_is_estimated_from_the_file_size(tmp_path: Path):
    path = tmp_path / "r.mcptrace"
    writer = RecordingWriter(path)
    writer.write([Entry(seq, 0, 0, "", Direction.NONE, Kind.EVENT) for seq in range(5000)])
    writer.close()
    with closing(RecordingReader(path)) as reader:
        assert 5000 <= reader.most_entries() <= path.stat().st_size
