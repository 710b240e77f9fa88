import json
import tracemalloc
from base64 import b64decode
from typing import Any

import pytest

from tui.core.traffic import Direction, Entry, EntryNote, Kind
from tui.storage.exports.har import har

ASKED = {
    "http": "POST",
    "url": "http://127.0.0.1:8000/mcp?x=1",
    "headers": {"content-type": "application/json"},
}


def entry(seq: int, way: Direction, kind: Kind, body: bytes, detail: dict[str, Any], pair: int = 0) -> Entry:
    return Entry(seq, seq * 1_000_000, 1, "s", way, kind, pair=pair, size=len(body), detail=detail, body=body)


def archived(*entries: Entry, notes: dict[int, EntryNote] | None = None) -> list[dict[str, Any]]:
    columns = [one._replace(body=b"") for one in entries]
    noted = notes or {}
    whole = {one.seq: one for one in entries}.get
    log = json.loads("".join(har(columns, whole, lambda seq: noted.get(seq, EntryNote()))))["log"]
    assert log["version"] == "1.2"
    return log["entries"]


def test_a_request_and_its_response_become_one_entry():
    (found,) = archived(
        entry(1, Direction.OUT, Kind.REQUEST, b'{"id":1}', ASKED),
        entry(3, Direction.IN, Kind.RESPONSE, b'{"ok":1}', {"status": 200, "headers": [["X", "y"]]}, pair=1),
    )
    assert (found["request"]["method"], found["request"]["url"]) == ("POST", ASKED["url"])
    assert found["request"]["queryString"] == [{"name": "x", "value": "1"}]
    assert found["request"]["postData"] == {"mimeType": "application/json", "text": '{"id":1}'}
    assert found["response"]["status"] == 200
    assert found["response"]["headers"] == [{"name": "X", "value": "y"}]
    assert found["response"]["content"]["text"] == '{"ok":1}'
    assert found["time"] == 2


def test_the_events_of_a_stream_become_one_response_body():
    (found,) = archived(
        entry(1, Direction.OUT, Kind.REQUEST, b"{}", ASKED | {"exchange": 4}),
        entry(2, Direction.IN, Kind.NOTIFICATION, b"one", {"status": 200, "exchange": 4, "sse": {"id": "9"}}),
        entry(3, Direction.IN, Kind.RESPONSE, b"two", {"status": 200, "exchange": 4, "sse": {}}, pair=1),
    )
    assert found["response"]["content"]["text"] == "id: 9\ndata: one\n\ndata: two\n\n"


def test_only_http_is_included_and_a_request_without_a_response_has_status_0():
    (found,) = archived(
        entry(1, Direction.OUT, Kind.REQUEST, b"{}", {}),
        entry(2, Direction.OUT, Kind.MODEL_REQUEST, b"\xff", ASKED),
    )
    assert (found["response"]["status"], found["comment"]) == (0, "s, entry 2")


def test_events_that_are_not_utf_8_become_one_body_in_base64():
    (found,) = archived(
        entry(1, Direction.OUT, Kind.REQUEST, b"{}", ASKED | {"exchange": 4}),
        entry(2, Direction.IN, Kind.NOTIFICATION, b"o\xffe", {"status": 200, "exchange": 4, "sse": {}}),
        entry(3, Direction.IN, Kind.NOT_JSON, b"two", {"status": 200, "exchange": 4, "sse": {}}),
        entry(4, Direction.IN, Kind.RESPONSE, b"", {"status": 200, "exchange": 4, "sse": {}}, pair=1),
    )
    content = found["response"]["content"]
    assert content["encoding"] == "base64" and content["size"] == 6
    assert b64decode(content["text"]) == b"data: o\xffe\n\ndata: two\n\ndata: \n\n"


def test_a_malformed_exchange_number_is_ignored():
    (found,) = archived(
        entry(1, Direction.OUT, Kind.REQUEST, b"{}", ASKED | {"exchange": [4]}),
        entry(2, Direction.IN, Kind.RESPONSE, b"{}", {"status": 200, "exchange": {}}, pair=1),
    )
    assert found["response"]["status"] == 200


@pytest.mark.parametrize("shape", ["exchanges", "one stream"])
def test_only_a_few_bodies_are_in_memory_at_once(shape: str):
    size, number = 1 << 20, 40

    def column(seq: int) -> Entry:
        if shape == "one stream":
            detail = {"exchange": 1, **({"status": 200, "sse": {}} if seq > 1 else ASKED)}
            way = Direction.IN if seq > 1 else Direction.OUT
        else:
            detail = {"exchange": seq // 2, **({"status": 200} if seq % 2 else ASKED)}
            way = Direction.IN if seq % 2 else Direction.OUT
        return entry(seq, way, Kind.NOTIFICATION, b"", detail)

    def whole(seq: int) -> Entry:
        return column(seq)._replace(body=b"x" * size)

    tracemalloc.start()
    try:
        first = 1 if shape == "one stream" else 2
        written = sum(map(len, har((column(seq) for seq in range(first, first + number)), whole)))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert written > number * size
    assert peak < 8 * size


def test_marks_and_notes_are_comments():
    (found,) = archived(
        entry(1, Direction.OUT, Kind.REQUEST, b"{}", ASKED),
        entry(3, Direction.IN, Kind.RESPONSE, b"{}", {"status": 200}, pair=1),
        notes={1: EntryNote(marked=True), 3: EntryNote(text="too slow")},
    )
    assert found["comment"] == "s, entry 1, marked"
    assert found["response"]["comment"] == "s, entry 3, Note: too slow"
