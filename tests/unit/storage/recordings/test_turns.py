"""The turns of a conversation are found in its recordings."""

import json

from tests.unit.storage.traffic_samples import request
from tui.core.traffic import Cause, Kind
from tui.runtime.recording_file import turn_in_recording
from tui.settings.locations import state_dir
from tui.storage.recordings.writer import RecordingWriter


def test_the_recording_with_a_call_of_an_earlier_run_is_found():
    folder = state_dir() / "recordings"
    folder.mkdir(parents=True)
    for name, call in (("a.mcptrace", "c1"), ("b.mcptrace", "c2")):
        writer = RecordingWriter(folder / name)
        writer.write([request(1, cause=Cause(1, 1, call))])
        writer.close()
    names = ("a.mcptrace", "gone.mcptrace", "../b.mcptrace")
    assert turn_in_recording(names, ["not-run", "c1"], ()) == (folder / "a.mcptrace", 1)
    assert turn_in_recording(names, ["c2"], ()) == (folder / "b.mcptrace", 1)
    assert turn_in_recording(names, ["c3"], ["not asked"]) is None


def test_a_turn_without_calls_is_found_by_its_question_and_earlier_ones():
    folder = state_dir() / "recordings"
    folder.mkdir(parents=True)
    writer = RecordingWriter(folder / "a.mcptrace")
    for seq, said in enumerate((["go on"], ["hello", "go on"], ["hello", "go on", "go on"]), 1):
        parts = [{"type": "text", "text": said[-1]}, {"type": "image_url"}]
        messages = [
            *({"role": "user", "content": text} for text in said[:-1]),
            {"role": "user", "content": parts},
        ]
        body = json.dumps({"messages": messages}).encode()
        writer.write([request(seq, body, kind=Kind.MODEL_REQUEST, cause=Cause(seq, 1))])
    writer.close()
    found = [turn_in_recording(["a.mcptrace"], (), said) for said in (["hello", "go on"], ["cut", "go on"])]
    assert [turn for _, turn in filter(None, found)] == [2, 1]
