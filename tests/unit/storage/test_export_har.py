import json
from typing import Any

from tui.core.traffic import Direction, Entry, Kind
from tui.storage.export_har import har

ASKED = {
    "http": "POST",
    "url": "http://127.0.0.1:8000/mcp?x=1",
    "headers": {"content-type": "application/json"},
}


def entry(seq: int, way: Direction, kind: Kind, body: bytes, detail: dict[str, Any], pair: int = 0) -> Entry:
    return Entry(seq, seq * 1_000_000, 1, "s", way, kind, pair=pair, size=len(body), detail=detail, body=body)


def archived(*entries: Entry) -> list[dict[str, Any]]:
    log = json.loads("".join(har(entries)))["log"]
    assert log["version"] == "1.2"
    return log["entries"]


def test_a_request_and_its_answer_become_one_entry():
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


def test_the_events_of_a_stream_become_one_body():
    (found,) = archived(
        entry(1, Direction.OUT, Kind.REQUEST, b"{}", ASKED | {"exchange": 4}),
        entry(2, Direction.IN, Kind.NOTIFICATION, b"one", {"status": 200, "exchange": 4, "sse": {"id": "9"}}),
        entry(3, Direction.IN, Kind.RESPONSE, b"two", {"status": 200, "exchange": 4, "sse": {}}, pair=1),
    )
    assert found["response"]["content"]["text"] == "id: 9\ndata: one\n\ndata: two\n\n"


def test_what_did_not_travel_over_http_is_left_out():
    assert archived(entry(1, Direction.OUT, Kind.REQUEST, b"{}", {})) == []


def test_a_request_without_an_answer_is_there_with_status_0():
    (found,) = archived(entry(1, Direction.OUT, Kind.MODEL_REQUEST, b"\xff", ASKED))
    assert found["response"]["status"] == 0
