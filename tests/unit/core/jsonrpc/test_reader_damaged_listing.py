"""An unreadable part of a listing does not affect the others."""

import json
import time
from functools import partial

import pytest

from tui.core.jsonrpc import messages
from tui.core.jsonrpc.classification import classify
from tui.core.jsonrpc.messages import Response, Stray
from tui.core.jsonrpc.reader import Unreadable, read_damaged_listing
from tui.core.traffic import Kind, Outcome
from tui.host.catalog import prompt_infos, resource_infos, tool_fault

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
    assert isinstance(found, Response)
    assert found.id == 7
    assert found.result["nextCursor"] == "x"
    first, second, third = found.result["tools"]
    assert first == third == json.loads(GOOD)
    assert second == {"name": "bad", "title": "Bad"}
    assert tool_fault(second) == f"its {member} {why}"


@pytest.mark.parametrize(
    "entry", ["NaN", "1e999", deep(300), "[" * 300 + "]" * 300, f'{{"name": {deep(300)}}}']
)
@pytest.mark.parametrize("key", ["tools", "resources", "resourceTemplates", "prompts"])
def test_a_bad_entry_in_any_listing_becomes_unreadable_and_the_others_are_kept(key: str, entry: str):
    found = read_damaged_listing(listing(GOOD, entry, key=key))
    assert found is not None
    good, bad = found["result"][key]
    assert good == json.loads(GOOD)
    assert isinstance(bad, Unreadable)


def test_omitted_resources_and_prompts_are_named_with_the_reason():
    bad = '{"uri": "x:y", "name": "bad", "_meta": {"size": 1e999}}'
    (found,) = read_line(listing(GOOD, bad, key="resources"))
    assert isinstance(found, Response)
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
    (found,) = read_line(response(f'{{"tools": [{GOOD}], "{key}": {value}}}'))
    assert isinstance(found, Response)
    assert found.result == {"tools": [json.loads(GOOD)], key: {}}


@pytest.mark.parametrize("value", [deep(300), "NaN", "1e999"])
def test_a_handshake_with_a_bad_part_keeps_the_others(value: str):
    said = f'{{"tools": {{"listChanged": true}}, "experimental": {value}}}'
    (found,) = read_line(response(f'{{"protocolVersion": "2025-11-25", "capabilities": {said}}}'))
    assert isinstance(found, Response)
    assert found.result == {"protocolVersion": "2025-11-25", "capabilities": {"tools": {"listChanged": True}}}


@pytest.mark.parametrize(
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


def test_a_number_with_too_many_digits_is_named_as_the_problem():
    (found,) = read_line(response(f'{{"content": [{{"type": "text", "n": {"7" * 5_000}}}]}}'))
    assert found == Stray(f"it has {DIGITS}", (7,))


def test_a_listing_with_too_many_parts_is_still_rejected():
    assert read_damaged_listing(listing(deep(300), "[" + "[]," * 250_000 + "[]]")) is None


@pytest.mark.parametrize(("value", "_"), BAD)
def test_a_repaired_listing_counts_as_answered_in_the_recording(value: str, _: str):
    found = classify(listing(GOOD, f'{{"name": "bad", "_meta": {value}}}'))
    assert (found.kind, found.outcome) == (Kind.RESPONSE, Outcome.OK)


def test_thousands_of_malformed_entries_are_read_quickly():
    # 10,000 malformed entries; CPU time, so that a busy machine does not matter.
    raw = listing(*['{"name":NaN}'] * 10_000)
    began = time.thread_time()
    found = read_damaged_listing(raw)
    assert found is not None
    assert len(found["result"]["tools"]) == 10_000
    assert time.thread_time() - began < 2.0
