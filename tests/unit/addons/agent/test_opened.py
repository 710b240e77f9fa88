"""Recordings stay open: a few, read on, and linted part by part."""

import os
from contextlib import closing
from pathlib import Path

import pytest

from tests.unit.addons.agent.agent_stage import files, keep
from tests.unit.traffic.traffic_script import Script
from tui.addons.agent import opened
from tui.addons.agent.opened import MOST_OPEN, OpenRecordings, said_by, speaker
from tui.core.errors import StorageError
from tui.core.secrets.redact import Redactor
from tui.core.traffic import Direction
from tui.storage.exports.jsonl import jsonl


def stray(count: int) -> Script:
    script = files()
    for _ in range(count):
        script.raw(Direction.IN, b"DEBUG")
    return script


def test_only_the_recordings_that_were_read_last_stay_open():
    redactor = Redactor()
    with closing(OpenRecordings()) as recordings:
        first = keep(files(), "first")
        before = recordings.get(first, redactor)
        for number in range(MOST_OPEN):
            recordings.get(keep(files(), f"r{number}"), redactor)
        assert recordings.get(first, redactor) is not before


def test_what_is_no_recording_is_not_opened(tmp_path: Path):
    path = tmp_path / "x.mcptrace"
    path.write_text("no recording")
    with closing(OpenRecordings()) as recordings, pytest.raises(StorageError):
        recordings.get(path, Redactor())


def test_entries_are_linted_part_by_part(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(opened, "LINTED_AT_ONCE", 5)
    with closing(OpenRecordings()) as recordings:
        traffic = recordings.get(keep(stray(8)), Redactor())
        parts = 1
        while recordings.lint_ahead():
            parts += 1
        assert parts == 4
        assert [one.seq for one in traffic.findings()] == list(range(8, 16))
        assert [one.code for one in traffic.findings_of(9)] == ["stray-output"]


def test_findings_are_kept_up_to_a_maximum(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(opened, "MOST_FINDINGS", 3)
    with closing(OpenRecordings()) as recordings:
        traffic = recordings.get(keep(stray(8)), Redactor())
        traffic.lint()
        assert len(list(traffic.findings())) == 3


def test_the_origin_of_an_entry_names_who_said_it():
    request, response = files().entries[5:7]
    assert said_by(request) == "the client of the server files, entry 6"
    assert said_by(response) == "the server files, entry 7"
    assert speaker("model:small") == "the model small"


def test_a_file_that_was_replaced_is_opened_anew(tmp_path: Path):
    redactor = Redactor()
    export = tmp_path / "run.jsonl"
    with closing(OpenRecordings()) as recordings:
        path = keep(files())
        before = recordings.get(path, redactor)
        assert recordings.get(path, redactor) is before
        os.replace(keep(stray(1), "other"), path)
        assert len(recordings.get(path, redactor).columns) == 8
        for count in (1, 2):
            export.write_text("".join(jsonl(stray(count).entries)))
            assert len(recordings.get(export, redactor).columns) == 7 + count
