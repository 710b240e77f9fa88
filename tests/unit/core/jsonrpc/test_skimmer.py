"""The positions of members in large objects, found without parsing values."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.core.jsonrpc.skimmer import MAX_MEMBERS, items, outline, value_end

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=8), inner, max_size=5),
    max_leaves=30,
)


@given(st.dictionaries(st.text(max_size=20), values, max_size=6), st.booleans(), st.sampled_from([None, 2]))
def test_the_outline_locates_every_member(value: dict, ascii_only: bool, indent: int | None):
    raw = json.dumps(value, ensure_ascii=ascii_only, indent=indent).encode("utf-8", "surrogatepass")
    seen = outline(raw)
    assert seen.end == len(raw)
    spans = seen.members.items()
    found = {key: json.loads(raw[start:end].decode("utf-8", "surrogatepass")) for key, (start, end) in spans}
    readable = {key: inner for key, inner in value.items() if key.isprintable()}
    assert {key: inner for key, inner in found.items() if key in readable} == readable


@given(st.text(alphabet='\\"{}[]a', max_size=2000), st.integers(0, 700))
def test_quotes_and_backslashes_across_slices_do_not_end_a_value_early(text: str, shift: int):
    raw = json.dumps({"a": ["x" * shift, text, {"b": text}], "z": 1}).encode()
    begin, end = outline(raw).members["a"]
    assert json.loads(raw[begin:end])[1:] == [text, {"b": text}]


@given(values, st.data())
def test_the_outline_of_a_truncated_object_has_its_complete_members(value: object, data: st.DataObject):
    raw = json.dumps({"first": 1, "second": value, "third": 3}).encode()
    cut = data.draw(st.integers(0, len(raw) - 1))
    try:
        seen = outline(raw[:cut])
    except ValueError:
        assert cut == 0
        return
    assert seen.end == -1
    if cut > raw.index(b",") + 1:
        assert seen.members["first"] == (10, 11)


@given(st.binary(max_size=300))
def test_any_bytes_give_an_outline_or_a_value_error(raw: bytes):
    try:
        outline(b"{" + raw)
    except ValueError:
        pass


def test_the_last_of_several_duplicate_keys_counts():
    raw = b'{"id": 1, "id": 22}'
    begin, end = outline(raw).members["id"]
    assert raw[begin:end] == b"22"


def test_an_escaped_key_is_decoded():
    assert "id" in outline(rb'{"\u0069d": 1}').members


def test_nesting_of_any_depth_is_skipped():
    deep = b"[" * 500_000 + b"]" * 500_000
    assert outline(b'{"a":' + deep + b',"id":1}').members["id"] == (1_000_011, 1_000_012)


def test_an_object_with_too_many_members_is_rejected():
    raw = json.dumps(dict.fromkeys(map(str, range(MAX_MEMBERS + 1)))).encode()
    with pytest.raises(ValueError, match="too many"):
        outline(raw)


def test_array_items_are_located_up_to_a_limit():
    raw = b' [ {"a":1} , [2], "]" ,3]'
    assert [raw[begin:end] for begin, end in items(raw, 1, 10)] == [b'{"a":1}', b"[2]", b'"]"', b"3"]
    assert len(list(items(raw, 1, 2))) == 2


@pytest.mark.parametrize("raw", [b'"never ends', b"{", b'{"a":"}', b"[[]", b"", b'"\\"', b"tr"])
def test_a_truncated_value_has_no_end(raw: bytes):
    assert value_end(raw, 0) == -1
