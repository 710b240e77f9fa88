"""JSON read part by part equals JSON parsed at once, and tolerates truncated or invalid text."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tui.core.jsonrpc.skimmer import PAGE, JsonKind, JsonValue, child_values, root_value, value_text

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=8), inner, max_size=5),
    max_leaves=20,
)


def read(data: bytes, value: JsonValue) -> Any:
    if value.kind is JsonKind.OBJECT:
        return {one.key: read(data, one) for one in child_values(data, value)}
    if value.kind is JsonKind.ARRAY:
        return [read(data, one) for one in child_values(data, value)]
    text = value_text(data, value, 1_000_000)
    return text if value.kind is JsonKind.STRING else json.loads(text)


@given(VALUES, st.booleans(), st.sampled_from([None, 1]))
def test_every_document_reads_as_json_loads_reads_it(
    document: Any, ascii_only: bool, indent: int | None
) -> None:
    data = json.dumps(document, ensure_ascii=ascii_only, indent=indent).encode("utf-8", "surrogatepass")
    root = root_value(data)
    assert root is not None
    assert read(data, root) == document


@given(VALUES, st.data())
def test_a_truncated_document_is_read_up_to_the_cut(document: Any, data: st.DataObject) -> None:
    whole = json.dumps([document], ensure_ascii=False).encode("utf-8", "surrogatepass")
    cut = whole[: data.draw(st.integers(1, len(whole)))]
    root = root_value(cut)
    assert root is not None
    assert all(one.end <= len(cut) for one in child_values(cut, root))


@given(st.binary(max_size=200))
def test_bytes_that_are_not_json_do_not_hang(noise: bytes) -> None:
    for data in (noise, b"{" + noise, b"[" + noise, b'"' + noise):
        root = root_value(data)
        if root is not None and root.is_container:
            child_values(data, root)


def test_a_long_array_is_read_in_pages() -> None:
    data = json.dumps(list(range(5_000))).encode()
    root = root_value(data)
    assert root is not None
    page = child_values(data, root)
    assert (len(page), page[-1].kind) == (PAGE + 1, JsonKind.MORE)
    rest = child_values(data, root, page[-1].start, page[-1].position)
    assert value_text(data, rest[0]) == str(PAGE)
