"""A running program follows the recording of a tap in another process."""

import time
from contextlib import contextmanager

import pytest

from tests.conftest import until
from tui.core.background import FAILED_THREAD
from tui.core.secrets.redact import Redactor
from tui.core.traffic import Captured, Direction, Kind
from tui.runtime import tap_follower
from tui.runtime.tap_follower import TapWatch
from tui.storage.files import sqlite_file
from tui.storage.recordings.writer import RecordingWriter
from tui.traffic.record.entry_columns import EntryColumns
from tui.traffic.record.recorder import Recorder

ASK = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
ANSWER = b'{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}'


def captured(raw: bytes, direction: Direction, kind: Kind | None = None, **detail: object) -> Captured:
    return Captured("weather", direction, time.monotonic_ns(), time.time_ns(), raw, kind, detail=detail)


@contextmanager
def recording(path, **meta):
    recorder = Recorder(
        lambda: RecordingWriter(path, meta=meta), EntryColumns(), redact=Redactor().redact_bytes
    )
    recorder.start()
    yield recorder
    recorder.close()


@pytest.fixture
def tap(tmp_path):
    with recording(tmp_path / "20261121T000000Z-1.mcptrace", tap="weather") as recorder:
        yield recorder


@pytest.fixture
def seen(tmp_path):
    found: list[Captured] = []
    watch = TapWatch(tmp_path, found.append)
    watch.start()
    yield found
    watch.close()


async def test_entries_of_a_tap_are_followed_unchanged_and_in_order(tap, seen):
    tap.capture(captured(b"{}", Direction.NONE, Kind.EVENT, event="spawn"))
    tap.capture(captured(ASK, Direction.OUT))
    await until(lambda: len(seen) == 2)
    tap.capture(captured(ANSWER, Direction.IN))
    tap.capture(captured(b"oops", Direction.NONE, Kind.STDERR))
    await until(lambda: len(seen) == 4)
    assert [one.raw for one in seen] == [b"{}", ASK, ANSWER, b"oops"]
    assert {one.source for one in seen} == {"tap:weather"}
    assert [one.kind for one in seen] == [Kind.EVENT, None, None, Kind.STDERR]
    assert seen[1].direction is Direction.OUT and seen[0].detail["event"] == "spawn"


async def test_a_short_lived_tap_is_followed_too(tmp_path, seen):
    with recording(tmp_path / "99990101T000002Z-3.mcptrace", tap="short") as recorder:
        recorder.capture(captured(ASK, Direction.OUT))
    await until(lambda: seen)
    assert [(one.source, one.raw) for one in seen] == [("tap:short", ASK)]


async def test_a_recording_that_is_not_a_tap_is_ignored(tmp_path, tap, seen):
    with recording(tmp_path / "20261120T000001Z-2.mcptrace", program="mcptui") as other:
        other.capture(captured(ANSWER, Direction.IN))
        assert other.flush()
        tap.capture(captured(ASK, Direction.OUT))
        await until(lambda: seen)  # the other one has the older name, so it was checked before
        assert [one.raw for one in seen] == [ASK]


@pytest.fixture
def other(tmp_path):
    """The recording of another tap, which is found first."""
    path = tmp_path / "99990101T000002Z-3.mcptrace"
    RecordingWriter(path, meta={"tap": "other"}).close()
    return path


async def test_a_recording_that_vanishes_while_it_is_opened_does_not_end_the_following(
    other, tap, monkeypatch, request
):
    real = sqlite_file.connect

    def connect(path, *more, **named):
        connection = real(path, *more, **named)
        if path == other:
            other.unlink()
        return connection

    monkeypatch.setattr(sqlite_file, "connect", connect)
    seen = request.getfixturevalue("seen")
    await until(lambda: not other.exists(), what="the recording is gone")
    tap.capture(captured(ASK, Direction.OUT))
    await until(lambda: seen, what="the other tap is followed")


async def test_an_unexpected_error_does_not_end_the_following(other, tap, monkeypatch, caplog, request):
    real = tap_follower.RecordingReader

    def reader(path):
        if path == other:
            raise LookupError("a defect")
        return real(path)

    monkeypatch.setattr(tap_follower, "RecordingReader", reader)
    seen = request.getfixturevalue("seen")
    tap.capture(captured(ASK, Direction.OUT))
    await until(lambda: seen, what="the other tap is followed")
    assert [getattr(one, FAILED_THREAD, "") for one in caplog.records] == ["taps (LookupError, restarted)"]
