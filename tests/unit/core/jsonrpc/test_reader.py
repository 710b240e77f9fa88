import json
import re
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.core.jsonrpc.reader import FEW_LISTS, MAX_DEPTH, MAX_PARTS, NotJson, objects_within, read_json

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
OPENING = re.compile(r'\{"id"')


@given(JSON)
def test_patient_reading_returns_the_same_value(value):
    raw = json.dumps(value).encode()
    assert read_json(raw, patient=True) == read_json(raw) == value


@given(JSON)
def test_many_lists_do_not_change_the_value(value):
    raw = json.dumps([value, [[]] * (FEW_LISTS + 1)]).encode()
    assert read_json(raw, patient=True)[0] == value


@pytest.mark.parametrize("part", ["[]", "{}"])
def test_too_many_parts_are_rejected(part):
    raw = ("[" + ",".join([part] * (MAX_PARTS + 1)) + "]").encode()
    with pytest.raises(NotJson, match="more than 250,000 objects and lists"):
        read_json(raw, patient=True)


@pytest.mark.parametrize("lists", [1, FEW_LISTS + 1])
@pytest.mark.parametrize("levels", [MAX_DEPTH + 2, 200_000])
def test_excessive_nesting_is_rejected_without_a_crash(lists, levels):
    raw = b"[" + b"[]," * lists + b"[" * levels + b"]" * levels + b"]"
    with pytest.raises(RecursionError):
        read_json(raw, patient=True)


@pytest.mark.parametrize("odd", [b"NaN", b"-Infinity", b"1e999"])
def test_numbers_that_json_cannot_express_are_rejected(odd):
    with pytest.raises(NotJson):
        read_json(b'{"a": ' + odd + b"}")


@given(
    st.text(st.characters(exclude_characters="{", exclude_categories=["Cs"])),
    st.text(st.characters(exclude_characters="{", exclude_categories=["Cs"])),
)
def test_an_object_is_found_among_other_text(before, after):
    assert objects_within(f'{before}{{"id":1}}{after}'.encode(), OPENING) == [{"id": 1}]


def test_escaped_characters_are_read_in_bounded_memory():
    raw = json.dumps("\U0001f469\u200d" * 100_000).encode()  # 200,000 escapes, 1.8 MB
    tracemalloc.start()
    try:
        assert read_json(raw) == "\U0001f469\u200d" * 100_000
        assert tracemalloc.get_traced_memory()[1] < 4 * len(raw)
    finally:
        tracemalloc.stop()


def test_consecutive_objects_are_all_found():
    assert objects_within(b'x{"id":1}{"id":2} {"id" {"id":3}', OPENING) == [{"id": 1}, {"id": 2}, {"id": 3}]


def test_only_a_few_objects_are_returned():
    assert len(objects_within(b'{"id":1}' * 100, OPENING)) == 8
