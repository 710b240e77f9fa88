"""An unreadable part of a listing does not affect the others."""

import json
import re
import time
import tracemalloc
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tui.core.jsonrpc import messages
from tui.core.jsonrpc.classification import classify
from tui.core.jsonrpc.messages import Response, Stray
from tui.core.jsonrpc.reader import (
    FEW_LISTS,
    MAX_DEPTH,
    MAX_PARTS,
    NotJson,
    Unreadable,
    loads,
    objects_within,
    read_damaged_listing,
    read_json,
)
from tui.core.traffic import Kind, Outcome
from tui.host.catalog import prompt_infos, resource_infos, tool_fault

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
OPENING = re.compile(r'\{"id"')


@given(JSON)
def test_patient_reading_returns_the_same_value_however_many_lists_there_are(value):
    raw = json.dumps(value).encode()
    assert read_json(raw, patient=True) == read_json(raw) == value
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


OTHER = st.text(st.characters(exclude_characters="{", exclude_categories=["Cs"]))


@given(OTHER, OTHER)
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


def test_consecutive_objects_are_found_up_to_a_few():
    assert objects_within(b'x{"id":1}{"id":2} {"id" {"id":3}', OPENING) == [{"id": 1}, {"id": 2}, {"id": 3}]
    assert len(objects_within(b'{"id":1}' * 100, OPENING)) == 8


GOOD = '{"name": "good", "uri": "a:b", "inputSchema": {"type": "object"}}'
DIGITS = "an integer with thousands of digits"


read_line = partial(messages.read_line, patient=True)


def deep(levels: int) -> str:
    return '{"a": ' * levels + "1" + "}" * levels


def response(result: str) -> bytes:
    return f'{{"jsonrpc": "2.0", "id": 7, "result": {result}}}'.encode()


def listing(*entries: str, key: str = "tools") -> bytes:
    return response(f'{{"{key}": [{", ".join(entries)}], "nextCursor": "x"}}')


BAD = [
    (deep(300), "nests deeper than 256 levels"),
    (deep(5_000), "nests deeper than 256 levels"),
    ("[" * 200_000 + "]" * 200_000, "nests deeper than 256 levels"),
    ('{"minimum": 1e999}', "has a number out of range"),
    (f'{{"minimum": {"7" * 5_000}}}', f"has {DIGITS}"),
    ("-Infinity", "has -Infinity"),
    ('[{"default": NaN}]', "has NaN"),
    ('{"default": undefined}', "is not JSON"),
    ('"a\tb\x01"', "is not JSON"),
]


@pytest.mark.parametrize("member", ["inputSchema", "outputSchema", "description", "annotations", "_meta"])
@pytest.mark.parametrize(("value", "why"), BAD)
def test_a_tool_with_one_bad_member_is_named_and_the_others_are_kept(member: str, value: str, why: str):
    bad = f'{{"name": "bad", "{member}": {value}, "title": "Bad"}}'
    (found,) = read_line(listing(GOOD, bad, GOOD))
    assert found.id == 7 and found.result["nextCursor"] == "x"
    first, second, third = found.result["tools"]
    assert first == third == json.loads(GOOD)
    assert second == {"name": "bad", "title": "Bad"}
    assert tool_fault(second) == f"its {member} {why}"


@pytest.mark.parametrize(
    "entry", ["NaN", "1e999", deep(300), "[" * 300 + "]" * 300, f'{{"name": {deep(300)}}}']
)
@pytest.mark.parametrize("key", ["tools", "resources", "resourceTemplates", "prompts"])
def test_a_bad_entry_in_any_listing_becomes_unreadable_and_the_others_are_kept(key: str, entry: str):
    good, bad = read_damaged_listing(listing(GOOD, entry, key=key))["result"][key]
    assert good == json.loads(GOOD) and isinstance(bad, Unreadable)


def test_omitted_resources_and_prompts_are_named_with_the_reason():
    bad = '{"uri": "x:y", "name": "bad", "_meta": {"size": 1e999}}'
    (found,) = read_line(listing(GOOD, bad, key="resources"))
    why = "(bad: its _meta has a number out of range)."
    kept, note = resource_infos("s", found.result["resources"], template=False)
    assert [one.uri for one in kept] == ["a:b"]
    assert note == f"1 of 2 resources are malformed and were omitted {why}"
    kept, note = prompt_infos("s", found.result["resources"])
    assert [one.name for one in kept] == ["good"]
    assert note == f"1 of 2 prompts are malformed and were omitted {why}"


@pytest.mark.parametrize("key", ["_meta", "nextCursor"])
@pytest.mark.parametrize("value", [deep(300), "NaN", "1e999"])
def test_a_bad_member_next_to_the_list_does_not_affect_the_list(key: str, value: str):
    found = read_line(response(f'{{"tools": [{GOOD}], "{key}": {value}}}'))
    assert found == [Response(7, {"tools": [json.loads(GOOD)], key: {}})]


@pytest.mark.parametrize("value", [deep(300), "NaN", "1e999"])
def test_a_handshake_with_a_bad_part_keeps_the_others(value: str):
    said = f'{{"tools": {{"listChanged": true}}, "experimental": {value}}}'
    found = read_line(response(f'{{"protocolVersion": "2025-11-25", "capabilities": {said}}}'))
    kept = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {"listChanged": True}}}
    assert found == [Response(7, kept)]


@each_case(
    "raw",
    [
        response(deep(300)),
        response(f'{{"content": [{deep(300)}]}}'),
        response('{"content": [{"type": "text", "text": NaN}]}'),
        response(f'{{"content": [{{"type": "text", "text": "tools", "n": {"7" * 5_000}}}]}}'),
        b'{"jsonrpc": "2.0", "id": 1, "params": ' + deep(300).encode() + b"}",
        listing(deep(300))[:-3],
        listing(deep(300)) + b" {}",
        listing("NaN").replace(b"NaN", b"{} {}"),
        listing("NaN").replace(b"NaN", b"NaN NaN"),
    ],
)
def test_responses_that_are_not_listings_are_still_rejected(raw: bytes):
    assert read_damaged_listing(raw) is None
    (found,) = read_line(raw)
    assert isinstance(found, Stray)
    assert not raw.endswith(b"}") or found.ids


def test_what_is_rejected_names_a_number_with_too_many_digits():
    (found,) = read_line(response(f'{{"content": [{{"type": "text", "n": {"7" * 5_000}}}]}}'))
    assert found == Stray(f"it has {DIGITS}", (7,))
    assert read_damaged_listing(listing(deep(300), "[" + "[]," * 250_000 + "[]]")) is None


@each_case(("value", "_"), BAD)
def test_a_repaired_listing_counts_as_answered_in_the_recording(value: str, _: str):
    found = classify(listing(GOOD, f'{{"name": "bad", "_meta": {value}}}'))
    assert (found.kind, found.outcome) == (Kind.RESPONSE, Outcome.OK)


def test_thousands_of_malformed_entries_are_read_quickly():
    # 10,000 malformed entries; CPU time, so that a busy machine does not matter.
    raw = listing(*['{"name":NaN}'] * 10_000)
    began = time.thread_time()
    assert len(read_damaged_listing(raw)["result"]["tools"]) == 10_000
    assert time.thread_time() - began < 2.0


@each_case("word", ["NaN", "Infinity", "-Infinity", "1e999", "-1E400", "1" * 400 + ".0"])
def test_numbers_that_are_not_finite_are_rejected(word: str) -> None:
    with pytest.raises(ValueError, match=f"^{word[:9]}.*(is not a JSON value|is out of range)$"):
        loads(f'{{"a": [{word}]}}')


def test_other_json_is_read_as_usual_with_line_breaks_in_strings_on_request() -> None:
    assert loads('{"a": [1.5, 10, "NaN", null, true]}') == {"a": [1.5, 10, "NaN", None, True]}
    assert loads(f"[{'9' * 400}]") == [int("9" * 400)]
    with pytest.raises(ValueError, match="control character"):
        loads('["a\nb"]')
    assert loads('["a\nb"]', strict=False) == ["a\nb"]
