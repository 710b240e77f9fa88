"""Entries as values that can be compared."""

import pytest

from tests.unit.traffic.traffic_script import Script
from tui.core.traffic import Direction, Entry
from tui.traffic.record.comparable import NotComparable, call_of, comparable_value
from tui.traffic.record.entry_columns import EntryColumns, column_row


def columns_of(script: Script) -> EntryColumns:
    columns = EntryColumns()
    columns.extend([column_row(entry) for entry in script.entries])
    return columns


def test_the_call_of_an_entry_is_its_request_and_response():
    script = Script().legacy()
    columns = columns_of(script)
    assert call_of(columns, 1) == call_of(columns, 2) == (1, 2)
    assert call_of(columns, 3) == ()


class OneEntry:
    """A reader of one entry."""

    def __init__(self, entry: Entry | None) -> None:
        self._entry = entry

    def entry(self, seq: int, body_limit: int = 0) -> Entry | None:
        return self._entry


def value_of(entry: Entry | None) -> object:
    return comparable_value(OneEntry(entry), 7)  # type: ignore[arg-type]


def test_an_entry_is_its_json_its_lines_or_its_detail():
    script = Script()
    json, text = script.raw(Direction.IN, b'{"a": 1}'), script.raw(Direction.IN, b"a\x1b\nb")
    assert value_of(json) == {"a": 1}
    assert value_of(text) == ["a␛", "b"]
    assert value_of(script.event("exit", code=1)) == {"event": "exit", "code": 1}


def test_an_entry_that_is_not_complete_cannot_be_compared():
    entry = Script().raw(Direction.IN, b"{}")
    with pytest.raises(NotComparable, match="Entry 7 is truncated"):
        value_of(entry._replace(sha256="00"))
    with pytest.raises(NotComparable, match="Entry 7 was dropped"):
        value_of(None)
    with pytest.raises(NotComparable, match="Entry 7 is too large"):
        value_of(entry._replace(body=b"x" * (8 * 1024 * 1024 + 1)))
