"""A recording is read into columns, and what passes a filter is picked from it."""

import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.unit.storage.damage import leaves, overwrite
from tests.unit.storage.traffic_samples import request, requests
from tui.commands.recordings import open_entries
from tui.commands.trace_reading import Selection, query_of
from tui.core.errors import StorageError, UsageError
from tui.core.traffic import Cause, Entry
from tui.storage.traffic_writer import RecordingWriter
from tui.trace.frames import Frames

SECOND = 1_000_000_000
LONG_AGO = 1_700_000_000 * SECOND


def recorded(path: Path, *entries: Entry) -> Path:
    with closing(RecordingWriter(path)) as writer:
        writer.write(entries)
    return path


def passing(path: Path, expression: str) -> list[int]:
    with open_entries(path) as recording, closing(Selection(recording, query_of(expression))) as selection:
        return [entry.seq for entry in selection.entries()]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return recorded(
        tmp_path / "r.mcptrace",
        *(
            request(seq, mono_ns=seq * 60 * SECOND, wall_ns=LONG_AGO + seq * 60 * SECOND, cause=Cause(seq))
            for seq in range(1, 11)
        ),
    )


def test_the_last_minutes_of_what_is_over_are_counted_from_its_end(path: Path):
    assert passing(path, "since:5m") == [5, 6, 7, 8, 9, 10]
    assert passing(path, "until:8m") == [1, 2]


def test_the_last_minutes_of_what_is_still_recorded_are_counted_from_now(tmp_path: Path):
    path = tmp_path / "live.mcptrace"
    with closing(RecordingWriter(path)) as writer:
        writer.write([request(1, wall_ns=LONG_AGO)])
        assert passing(path, "since:5m") == []


def test_an_empty_recording_has_no_last_minutes(tmp_path: Path):
    assert passing(recorded(tmp_path / "r.mcptrace"), "since:5m") == []


def test_the_columns_are_those_of_the_entries(path: Path):
    with open_entries(path) as recording, closing(Selection(recording, query_of(""))) as selection:
        expected = Frames()
        for entry in recording.entries():
            expected.append(entry)
        for name in ("mono", "kind", "direction", "source", "method", "turn", "ident", "size", "outcome"):
            assert getattr(selection.frames, name) == getattr(expected, name)
        selection.read_on()
        assert len(selection.frames) == 10


def test_an_expression_is_sought_in_the_bodies(path: Path):
    assert passing(path, '/"id":[37],/') == [3, 7]


def test_what_passes_comes_before_the_word_that_not_all_bodies_were_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    path = recorded(tmp_path / "r.mcptrace", request(1, b"b1c"), request(2))
    with open_entries(path) as recording, closing(Selection(recording, query_of("/b[0-9]c/"))) as selection:
        passing = selection.entries()
        assert next(passing).seq == 1
        with pytest.raises(UsageError, match="searched only in pieces, no process could be started"):
            next(passing)


def test_a_value_that_no_entry_has_is_an_error_that_names_the_file(path: Path):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE entries SET turn = -5 WHERE seq = 4")
        connection.commit()
    with pytest.raises(StorageError, match="holds a value that has no meaning"):
        passing(path, "")


def test_a_damaged_recording_is_read_around_its_damage(tmp_path: Path):
    path = recorded(tmp_path / "r.mcptrace", *requests(1, 2000))
    overwrite(path, leaves(path, "entries")[3], leaves(path, "bodies")[8])
    with open_entries(path) as recording, closing(Selection(recording, query_of(""))) as selection:
        whole = list(selection.whole())
        assert [entry.seq for entry in whole] == list(range(1, 2001))
        assert sum(not entry.body for entry in whole) in range(50, 400)
        assert "of its entries could not be read" in recording.reader.damage
        assert len(list(selection.findings())) > 0
