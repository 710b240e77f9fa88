"""The traffic of one run, even if nothing is saved to disk."""

import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.conftest import until
from tests.unit.storage.traffic_samples import request
from tui.core.errors import ConfigError
from tui.core.secrets.redact import Redactor
from tui.core.traffic import BodyTerm, Captured, Direction
from tui.runtime.recording import MemoryReader, RunRecording, change_filter, load_filters
from tui.runtime.recording_file import RecordingFile
from tui.settings.schema import TrafficSettings
from tui.storage.recordings.findings import judged_of
from tui.storage.recordings.reader import RecordingReader
from tui.traffic.record.recorder import RecentEntries


@pytest.fixture
def traffic() -> Iterator[RunRecording]:
    made = RunRecording(Redactor)
    yield made
    made.close()


UNRECORDED = TrafficSettings(record=False)


def test_without_a_recording_the_last_bodies_are_searched_in_memory(traffic: RunRecording):
    traffic.start(UNRECORDED, Path())
    for number in range(3):
        body = b'{"jsonrpc":"2.0","id":%d,"method":"ping"}' % number
        traffic(Captured("it", Direction.OUT, time.monotonic_ns(), time.time_ns(), body))
    assert traffic._recorder.flush(5)
    with closing(traffic.recording.open_reader()) as reader:
        assert isinstance(reader, MemoryReader)
        terms = [BodyTerm(r'"id":[12]', regex=True), BodyTerm("PING")]
        assert reader.search(terms, 1, 3) == [{2, 3}, {1, 2, 3}]


def test_a_filter_that_fails_to_save_is_an_error_and_keeps_the_others(traffic: RunRecording, tmp_path: Path):
    path = tmp_path / "filters.toml"
    traffic.start(UNRECORDED, tmp_path, path)
    traffic.recording.annotations.keep_filter("one", "server:notes")
    path.write_text('bbb = "x')
    with pytest.raises(ConfigError, match="a string is not closed"):
        traffic.recording.annotations.keep_filter("two", "is:error")
    assert traffic.recording.annotations.filters == {"one": "server:notes"}


def test_a_batch_of_lines_is_observed_and_recorded_in_order(traffic: RunRecording):
    heard: list[bytes] = []
    traffic.listener = lambda captured: heard.append(captured.raw)
    traffic.start(UNRECORDED, Path())
    lines = [Captured("it", Direction.IN, 1, 1, b"line %d" % number) for number in range(5)]
    traffic.take_all(lines)
    assert traffic._recorder.flush(5)
    with closing(traffic.recording.open_reader()) as reader:
        assert [reader.body(seq) for seq in range(1, 6)] == [line.raw for line in lines] == heard


@pytest.mark.parametrize("is_late", [False, True])
def test_all_entries_of_a_run_whose_findings_are_shown_are_linted(tmp_path: Path, is_late: bool):
    traffic = RunRecording(Redactor)
    traffic.start(TrafficSettings(), tmp_path)
    if not is_late:
        traffic.recording.lint()
    traffic(Captured("it", Direction.IN, 1, 1, b"noise"))
    traffic.recording.lint()
    traffic.close()
    with closing(RecordingReader(traffic.path)) as reader:
        assert [finding.code for finding in reader.findings_of(1)] == ["stray-output"]
        assert judged_of(reader.meta()) == 1


async def test_a_run_whose_findings_nobody_looks_at_is_linted_when_it_is_opened(tmp_path: Path):
    traffic = RunRecording(Redactor)
    traffic.start(TrafficSettings(), tmp_path)
    traffic(Captured("it", Direction.IN, 1, 1, b"noise"))
    traffic.close()
    with closing(RecordingReader(traffic.path)) as reader:
        assert judged_of(reader.meta()) == 0
    opened = RecordingFile(traffic.path)
    opened.start()
    try:
        await until(lambda: any(opened.recording.entries.severity))
    finally:
        opened.close()


async def test_a_run_that_keeps_few_entries_is_linted_from_the_first_one_on(traffic: RunRecording):
    traffic.start(UNRECORDED, Path())
    traffic(Captured("it", Direction.IN, 1, 1, b"noise"))
    await until(lambda: any(traffic.columns.severity))


def test_a_command_that_keeps_nothing_does_not_lint(traffic: RunRecording):
    traffic.start(UNRECORDED, Path(), command="call")
    traffic(Captured("it", Direction.IN, 1, 1, b"noise"))
    assert traffic._recorder.flush(5) and not traffic._linting._thread.is_alive


async def test_a_recording_is_linted_while_there_is_room_for_the_rest(
    tmp_path: Path, traffic: RunRecording, monkeypatch: pytest.MonkeyPatch
):
    room = TrafficSettings().recording_mb * 1024 * 1024 - 50_000
    monkeypatch.setattr("tui.runtime.recording.LEAST_ROOM", room)
    traffic.start(TrafficSettings(), tmp_path)
    traffic(Captured("it", Direction.IN, 1, 1, b"noise"))
    assert traffic._recorder.flush(5) and not traffic._linting._thread.is_alive
    traffic.take_all([Captured("it", Direction.IN, 1, 1, b"%d" % number) for number in range(600)])
    await until(lambda: traffic.columns.severity[0])


def test_a_run_without_traffic_leaves_no_recording(tmp_path: Path):
    traffic = RunRecording(Redactor)
    traffic.start(TrafficSettings(), tmp_path)
    traffic.close()
    assert not list(tmp_path.iterdir())


def test_a_recording_names_its_command(tmp_path: Path):
    traffic = RunRecording(Redactor)
    traffic.start(TrafficSettings(), tmp_path, command="call")
    traffic(Captured("it", Direction.IN, 1, 1, b"{}"))
    traffic.close()
    with closing(RecordingReader(traffic.path)) as reader:
        assert reader.meta()["command"] == "call"


def test_saved_filters_are_loaded(tmp_path):
    path = tmp_path / "data" / "filters.toml"
    change_filter(path, "slow calls", 'latency:>1s "x"')
    change_filter(path, "北京", "tool:get_*")
    assert load_filters(path) == {"slow calls": 'latency:>1s "x"', "北京": "tool:get_*"}
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_missing_or_damaged_file_has_no_filters(tmp_path):
    path = tmp_path / "filters.toml"
    assert load_filters(path) == {}
    path.write_bytes(b"\xff[[[")
    assert load_filters(path) == {}
    path.write_text('good = "a"\nbad = 5\n')
    assert load_filters(path) == {"good": "a"}


def test_a_change_keeps_the_changes_of_another_program(tmp_path):
    path = tmp_path / "filters.toml"
    change_filter(path, "mine", "a")
    path.write_text('theirs = "b"\nodd = 5\n')
    assert change_filter(path, "new", "c") == {"theirs": "b", "new": "c"}
    assert change_filter(path, "theirs", "") == {"new": "c"}
    assert path.read_text() == 'odd = 5\nnew = "c"\n'


def test_a_damaged_file_is_not_overwritten(tmp_path):
    path = tmp_path / "filters.toml"
    path.write_text("[[[")
    with pytest.raises(ConfigError, match="It was not changed"):
        change_filter(path, "new", "c")
    assert path.read_text() == "[[["


def ring(*bodies: bytes) -> RecentEntries:
    made = RecentEntries()
    made.add([request(seq, body) for seq, body in enumerate(bodies, start=1)])
    return made


def test_an_interrupt_affects_only_its_own_reader_and_can_be_reset():
    kept, word = ring(b"a"), BodyTerm("a")
    with closing(MemoryReader(kept)) as one, closing(MemoryReader(kept)) as other:
        one.interrupt()
        assert one.search([word], 1, 1) == [set()] and other.search([word], 1, 1) == [{1}]
        one.interrupt()
        one.rearm()
        assert one.search([word], 1, 1) == [{1}]
