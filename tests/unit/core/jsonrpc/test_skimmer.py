"""The positions of members in large objects, found without parsing values."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tui.core.jsonrpc.skimmer import (
    MAX_MEMBERS,
    PAGE,
    JsonKind,
    JsonValue,
    child_values,
    items,
    outline,
    root_value,
    value_end,
    value_text,
)

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


def test_the_last_of_several_duplicate_keys_counts_however_it_is_written():
    raw = rb'{"id": 1, "\u0069d": 22}'
    begin, end = outline(raw).members["id"]
    assert raw[begin:end] == b"22"


def test_nesting_of_any_depth_is_skipped_but_too_many_members_are_rejected():
    deep = b"[" * 500_000 + b"]" * 500_000
    assert outline(b'{"a":' + deep + b',"id":1}').members["id"] == (1_000_011, 1_000_012)
    raw = json.dumps(dict.fromkeys(map(str, range(MAX_MEMBERS + 1)))).encode()
    with pytest.raises(ValueError, match="too many"):
        outline(raw)


def test_array_items_are_located_up_to_a_limit():
    raw = b' [ {"a":1} , [2], "]" ,3]'
    assert [raw[begin:end] for begin, end in items(raw, 1, 10)] == [b'{"a":1}', b"[2]", b'"]"', b"3"]
    assert len(list(items(raw, 1, 2))) == 2


@each_case("raw", [b'"never ends', b"{", b'{"a":"}', b"[[]", b"", b'"\\"', b"tr"])
def test_a_truncated_value_has_no_end(raw: bytes):
    assert value_end(raw, 0) == -1


def read(data: bytes, value: JsonValue) -> Any:
    if value.kind is JsonKind.OBJECT:
        return {one.key: read(data, one) for one in child_values(data, value)}
    if value.kind is JsonKind.ARRAY:
        return [read(data, one) for one in child_values(data, value)]
    text = value_text(data, value, 1_000_000)
    return text if value.kind is JsonKind.STRING else json.loads(text)


@given(values, st.booleans(), st.sampled_from([None, 1]))
def test_every_document_reads_as_json_loads_reads_it(
    document: Any, ascii_only: bool, indent: int | None
) -> None:
    data = json.dumps(document, ensure_ascii=ascii_only, indent=indent).encode("utf-8", "surrogatepass")
    assert read(data, root_value(data)) == document


@given(values, st.data())
def test_a_truncated_document_is_read_up_to_the_cut(document: Any, data: st.DataObject) -> None:
    whole = json.dumps([document], ensure_ascii=False).encode("utf-8", "surrogatepass")
    cut = whole[: data.draw(st.integers(1, len(whole)))]
    assert all(one.end <= len(cut) for one in child_values(cut, root_value(cut)))


@given(st.binary(max_size=200))
def test_bytes_that_are_not_json_do_not_hang(noise: bytes) -> None:
    for data in (noise, b"{" + noise, b"[" + noise, b'"' + noise):
        root = root_value(data)
        if root is not None and root.is_container:
            child_values(data, root)


def test_a_long_array_is_read_in_pages() -> None:
    data = json.dumps(list(range(5_000))).encode()
    root = root_value(data)
    page = child_values(data, root)
    assert (len(page), page[-1].kind) == (PAGE + 1, JsonKind.MORE)
    rest = child_values(data, root, page[-1].start, page[-1].position)
    assert value_text(data, rest[0]) == str(PAGE)
