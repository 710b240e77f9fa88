"""Reading and editing a request that is resent."""

from tui.core.traffic import Direction, Entry, Kind
from tui.traffic.record.resending import ResendRequest, read
from tui.ui.traffic.edit_request import parsed


def recorded(body: bytes) -> Entry:
    size = len(body)
    return Entry(7, 0, 0, "notes", Direction.OUT, Kind.REQUEST, "tools/call", size=size, body=body)


def test_a_recorded_request_is_sent_again_with_its_params() -> None:
    assert read(recorded(b'{"params": {"n": 1e9}}')) == ResendRequest(7, "notes", "tools/call", {"n": 1e9})


def test_a_recorded_number_out_of_range_is_not_sent_as_null() -> None:
    assert "JSON" in str(read(recorded(b'{"params": {"n": 1e999}}')))


def test_an_edited_number_out_of_range_is_refused() -> None:
    assert parsed('{"n": 1e999}') == "not JSON: 1e999 is out of range"
    assert parsed('{"n": NaN}') == "not JSON: NaN is not a JSON value"
    assert parsed('{"n": 1e9}') == {"n": 1e9}
