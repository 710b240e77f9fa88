"""Written entries survive kill -9, readers and the cap; a failing disk is reported."""

import os
import signal
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.conftest import wait_until
from tests.unit.storage.faulty_disk import FaultyDisk
from tests.unit.storage.traffic_samples import request, requests
from tui.core.traffic import Cause, EntryNote, Finding, Kind, Severity
from tui.storage.files.live_lock import is_live
from tui.storage.recordings import writer as traffic_writer
from tui.storage.recordings.database import notes_of
from tui.storage.recordings.findings import judged_of
from tui.storage.recordings.reader import RecordingReader
from tui.storage.recordings.writer import RecordingWriter

ROOT = Path(__file__).resolve().parents[4]

ENDLESS = """
import sys
from pathlib import Path
from typing import Any
from tests.unit.storage.traffic_samples import requests
from tui.storage.recordings.writer import RecordingWriter
writer = RecordingWriter(Path(sys.argv[1]))
seq = 1
while True:
    writer.write(requests(seq, 50, 300))
    seq += 50
    print(seq - 1, flush=True)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "recordings" / "r.mcptrace"


def seqs(path: Path) -> list[int]:
    with closing(RecordingReader(path)) as reader:
        return [entry.seq for entry in reader.columns(0, 1_000_000)]


@pytest.mark.parametrize("round_", range(3))
def test_kill_9_loses_no_written_entries(path: Path, round_: int):
    process = subprocess.Popen([sys.executable, "-c", ENDLESS, str(path)], cwd=ROOT, stdout=subprocess.PIPE)
    with process:
        acknowledged = 0
        for _ in range(20 + 7 * round_):
            acknowledged = int(process.stdout.readline())
        os.kill(process.pid, signal.SIGKILL)
    assert not is_live(path)
    stored = seqs(path)
    assert stored == list(range(1, len(stored) + 1)) and len(stored) >= acknowledged
    with closing(RecordingReader(path)) as reader:
        assert reader.body(acknowledged).startswith(b'{"id":%d,' % acknowledged)


def test_a_process_killed_during_creation_leaves_no_partial_schema(path: Path):
    for _ in range(3):
        process = subprocess.Popen(
            [sys.executable, "-c", ENDLESS, str(path)], cwd=ROOT, stdout=subprocess.PIPE
        )
        with process:
            wait_until(path.exists)
            os.kill(process.pid, signal.SIGKILL)
        with closing(sqlite3.connect(path)) as connection:
            tables = {
                name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type='table'")
            }
        assert tables in (set(), {"meta", "entries", "bodies", "findings", "flags", "notes"})
        for file in path.parent.iterdir():
            file.unlink()


def test_the_file_is_private_and_single_once_it_is_closed(path: Path):
    old = os.umask(0)
    try:
        writer = RecordingWriter(path)
        writer.write(requests(1, 3))
        modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    finally:
        os.umask(old)
    writer.close()
    assert set(modes.values()) == {0o600} and len(modes) == 4
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert os.listdir(path.parent) == [path.name] and seqs(path) == [1, 2, 3]


def test_a_reader_sees_new_entries_while_they_are_written(path: Path):
    writer = RecordingWriter(path)
    writer.write(requests(1, 600))
    with closing(RecordingReader(path)) as reader:
        assert reader.span() == (1, 600)
        writer.write(requests(601, 5))
        assert [entry.seq for entry in reader.columns(600, 10)] == [601, 602, 603, 604, 605]
        writer.close()
        assert reader.span() == (1, 605)
    assert seqs(path)[-1] == 605


def test_at_the_cap_the_oldest_entries_are_dropped_and_counted_in_a_marker(path: Path):
    writer = RecordingWriter(path, cap_bytes=200_000)
    for first in range(1, 4_001, 100):
        writer.write(requests(first, 100, 300))
    writer.write([])
    assert not writer.problem
    with closing(RecordingReader(path)) as reader:
        entries = reader.columns(0, 100_000)
        marker, rest = entries[0], entries[1:]
        assert writer.gone == marker.seq
        assert (marker.kind, marker.method, marker.detail) == (Kind.EVENT, "dropped", {"entries": marker.seq})
        assert [entry.seq for entry in rest] == list(range(marker.seq + 1, 4_001)) and rest
        assert reader.body(marker.seq) == b"" and reader.entry(marker.seq - 1) is None
        assert reader.body(4_000)
    writer.close()
    assert 100_000 < path.stat().st_size < 280_000


def test_a_batch_larger_than_the_cap_is_kept_until_the_next(path: Path):
    writer = RecordingWriter(path, cap_bytes=100_000)
    writer.write([request(1, b"x" * 300_000)])
    assert not writer.problem and writer.gone == 0
    with closing(RecordingReader(path)) as reader:
        assert reader.body(1) == b"x" * 300_000
    writer.write([request(2, b"y" * 10)])
    assert not writer.problem
    writer.close()
    with closing(RecordingReader(path)) as reader:
        assert [entry.method for entry in reader.columns(0, 9)] == ["dropped", "tools/call"]


def test_a_flood_of_findings_is_stored_completely(path: Path):
    writer = RecordingWriter(path)
    writer.write(requests(1, 5))
    for start in range(1, 20_001, 1_000):
        same = [Finding(seq, "not-json", Severity.ERROR, "x") for seq in range(start, start + 1_000)]
        writer.write([], same, start + 999)
    writer.close()
    assert judged(path) == 20_000
    with closing(RecordingReader(path)) as reader:
        assert sum(len(seqs) for _, seqs in reader.flagged()[0]) == reader.findings_of(9)[0].count == 20_000


def test_flags_of_dropped_entries_are_dropped_with_them(path: Path):
    writer = RecordingWriter(path, cap_bytes=100_000)
    for start in range(1, 5_001, 100):
        writer.write(requests(start, 100, 100))
        writer.write([], [Finding(start, "not-json", Severity.ERROR, "x")])
    first = writer.gone
    writer.close()
    assert first > 3_000
    with closing(RecordingReader(path)) as reader:
        seqs = sorted(seq for _, each in reader.flagged()[0] for seq in each)
    assert [seq for seq in seqs if seq > first] == [seq for seq in range(1, 5_001, 100) if seq > first]
    assert len([seq for seq in seqs if seq <= first]) <= 1  # the last one at that time


def judged(path: Path) -> int:
    with closing(RecordingReader(path)) as reader:
        return judged_of(reader.meta())


def test_the_last_fully_judged_entry_is_stored_with_the_findings(path: Path):
    writer = RecordingWriter(path)
    writer.write(requests(1, 5))
    assert judged(path) == 0
    writer.write([], [Finding(2, "not-json", Severity.ERROR, "This is not JSON.")], 3)
    assert judged(path) == 3
    writer.write([], (), 5)
    writer.write([request(6)], (), 4)
    assert judged(path) == 5
    writer.close()


def test_findings_of_a_failed_transaction_are_stored_and_counted_once(path: Path):
    writer = RecordingWriter(path)
    same = [Finding(seq, "not-json", Severity.ERROR, "This is not JSON.") for seq in (1, 2)]
    writer.write(requests(1, 1), same[:1])
    writer.write([request(2)._replace(size=1 << 70)], same[1:])
    assert writer.problem
    writer._waiting[0] = request(2)
    writer._retry_at = 0
    writer.write([])
    with closing(RecordingReader(path)) as reader:
        (found,) = reader.findings_of(2)
        assert (found.count, found.places) == (2, (1, 2))
    writer.close()


def test_notes_on_a_live_recording_are_stored_by_its_writer(path: Path):
    writer = RecordingWriter(path)
    writer.note(7, marked=True)
    writer.note(7, text="slow")
    assert notes_of(path) == {7: EntryNote(True, "slow")}
    writer.close()


def test_an_existing_file_is_not_touched(tmp_path: Path):
    path = tmp_path / "r.mcptrace"
    path.write_bytes(b"mine")
    writer = RecordingWriter(path)
    assert "exists" in writer.problem
    writer.close()
    assert path.read_bytes() == b"mine" and os.listdir(tmp_path) == ["r.mcptrace"]


def full_after(writer: RecordingWriter, pages: int) -> None:
    """Simulate a full disk: SQLite reports the same for a file that may not grow."""
    writer._connection.execute(f"PRAGMA max_page_count = {pages}")


def test_a_full_disk_is_reported_and_pending_entries_are_stored_once_there_is_space(
    path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(traffic_writer, "RETRY_S", 0.0)
    writer = RecordingWriter(path)
    writer.write(requests(1, 10))
    full_after(writer, 20)
    writer.write(requests(11, 500, 1000))
    assert "full" in writer.problem and seqs(path) == list(range(1, 11))
    writer.write(requests(511, 10))
    full_after(writer, 1_000_000)
    writer.write(requests(521, 10))
    assert writer.problem == "" and seqs(path) == list(range(1, 531))
    writer.close()


def test_a_disk_that_remains_full_ends_the_recording(path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(traffic_writer, "WAITING_BYTES", 100_000)
    writer = RecordingWriter(path)
    writer.write(requests(1, 10))
    full_after(writer, 20)
    for first in range(11, 1011, 100):
        writer.write(requests(first, 100, 1000))
    assert "full" in writer.problem
    writer.close()
    assert seqs(path) == list(range(1, 11))


def test_a_lock_held_by_another_program_is_reported(path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(traffic_writer, "RETRY_S", 0.0)
    writer = RecordingWriter(path)
    writer._connection.execute("PRAGMA busy_timeout = 1")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        writer.write(requests(1, 3))
        assert "locked" in writer.problem
        other.execute("ROLLBACK")
    writer.close()
    assert writer.problem == "" and seqs(path) == [1, 2, 3]


def test_unencodable_text_is_stored_escaped(path: Path):
    writer = RecordingWriter(path)
    writer.write([request(1, method="a\ud800b"), request(2, method="fine")])
    assert not writer.problem
    with closing(RecordingReader(path)) as reader:
        assert [entry.method for entry in reader.columns(0, 9)] == ["a\\ud800b", "fine"]
    writer.close()


def test_entries_with_and_without_a_cause_can_be_written_in_one_batch(path: Path):
    entries = [request(1), request(2)._replace(cause=Cause(3, 1, "call_1")), request(3, b"\x00\xff")]
    with closing(RecordingWriter(path)) as writer:
        writer.write(entries)
        writer.write([request(4)])
    with closing(RecordingReader(path)) as reader:
        assert [reader.entry(seq) for seq in range(1, 5)] == [*entries, request(4)]


def test_creating_a_recording_is_retried_with_all_pending_entries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(traffic_writer, "RETRY_S", 0.0)
    path = tmp_path / "file" / "r.mcptrace"
    path.parent.write_text("")
    writer = RecordingWriter(path)
    writer.write(requests(1, 3))
    assert "cannot write" in writer.problem
    path.parent.unlink()
    writer.write([])
    assert writer.problem == "" and seqs(path) == [1, 2, 3]
    writer.close()


def test_a_deleted_recording_is_reported_and_continues_in_a_new_file(path: Path):
    writer = RecordingWriter(path)
    writer.write(requests(1, 3))
    path.unlink()
    writer.write(requests(4, 3))
    assert writer.problem == f"the file {path} was moved or deleted. The recording continues in a new file"
    writer.write(requests(7, 3))
    writer.close()
    assert writer.problem == "" and seqs(path) == [4, 5, 6, 7, 8, 9]


def test_a_moved_recordings_folder_is_created_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(traffic_writer, "RETRY_S", 0.0)
    path = tmp_path / "recordings" / "r.mcptrace"
    writer = RecordingWriter(path)
    writer.write(requests(1, 3))
    path.parent.rename(tmp_path / "gone")
    writer.write(requests(4, 3))
    assert is_live(path) is False
    writer.write(requests(7, 3), [Finding(8, "not-json", Severity.ERROR, "x")], 9)
    assert writer.problem == "" and is_live(path)
    writer.close()
    assert seqs(path) == [4, 5, 6, 7, 8, 9] and not is_live(path)


def test_a_recording_replaced_by_another_file_ends(path: Path):
    writer = RecordingWriter(path)
    writer.write(requests(1, 3))
    path.unlink()
    path.write_text("mine")
    writer.write(requests(4, 3))
    assert writer.problem == f"the file {path} was replaced by another program"
    writer.close()
    assert path.read_text() == "mine"


@pytest.mark.parametrize("count", [3, 1_000], ids=["in the WAL", "in the file"])
@pytest.mark.parametrize("side", ["", "-wal"])
@pytest.mark.parametrize("garbage", [b"", b"garbage!"], ids=["cut", "overwritten"])
def test_damage_while_recording_is_reported_or_the_recording_remains_complete(
    path: Path, count: int, side: str, garbage: bytes
):
    writer = RecordingWriter(path)
    writer.write(requests(1, count, 6_000))
    file = path.with_name(path.name + side)
    size = file.stat().st_size
    file.write_bytes(garbage * (size // 8)) if garbage else os.truncate(file, 0)
    writer.write(requests(count + 1, 3))
    told = writer.problem
    writer.close()
    if told != f"the file {path} was damaged by another program":
        assert seqs(path) == list(range(1, count + 4))


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> FaultyDisk:
    monkeypatch.setattr(traffic_writer, "RETRY_S", 0.0)
    return FaultyDisk(monkeypatch)


def record(path: Path) -> list[int]:
    """Record two batches and return the sequence numbers of the acknowledged entries."""
    acknowledged: list[int] = []
    writer = RecordingWriter(path)
    for first in range(1, 21, 10):
        writer.write(requests(first, 10), [Finding(first, "not-json", Severity.ERROR, "No JSON.")])
        if not writer.problem:
            acknowledged = list(range(1, first + 10))
    writer.close()
    return acknowledged


@pytest.mark.parametrize("heals", [True, False])
def test_whichever_statement_fails_acknowledged_entries_are_stored(
    tmp_path: Path, disk: FaultyDisk, heals: bool
):
    for number in range(1, 1000):
        path = tmp_path / f"{number}.mcptrace"
        disk.fail(number, heals=heals)
        acknowledged = record(path)
        was_reached = disk.reached
        disk.heal()
        stored = seqs(path) if path.exists() else []
        assert stored[: len(acknowledged)] == acknowledged, number
        assert stored == (list(range(1, 21)) if heals else acknowledged), number
        if not was_reached:
            assert number > 20
            return
