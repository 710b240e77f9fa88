import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tests.unit.storage.any_traffic import any_entries
from tui.core.errors import StorageError
from tui.core.traffic import Direction, Entry, EntryNote, Kind
from tui.storage.exports.jsonl import jsonl, read_jsonl

texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
entries = any_entries(
    texts,
    detail=st.dictionaries(texts.filter(lambda key: key != "batch"), st.integers() | texts, max_size=3),
    body=st.binary(max_size=40) | texts.map(str.encode),
)


def there_and_back(*given: Entry) -> list[Entry]:
    return list(read_jsonl((line.encode() for line in jsonl(given)), "export.jsonl"))


@given(entries)
def test_an_entry_survives_a_round_trip(entry: Entry):
    assert there_and_back(entry) == [entry]


@given(texts)
def test_a_mark_and_a_note_survive_a_round_trip(note: str):
    noted, read = {4: EntryNote(True, note), 9: EntryNote(False, note)}, dict[int, EntryNote]()
    lines = jsonl([entry(4), entry(9), entry(12)], lambda seq: noted.get(seq, EntryNote()))
    assert len(list(read_jsonl((line.encode() for line in lines), "export.jsonl", read))) == 3
    assert read == {1: noted[4], **({2: noted[9]} if note else {})}


@given(entries)
def test_each_line_is_one_line_of_ascii(entry: Entry):
    for line in jsonl([entry]):
        assert line.isascii()
        assert line.endswith("\n") and line.count("\n") == 1


def entry(seq: int, **more: object) -> Entry:
    return Entry(seq, seq, seq, "s", Direction.OUT, Kind.REQUEST, **more)  # type: ignore[arg-type]


def test_a_selection_is_renumbered_and_keeps_its_pairs():
    first, second, third = there_and_back(entry(4), entry(9, pair=4, root=4), entry(12, pair=7))
    assert (first.seq, second.seq, second.pair, second.root, third.seq, third.pair) == (1, 2, 1, 1, 3, 0)


@each_case(
    "line",
    [b"no json", b"[]", b"{}", b'{"seq":"1"}', b"[" * 100_000, b'{"seq":1,"mono_ns":-5}', b"\xff"],
)
def test_a_line_that_is_not_an_entry_is_reported_with_its_number(line: bytes):
    with pytest.raises(StorageError, match="line 2 is not a recording entry"):
        list(read_jsonl([b'{"mcptrace":1}', line], "export.jsonl"))


VALID = {"seq": 5, "wall_ns": 9, "mono_ns": 9, "source": "s", "direction": "in", "kind": "event", "size": 1}


@each_case(
    ("change", "reason"),
    [
        ({"seq": None}, '"seq" is not an integer from 1'),
        ({"seq": 0}, '"seq" is not an integer from 1'),
        ({"seq": 1 << 63}, '"seq" is not an integer'),
        ({"size": True}, '"size" is not an integer from 0'),
        ({"kind": "Request"}, '"kind" is not one of request, response'),
        ({"direction": 1}, '"direction" is not a string'),
        ({"cause": [1]}, '"cause" is not an object'),
        ({"cause": {"turn": 1 << 32, "step": 1, "call": ""}}, '"turn" is not an integer from 0 to 4294'),
        ({"cause": {"turn": 1, "call": ""}}, '"step" is missing'),
        ({"redactions": [[1, 2]]}, '"redactions" is not an array of'),
        ({"redactions": 5}, '"redactions" is not an array of'),
        ({"body": "\ud800"}, '"body" contains a lone surrogate'),
        ({"body_base64": "%"}, '"body_base64" is not Base64'),
        ({"detail": [["a", 1]]}, '"detail" is not an object'),
        ({"detail": {"batch": [1], "at": [0, 1]}}, '"detail" has an invalid "batch" or "at"'),
        ({"detail": {"batch": 1}}, '"detail" has an invalid "batch" or "at"'),
        ({"detail": {"batch": 1, "at": [0, 1 << 70]}}, '"detail" has an invalid "batch" or "at"'),
        ({"detail": {"batch": 1, "at": [-1, 1]}}, '"detail" has an invalid "batch" or "at"'),
        ({"detail": {"batch": 1, "at": ["a", "b"]}}, '"detail" has an invalid "batch" or "at"'),
        ({"detail": {"a": json.loads("[" * 120 + "]" * 120)}}, '"detail" is nested too deeply'),
        ({"seq": 4}, '"seq" 4 is used twice'),
    ],
)
def test_the_problem_of_a_line_is_reported(change: dict[str, Any], reason: str):
    lines = [json.dumps(VALID | {"seq": 4}), json.dumps(VALID | change)]
    with pytest.raises(StorageError, match=re.escape(f"line 2 is not a recording entry ({reason}")):
        list(read_jsonl(map(str.encode, lines), "export.jsonl"))


@each_case("missing", list(VALID))
def test_a_missing_member_is_named(missing: str):
    line = json.dumps({name: value for name, value in VALID.items() if name != missing})
    with pytest.raises(StorageError, match=f'line 1 is not a recording entry \\("{missing}" is missing'):
        list(read_jsonl([line.encode()], "export.jsonl"))


def test_a_number_with_too_many_digits_is_reported():
    line = json.dumps(VALID).replace('"seq": 5', f'"seq": {"9" * 5000}')
    with pytest.raises(StorageError, match=r"line 1 .*a number has too many digits"):
        list(read_jsonl([line.encode()], "export.jsonl"))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 1 << 70) | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
members = st.sampled_from(
    [*VALID, "pair", "root", "cause", "redactions", "detail", "body", "body_base64", "outcome"]
)


@given(change=st.dictionaries(members, json_values, max_size=3), place=st.dictionaries(
    st.sampled_from(["batch", "at"]), json_values))  # fmt: skip
def test_any_line_is_an_entry_or_an_error_with_its_number(change: dict[str, Any], place: dict[str, Any]):
    line = json.dumps(VALID | {"detail": place} | change)
    try:
        (entry,) = read_jsonl([line.encode()], "export.jsonl")
    except StorageError as error:
        assert error.message.startswith("line 1 is not a recording entry (")
    else:
        assert entry.seq == 1 and there_and_back(entry) == [entry]


@each_case("version", ["x", True, -1, None, 1.5])
def test_a_format_that_is_not_a_number_is_reported(version: object):
    with pytest.raises(StorageError, match=r'line 1 .*"mcptrace" is not an integer'):
        list(read_jsonl([json.dumps({"mcptrace": version}).encode()], "export.jsonl"))


def test_a_newer_format_is_rejected():
    with pytest.raises(StorageError, match="newer mcptui"):
        list(read_jsonl([json.dumps({"mcptrace": 2}).encode()], "export.jsonl"))
