"""Files of somebody else: only plain tables are read, and every read can be stopped."""

import asyncio
import os
import signal
import sqlite3
import tracemalloc
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from tests.conftest import until
from tests.unit.storage.foreign_files import ENDLESS, become_view, change, rewrite_schema
from tests.unit.storage.traffic_samples import requests
from tui.commands.recordings import about
from tui.core.errors import StorageError
from tui.storage.files import foreign_file
from tui.storage.files.foreign_file import in_reading_thread, time_limit, until_set
from tui.storage.files.sqlite_file import connect
from tui.storage.recordings.database import keep_note, storage_errors
from tui.storage.recordings.folder import KeptRecording
from tui.storage.recordings.reader import RecordingReader
from tui.storage.recordings.writer import RecordingWriter

TABLES = ("meta", "entries", "bodies", "findings", "flags", "notes")
TRIGGER = f"CREATE TRIGGER more AFTER INSERT ON notes BEGIN SELECT x FROM ({ENDLESS} SELECT x FROM n); END"
NEVER_ENDS = f"{ENDLESS} SELECT max(x) FROM n"


def recorded(folder: Path) -> Path:
    path = folder / "one.mcptrace"
    writer = RecordingWriter(path)
    writer.write(requests(1, 3))
    writer.close()
    return path


def refusal(path: Path) -> str:
    with pytest.raises(StorageError) as caught:
        RecordingReader(path)
    return str(caught.value)


@pytest.mark.parametrize("table", TABLES)
def test_a_recording_with_a_view_for_a_table_is_refused(tmp_path: Path, table: str):
    path = recorded(tmp_path)
    become_view(path, table)
    assert "contains a view, which mcptui does not write" in refusal(path)
    assert "contains a view" in about(KeptRecording(path, 1, False), with_servers=True).problem


@pytest.mark.parametrize(
    "script",
    [
        "ALTER TABLE entries ADD COLUMN more TEXT GENERATED ALWAYS AS (zeroblob(1000000000))",
        "CREATE TABLE more (one TEXT CHECK (one LIKE '%a%a%a%a%a%a%a%a%a%a%b'))",
        "CREATE TABLE more (one TEXT DEFAULT (zeroblob(1000000000)))",
        "CREATE VIRTUAL TABLE more USING fts5(text)",
        f"CREATE VIEW more AS {NEVER_ENDS}",
    ],
)
def test_what_mcptui_does_not_write_is_refused(tmp_path: Path, script: str):
    path = recorded(tmp_path)
    change(path, script)
    assert "which mcptui does not write" in refusal(path)


@pytest.mark.parametrize(
    "sql", [b"CREATE TABLE notes (seq, marked, text)", "CREATE/**/TABLE notes (seq, m, t)"]
)
def test_a_schema_in_another_form_is_refused(tmp_path: Path, sql: str | bytes):
    path = recorded(tmp_path)
    rewrite_schema(path, "notes", sql)
    assert "which mcptui does not write" in refusal(path)


def test_more_tables_than_any_recording_has_are_refused(tmp_path: Path):
    path = recorded(tmp_path)
    change(path, "".join(f"CREATE TABLE more{number} (one);" for number in range(foreign_file.MOST_OBJECTS)))
    assert "too many tables" in refusal(path)


def test_a_recording_with_a_trigger_is_read_but_not_changed(tmp_path: Path):
    path = recorded(tmp_path)
    change(path, TRIGGER)
    with closing(RecordingReader(path)) as reader:
        assert len(reader.columns(0, 10)) == 3
    with pytest.raises(StorageError, match="contains a trigger"):
        keep_note(path, 1, marked=True)


def test_an_older_recording_is_still_read(tmp_path: Path):
    path = recorded(tmp_path)
    change(path, "PRAGMA user_version = 1; CREATE TABLE more (one INTEGER PRIMARY KEY, two TEXT UNIQUE)")
    with closing(RecordingReader(path)) as reader:
        assert len(reader.columns(0, 10)) == 3


def stopped() -> Event:
    stop = Event()
    stop.set()
    return stop


@pytest.mark.parametrize(
    ("limit", "why"),
    [(lambda: time_limit(0.01), "takes too long"), (lambda: until_set(stopped()), "cancelled")],
    ids=["time limit", "cancelled"],
)
def test_a_statement_ends_at_a_limit(tmp_path: Path, limit: Callable[[], Any], why: str):
    path = recorded(tmp_path)
    with closing(connect(path, "ro")) as connection:
        with limit(), pytest.raises(StorageError, match=why), storage_errors(path):
            connection.execute(NEVER_ENDS).fetchall()


def test_ctrl_c_ends_a_statement(tmp_path: Path, monkeypatch):
    path, sent = recorded(tmp_path), list[int]()

    def press() -> str:
        if not sent:
            sent.append(1)
            os.kill(os.getpid(), signal.SIGINT)
        return ""

    with closing(connect(path, "ro")) as connection, foreign_file._until(press):
        with pytest.raises(KeyboardInterrupt), storage_errors(path):
            connection.execute(NEVER_ENDS).fetchall()


async def test_cancelling_ends_the_statement_in_the_thread(tmp_path: Path):
    path, begun, ended = recorded(tmp_path), Event(), Event()

    def work() -> None:
        with closing(connect(path, "ro")) as connection:
            begun.set()
            try:
                connection.execute(NEVER_ENDS).fetchall()
            except sqlite3.OperationalError:
                ended.set()

    task = asyncio.create_task(in_reading_thread(work))
    await until(begun.is_set, what="the thread reads")
    task.cancel()
    await until(ended.is_set, what="the statement ends")


LARGE = "hex(zeroblob(6000000))"


@pytest.mark.parametrize(
    "script",
    [
        f"UPDATE entries SET method = {LARGE} WHERE seq = 2",
        f"UPDATE entries SET source = {LARGE} WHERE seq = 2",
        f"UPDATE entries SET detail = json_object('a', {LARGE}) WHERE seq = 2",
    ],
)
def test_an_entry_with_a_huge_value_counts_as_damaged(tmp_path: Path, script: str):
    path = recorded(tmp_path)
    change(path, script)
    with closing(RecordingReader(path)) as reader:
        assert [entry.seq for entry in reader.columns(0, 9)] == [1]
        assert reader.damage == "the recording is damaged: only the entries up to 1 could be read"


@pytest.mark.parametrize("column", ["source", "detail"])
def test_a_list_of_entries_never_loads_a_huge_value(tmp_path: Path, column: str):
    path = recorded(tmp_path)
    change(path, f"UPDATE entries SET {column} = {LARGE}")
    with closing(RecordingReader(path)) as reader:
        tracemalloc.start()
        for read in (reader.column_rows, reader.columns):
            read(0, 9)
        reader.sources(9)
        reader.entry(2)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert most < 1_000_000


def test_a_huge_value_that_describes_a_recording_is_not_loaded(tmp_path: Path):
    path = recorded(tmp_path)
    change(path, f"INSERT INTO meta VALUES ('program', {LARGE})")
    with closing(RecordingReader(path)) as reader:
        assert reader.meta() == {}
        assert [entry.seq for entry in reader.columns(0, 9)] == [1, 2, 3]


def test_a_file_that_ends_in_its_schema_is_damaged(tmp_path: Path):
    path = recorded(tmp_path)
    path.write_bytes(path.read_bytes()[:2000])
    assert "not a recording, or damaged" in refusal(path)
