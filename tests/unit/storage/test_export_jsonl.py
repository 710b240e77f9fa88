import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.core.errors import StorageError
from tui.core.traffic import Cause, Direction, Entry, Kind, Outcome, Redaction
from tui.storage.export_jsonl import jsonl, read_jsonl

texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
entries = st.builds(
    Entry,
    seq=st.just(1),
    mono_ns=st.integers(0, 1 << 62),
    wall_ns=st.integers(0, 1 << 62),
    source=texts,
    direction=st.sampled_from(Direction),
    kind=st.sampled_from(Kind),
    method=texts,
    tool=texts,
    ident=texts,
    size=st.integers(0, 1 << 40),
    outcome=st.sampled_from(Outcome),
    cause=st.none() | st.builds(Cause, st.integers(0, 99), st.integers(0, 99), texts),
    sha256=texts,
    redactions=st.lists(st.builds(Redaction, st.integers(0, 9), st.integers(0, 9), texts)).map(tuple),
    detail=st.dictionaries(texts.filter(lambda key: key != "batch"), st.integers() | texts, max_size=3),
    body=st.binary(max_size=40) | texts.map(str.encode),
)


def there_and_back(*given: Entry) -> list[Entry]:
    return list(read_jsonl((line.encode() for line in jsonl(given)), "export.jsonl"))


@given(entries)
def test_an_entry_comes_back_as_it_was(entry: Entry):
    assert there_and_back(entry) == [entry]


@given(entries)
def test_a_line_is_one_line_of_ascii(entry: Entry):
    for line in jsonl([entry]):
        assert line.isascii()
        assert line.endswith("\n") and line.count("\n") == 1


def entry(seq: int, **more: object) -> Entry:
    return Entry(seq, seq, seq, "s", Direction.OUT, Kind.REQUEST, **more)  # type: ignore[arg-type]


def test_a_selection_is_numbered_anew_and_keeps_its_pairs():
    first, second, third = there_and_back(entry(4), entry(9, pair=4, root=4), entry(12, pair=7))
    assert (first.seq, second.seq, second.pair, second.root, third.seq, third.pair) == (1, 2, 1, 1, 3, 0)


@pytest.mark.parametrize(
    "line",
    [b"no json", b"[]", b"{}", b'{"seq":"1"}', b"[" * 100_000, b'{"seq":1,"mono_ns":-5}', b"\xff"],
)
def test_a_line_that_is_no_entry_is_named_with_its_number(line: bytes):
    with pytest.raises(StorageError, match="line 2 is no entry"):
        list(read_jsonl([b'{"mcptrace":1}', line], "export.jsonl"))


def test_a_newer_format_is_refused():
    with pytest.raises(StorageError, match="newer mcptui"):
        list(read_jsonl([json.dumps({"mcptrace": 2}).encode()], "export.jsonl"))
