"""A recording is loaded from its file for the traffic screen."""

import sqlite3
import time
from contextlib import ExitStack, closing, contextmanager

import pytest

from tests.conftest import until
from tests.unit.storage.damage import leaves, overwrite
from tests.unit.storage.traffic_samples import requests
from tui.core.errors import StorageError
from tui.core.secrets.redact import Redactor
from tui.core.traffic import DROPPED, Captured, Direction, Finding, Severity
from tui.runtime.recording_file import LAST_PAGE, RecordingFile
from tui.storage.recordings import findings
from tui.storage.recordings.findings import judged_of
from tui.storage.recordings.reader import RecordingReader
from tui.storage.recordings.writer import RecordingWriter
from tui.traffic.record.entry_columns import EntryColumns
from tui.traffic.record.entry_reader import EntryReader
from tui.traffic.record.recorder import Recorder

ASK = b'{"jsonrpc":"2.0","id":%d,"method":"tools/list","params":{}}'


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.mcptrace"


@contextmanager
def recording(path):
    recorder = Recorder(lambda: RecordingWriter(path), EntryColumns(), redact=Redactor().redact_bytes)
    recorder.start()
    try:
        yield recorder
    finally:
        recorder.close()


@contextmanager
def shown(path):
    loaded = RecordingFile(path)
    loaded.start()
    try:
        yield loaded
    finally:
        loaded.close()


def send(recorder, raw):
    recorder.capture(Captured("it", Direction.OUT, time.monotonic_ns(), time.time_ns(), raw))


async def test_rows_bodies_marks_and_notes_are_loaded(path):
    with recording(path) as recorder:
        for number in range(50):
            send(recorder, ASK % number)
    with shown(path) as first:
        await until(lambda: len(first.recording.entries) == 50)
        first.recording.annotations.keep_note(7, True, None)
        first.recording.annotations.keep_note(8, None, "look here")
        key = "ghp_" + "a1B2" * 9
        assert first.recording.annotations.redact(f"sent with {key}") == "sent with [redacted:github]"
    with shown(path) as again:
        await until(lambda: again.recording.annotations.notes)
        assert again.recording.annotations.notes == {8: "look here"}
        assert again.recording.entries.marked[6]
        assert not again.recording.live
        reader = again.recording.open_reader()
        assert reader.entry(3).body == ASK % 2
        reader.close()


async def test_a_recording_that_was_not_linted_is_linted_now(path):
    with recording(path) as recorder:
        recorder.capture(Captured("it", Direction.IN, 1, 1, b"Listening on stdio"))
    with shown(path) as loaded:
        await until(lambda: loaded.recording.entries and loaded.recording.entries.severity[0])
        assert loaded.recording.entries.severity[0] >= Severity.WARNING
        reader = loaded.recording.open_reader()
        assert [finding.seq for finding in reader.findings_of(1)] == [1]
        reader.close()


async def test_a_live_recording_is_followed_until_its_writer_closes(path):
    with ExitStack() as stack:
        with recording(path) as recorder:
            send(recorder, ASK % 1)
            assert recorder.flush()
            loaded = stack.enter_context(shown(path))
            await until(lambda: len(loaded.recording.entries) == 1)
            assert loaded.recording.live
            send(recorder, ASK % 2)
            await until(lambda: len(loaded.recording.entries) == 2)
        await until(lambda: not loaded.recording.live)
        assert loaded.recording.ended_ns == loaded.recording.entries.wall_ns(1)


def test_the_end_of_a_finished_recording_is_known_before_it_is_loaded(path):
    with recording(path) as recorder:
        recorder.capture(Captured("it", Direction.OUT, 1, 5_000, ASK % 1))
        recorder.capture(Captured("it", Direction.OUT, 2, 5_001, ASK % 2))
        assert recorder.flush()
        assert RecordingFile(path).recording.ended_ns == 0
    assert RecordingFile(path).recording.ended_ns == 5_001


def test_a_file_that_is_not_a_recording_is_refused(path):
    path.write_text("not a database")
    with pytest.raises(StorageError):
        RecordingFile(path)


async def test_the_readable_part_of_a_damaged_recording_is_shown(path):
    writer = RecordingWriter(path)
    writer.write(requests(1, 2000))
    writer.note(1000, marked=None, text="look here")
    writer.close()
    overwrite(path, leaves(path, "entries")[3])
    with shown(path) as loaded:
        await until(lambda: not loaded._thread.is_alive)
        count = len(loaded.recording.entries)
        assert 100 < count < 2000 and loaded.recording.judged() == count
        told = f"the recording is damaged: only the entries up to {count} could be read"
        assert loaded.recording.problem() == told


async def test_the_entries_before_an_invalid_one_are_shown(path):
    written(path, requests(1, 6000))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE entries SET source = x'00', turn = -5 WHERE seq IN (1000, 3000, 5000)")
    with shown(path) as loaded:
        loaded.painted()
        damage = "the recording is damaged: only the entries up to 999 could be read"
        await until(lambda: not loaded._thread.is_alive)
        assert loaded.recording.problem() == damage
        assert loaded.recording.entries.hole == (0, 0)


def written(path, entries):
    with closing(RecordingWriter(path, meta={"program": "mcptui"})) as writer:
        writer.write(entries)


async def test_the_last_entries_are_loaded_before_the_first(path):
    written(path, requests(1, 5000))
    with shown(path) as loaded:
        entries = loaded.recording.entries
        await until(lambda: len(entries))
        assert (len(entries), entries.hole) == (5000, (0, 5000 - LAST_PAGE))
        loaded.painted()
        await until(lambda: entries.loaded == 5000)
        assert [entries.seq(index) for index in (0, 2999, 4999)] == [1, 3000, 5000]
        assert not loaded.problem


async def test_notes_and_findings_are_available_before_the_entries_are_loaded(path, monkeypatch):
    writer = RecordingWriter(path)
    writer.write(requests(1, 5000), [Finding(9, "code", Severity.ERROR, "It is wrong.")], 5000)
    writer.note(7, marked=True, text="look here")
    writer.close()
    filled = []
    fill = EntryColumns.fill

    def noting(columns, rows):
        filled.append((columns.marked[6], columns.severity[8], dict(loaded.recording.annotations.notes)))
        fill(columns, rows)

    monkeypatch.setattr(EntryColumns, "fill", noting)
    with shown(path) as loaded:
        loaded.painted()
        await until(lambda: loaded.recording.entries.loaded == 5000)
    assert filled[0] == (1, Severity.ERROR, {7: "look here"})


async def test_missing_numbers_are_shown_as_dropped_entries(path):
    written(path, [each for each in requests(1, 5000) if each.seq not in range(100, 2300)])
    with shown(path) as loaded:
        loaded.painted()
        entries = loaded.recording.entries
        await until(lambda: entries.loaded == 5000)
        names = [entries.methods.texts[entries.method[seq - 1]] for seq in (99, 100, 2299, 2300)]
        assert names == ["tools/call", DROPPED, DROPPED, "tools/call"]
        assert entries.wall_ns(100) > 0


async def test_entries_with_a_large_gap_in_their_numbers_are_loaded_in_order(path):
    written(path, [*requests(1, 10), *requests(1 << 40, 10)])
    with shown(path) as loaded:
        await until(lambda: len(loaded.recording.entries) == 20)
        assert loaded.recording.entries.seq(10) == 1 << 40


async def test_closing_does_not_wait_for_the_first_painting(path):
    written(path, requests(1, 5000))
    with shown(path) as loaded:
        await until(lambda: len(loaded.recording.entries))
    assert not loaded._thread.is_alive


def noisy(path, lines, judged=0, found=()):
    """Write a recording of invalid lines that was linted up to an entry."""
    taken = []
    reader = EntryReader(lambda raw: (raw, ()), 256 * 1024)
    for number in range(lines):
        reader.read(Captured("it", Direction.IN, number, number, b"noise %d" % number), taken)
    writer = RecordingWriter(path, meta={"program": "mcptui"})
    writer.write(taken)
    writer.write([], found, judged)
    writer.close()


def finding(seq):
    return Finding(seq, "stray-output", Severity.WARNING, f"Stored at {seq}.", "basic", "it")


def flagged(path):
    with closing(RecordingReader(path)) as reader:
        return sorted(seq for _, seqs in reader.flagged()[0] for seq in seqs)


async def judged_whole(path):
    """Open a recording until it is linted. Return the severities, and the sentences of two entries."""
    with shown(path) as loaded:
        loaded.painted()
        await until(lambda: not loaded._thread.is_alive)
        assert loaded.recording.judged() >= len(loaded.recording.entries)
        with closing(loaded.recording.open_reader()) as reader:
            said = [each.sentence for seq in (1, 3) for each in reader.findings_of(seq)]
        return list(loaded.recording.entries.severity), said


async def test_entries_that_the_writer_did_not_lint_are_linted_and_stored(path):
    noisy(path, 3, judged=1, found=[finding(1)])
    severities, said = await judged_whole(path)
    assert severities == [Severity.WARNING] * 3
    assert '"noise 2"' in said[1]
    assert flagged(path) == [1, 2, 3]
    with closing(RecordingReader(path)) as reader:
        assert judged_of(reader.meta()) == 3


async def test_a_completely_linted_recording_is_not_linted_again(path):
    noisy(path, 3, judged=3, found=[finding(1)])
    severities, said = await judged_whole(path)
    assert (severities, said) == ([Severity.WARNING, 0, 0], ["Stored at 1."])


async def test_entries_linted_with_other_rules_are_linted_again(path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(findings, "RULES", "0.0.1-1")
        noisy(path, 3, judged=3, found=[finding(1)])
    severities, said = await judged_whole(path)
    assert severities == [Severity.WARNING] * 3
    assert "Stored at 1." not in said


async def test_findings_that_cannot_be_stored_are_shown(path, monkeypatch):
    def refuse(path):
        raise StorageError("cannot write the file (", where=str(path))

    monkeypatch.setattr(findings, "open_for_notes", refuse)
    noisy(path, 3)
    severities, said = await judged_whole(path)
    assert severities == [Severity.WARNING] * 3
    assert '"noise 2"' in said[1]
    assert flagged(path) == []


async def test_entries_of_a_live_recording_are_linted_whether_or_not_its_writer_lints(path):
    recorder = Recorder(
        lambda: RecordingWriter(path, meta={"program": "mcptui"}),
        EntryColumns(),
        redact=Redactor().redact_bytes,
    )
    recorder.start()
    try:
        recorder.capture(Captured("it", Direction.IN, 1, 1, b"noise"))
        assert recorder.flush()
        with shown(path) as loaded:
            await until(lambda: loaded.recording.entries and loaded.recording.entries.severity[0])
            assert loaded.recording.live
    finally:
        recorder.close()


def spoilt(path, table):
    """Overwrite the root page of a table."""
    with closing(sqlite3.connect(path)) as connection:
        (root,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    overwrite(path, (root - 1) * 4096, fill=b"\xa5")


@pytest.mark.parametrize("count", [3, 2500])
async def test_damaged_findings_are_recomputed(path, count):
    noisy(path, count, judged=count, found=[finding(seq) for seq in range(1, 4)])
    spoilt(path, "flags")
    severities, said = await judged_whole(path)
    assert severities == [Severity.WARNING] * count
    assert '"noise 2"' in said[1]


async def test_damaged_notes_are_reported_and_the_entries_are_shown(path):
    noisy(path, 2500, judged=2500)
    spoilt(path, "notes")
    with shown(path) as loaded:
        loaded.painted()
        await until(lambda: not loaded._thread.is_alive)
        assert len(loaded.recording.entries) == 2500
        assert loaded.recording.problem() == "the recording is damaged. Its marks and notes could not be read"


async def test_a_damaged_recording_does_not_count_as_linted_before_it_is(path, monkeypatch):
    noisy(path, 2500)
    overwrite(path, leaves(path, "entries")[-1])
    monkeypatch.setattr(RecordingFile, "_take_findings", lambda self, reader, live: None)
    with shown(path) as loaded:
        await until(lambda: not loaded._thread.is_alive)
        assert loaded.recording.problem()
        assert loaded.recording.judged() == 0
