"""Turning captured messages into entries."""

import json
from hashlib import sha256

import pytest

from tests.unit.traffic.tapped import MARK, SECRET, hide, line, seen
from tui.core.traffic import Captured, Cause, Direction, Entry, Kind, Outcome
from tui.traffic.record.entry_reader import EntryReader
from tui.traffic.record.redaction import MARGIN


def read(*captured: Captured, cap: int = 1000) -> list[Entry]:
    reader, into = EntryReader(hide, cap), list[Entry]()
    for one in captured:
        reader.read(one, into)
    return into


def test_a_line_is_stored_byte_for_byte():
    raw = b'\xff{"jsonrpc" : "2.0"\t\x1b[31m\r'
    (entry,) = read(seen(raw))
    assert (entry.body, entry.size, entry.kind, entry.sha256) == (raw, len(raw), Kind.NOT_JSON, "")


def test_the_tap_determines_which_entries_are_stderr_and_events():
    spawn = b'{"event":"spawn","pid":7}'
    entries = read(
        seen(line(id=1, method="ping"), Direction.NONE, Kind.STDERR),
        seen(spawn, Direction.NONE, Kind.EVENT, detail={"event": "spawn", "pid": 7}),
    )
    assert [(entry.kind, entry.method) for entry in entries] == [(Kind.STDERR, ""), (Kind.EVENT, "spawn")]
    assert entries[1].detail["pid"] == 7


def test_a_model_entry_has_the_name_of_the_model():
    body = json.dumps({"messages": [{"model": "no"}] * 50, "model": "small-1"}).encode()
    entries = read(
        seen(body, Direction.OUT, Kind.MODEL_REQUEST, "model:mine", detail={"exchange": 1}),
        seen(b"data:", Direction.IN, Kind.MODEL_REPLY, "model:mine", detail={"exchange": 1, "status": 200}),
        seen(b"no json", Direction.OUT, Kind.MODEL_REQUEST, "model:mine", detail={"exchange": 2}),
    )
    assert [entry.method for entry in entries] == ["small-1", "small-1", "mine"]
    assert (entries[1].pair, entries[1].outcome) == (1, Outcome.OK)


def test_a_large_body_is_truncated_with_the_digest_of_the_whole():
    raw = b"x" * 999 + SECRET + b"y" * (2 * MARGIN)
    (entry,) = read(seen(raw))
    assert entry.body == b"x" * 999 + MARK
    assert (entry.size, entry.sha256) == (len(raw), sha256(raw).hexdigest())
    (whole,) = read(seen(raw), cap=0)
    assert (len(whole.body), whole.sha256) == (len(raw) - len(SECRET) + len(MARK), "")


def test_the_digest_of_a_truncated_capture_is_taken_from_the_tap():
    (entry,) = read(seen(b"head, cut", size=10**9, detail={"sha256": "ab" * 32}))
    assert (entry.body, entry.size, entry.sha256) == (b"head", 10**9, "ab" * 32)


def test_secrets_are_removed_from_bodies_columns_and_details():
    secret = SECRET.decode()
    params = {"uri": f"https://x/?key={secret}"}
    detail = {"argv": ["run", secret], "headers": {"Authorization": "Basic abc", "x": secret}}
    (entry,) = read(seen(line(id=secret, method="resources/read", params=params), detail=detail))
    assert secret not in repr(entry)
    assert "Basic" not in repr(entry)
    assert [entry.body[span.start : span.end] for span in entry.redactions] == [MARK, MARK]
    assert entry.tool == "https://x/?key=" + MARK.decode()


def test_answers_to_a_redacted_id_are_paired():
    secret = SECRET.decode()
    asked, answered = read(
        seen(line(id=secret, method="ping"), Direction.OUT), seen(line(id=secret, result={}))
    )
    assert answered.pair == asked.seq


def test_the_messages_of_a_batch_are_separate_entries_after_it():
    one, two = line(id=1, result={}), line(id=2, error={"code": 1, "message": ""})
    entries = read(
        seen(line(id=1, method="ping"), Direction.OUT, cause=Cause(1)),
        seen(line(id=2, method="tools/list"), Direction.OUT),
        seen(b"[" + one + b"," + two + b"]"),
    )
    batch, first, second = entries[2:]
    assert (batch.kind, batch.pair, batch.detail) == (Kind.BATCH, 0, {})
    assert [(item.method, item.pair, item.body, item.size) for item in (first, second)] == [
        ("ping", 1, b"", 0),
        ("tools/list", 2, b"", 0),
    ]
    assert first.cause == Cause(1)
    assert [item.detail["batch"] for item in (first, second)] == [3, 3]
    start, end = second.detail["at"]
    assert batch.body[start:end] == two


def test_positions_in_a_batch_are_correct_after_a_redaction_and_beyond_its_end():
    one, two = line(id=1, result={"key": SECRET.decode()}), line(id=2, result={})
    batch, first, second = read(seen(b" [" + one + b" , " + two + b"]"))
    parts = [batch.body[slice(*entry.detail["at"])] for entry in (first, second)]
    assert MARK in parts[0] and json.loads(parts[0])["id"] == 1
    assert parts[1] == two
    one = line(id=1, result={"text": "x" * 2000})
    batch, first, second = read(seen(b"[" + one + b"," + two + b"]"), cap=1000)
    assert batch.sha256
    assert all(entry.detail["at"][1] > len(batch.body) for entry in (first, second))


def test_anomalies_of_an_answer_are_noted():
    (entry,) = read(seen(line(id=9, result={})))
    assert entry.detail == {"remark": "unknown-id"}


@pytest.mark.parametrize("detail", [{"a": {1, 2}}, {"a": float("nan")}, {"headers": [["Cookie", "a=b"], 7]}])
def test_an_entry_with_a_detail_of_any_shape_is_stored(detail: dict[str, object]):
    (entry,) = read(seen(b"x", detail=detail))
    assert entry.body == b"x"
    assert "a=b" not in repr(entry.detail)


def test_an_event_about_a_message_belongs_to_the_request_of_its_exchange():
    about = {"event": "edited", "id": 1, "method": "tools/call", "dir": "in", "of_exchange": 5}
    call = line(id=1, method="tools/call", params={"name": "rain"})
    first, second, edited = read(
        seen(call, Direction.OUT, detail={"exchange": 5, "http": "POST", "peer": 1}),
        seen(call, Direction.OUT, detail={"exchange": 6, "http": "POST", "peer": 2}),
        seen(b"{}", Direction.NONE, Kind.EVENT, detail=about),
    )
    assert (first.pair, second.pair, edited.pair) == (0, 0, first.seq)


def test_an_event_about_a_message_has_its_tool_and_id_and_belongs_to_its_request():
    about = {"event": "edited", "id": 1, "method": "tools/call", "tool": "rain", "dir": "in"}
    *_, edited, held = read(
        seen(line(id=1, method="tools/call", params={"name": "rain"}), Direction.OUT),
        seen(line(id=1, result={}), Direction.IN),
        seen(b"{}", Direction.NONE, Kind.EVENT, detail=about),
        seen(b"{}", Direction.NONE, Kind.EVENT, detail={**about, "event": "held", "dir": "out"}),
    )
    assert (edited.method, edited.tool, edited.ident, edited.pair) == ("edited", "rain", "1", 1)
    assert (held.tool, held.ident, held.pair) == ("rain", "1", 0)
