"""What `mcptui traffic` prints on stderr."""

import argparse
from contextlib import closing
from pathlib import Path

import pytest

from tests.unit.storage.traffic_samples import requests
from tui.commands.traffic_selection import RecordingChoice, beginning
from tui.core.errors import UsageError
from tui.storage.recordings.writer import RecordingWriter


@pytest.mark.parametrize(
    ("cap", "said"),
    [
        (1 << 30, ""),
        (
            300_000,
            "mcptui traffic: 700 entries missing: the recording reached its size limit while it was read\n",
        ),
    ],
)
def test_entries_dropped_while_reading_a_live_recording_are_counted_on_stderr(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], cap: int, said: str
):
    path = tmp_path / "live.mcptrace"
    args = argparse.Namespace(recording=str(path), filter=None, failed=False, since=None, all=False)
    with closing(RecordingWriter(path, cap_bytes=cap)) as writer:
        writer.write(requests(1, 700, 100))
        for source in RecordingChoice(args).sources():
            for first in range(701, 5000, 100):
                writer.write(requests(first, 100, 100))
            assert bool(list(source.selection.whole())) is not bool(said)
    assert capsys.readouterr().err == said


def test_dropped_entries_are_counted_when_reading_is_interrupted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = tmp_path / "live.mcptrace"
    args = argparse.Namespace(recording=str(path), filter="dir:out", failed=False, since=None, all=False)
    with closing(RecordingWriter(path, cap_bytes=300_000)) as writer:
        writer.write(requests(1, 700, 100))
        with pytest.raises(KeyboardInterrupt), closing(RecordingChoice(args).sources()) as sources:
            for source in sources:
                for first in range(701, 5000, 100):
                    writer.write(requests(first, 100, 100))
                list(source.selection.whole())
                raise KeyboardInterrupt
    assert "entries missing: the recording reached its size limit" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["yesterday", "5", "25:99"])
def test_an_invalid_time_is_reported_with_examples(text: str):
    with pytest.raises(UsageError) as refused:
        beginning(text, 0)
    assert str(refused.value) == f"--since: “{text}” is not a time. Use 1h, 30m, 14:05 or 2026-11-20."
