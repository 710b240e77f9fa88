"""Calls by hand of earlier runs are found in their recordings."""

import json
from pathlib import Path

from tests.unit.storage.traffic_samples import request
from tui.core.traffic import Cause, Direction, Kind, Outcome
from tui.storage.recordings import past_calls as module
from tui.storage.recordings.past_calls import past_calls
from tui.storage.recordings.writer import RecordingWriter


def write(path: Path, *calls: tuple[str, object], source: str = "weather", pad: int = 0) -> None:
    """Write a recording of calls, each with its id and its argument."""
    entries = []
    for number, (call, city) in enumerate(calls):
        cause, seq = Cause(0, 0, call), 2 * number + 1
        params = {"name": "get_weather", "arguments": {"city": city}}
        asked = json.dumps({"id": seq, "method": "tools/call", "params": params}).encode()
        said = json.dumps({"id": seq, "result": {"content": [], "pad": "x" * pad}}).encode()
        answer = {"kind": Kind.RESPONSE, "direction": Direction.IN, "pair": seq, "outcome": Outcome.OK}
        entries.append(request(seq, asked, cause=cause, source=source))
        entries.append(request(seq + 1, said, cause=cause, source=source, **answer))
    writer = RecordingWriter(path)
    writer.write(entries)
    writer.close()


def test_calls_of_a_server_are_found_newest_first_with_arguments_and_results(tmp_path):
    write(tmp_path / "20260101.mcptrace", ("hand-1", "Lima"), ("c2", "asked by a model"))
    write(tmp_path / "20260102.mcptrace", ("hand-1", "Oslo"), ("hand-2", "Rome"))
    write(tmp_path / "20260103.mcptrace", ("hand-1", "of this run"))
    write(tmp_path / "20260104.mcptrace", ("hand-1", "elsewhere"), source="other")
    found = past_calls(tmp_path, "weather", tmp_path / "20260103.mcptrace")
    calls = [(one.entry.cause.call, one.arguments["city"]) for one in found]
    assert calls == [("hand-2", "Rome"), ("hand-1", "Oslo"), ("hand-1", "Lima")]
    newest = found[0]
    assert (newest.name, newest.path.stem) == ("get_weather", "20260102")
    assert (newest.answer.outcome, newest.answer.mono_ns - newest.entry.mono_ns) == (Outcome.OK, 1000)
    assert newest.result == {"content": [], "pad": ""}


def test_a_large_result_stays_in_its_recording(tmp_path):
    write(tmp_path / "a.mcptrace", ("hand-1", "Lima"), pad=module.MOST_BODY)
    (found,) = past_calls(tmp_path, "weather", Path())
    assert found.result is None and found.arguments == {"city": "Lima"}


def test_what_is_no_call_or_no_recording_is_skipped(tmp_path):
    (tmp_path / "b.mcptrace").write_bytes(b"not a recording")
    writer = RecordingWriter(tmp_path / "a.mcptrace")
    writer.write([request(1, b'{"params": [1]}', cause=Cause(0, 0, "hand-1")), request(2, b"\xff")])
    writer.close()
    assert past_calls(tmp_path, "weather", Path()) == []
    assert past_calls(tmp_path / "none", "weather", Path()) == []


def test_the_number_of_calls_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MOST_CALLS", 3)
    for name in "ab":
        write(tmp_path / f"{name}.mcptrace", ("hand-1", 1), ("hand-2", 2))
    assert len(past_calls(tmp_path, "weather", Path())) == 3
