"""An entry of a listing that is nested too deeply costs itself, not the others."""

import json

import pytest

from tui.core.jsonrpc.deep_listing import read_deep_listing
from tui.core.jsonrpc.messages import Response, Stray, read_line
from tui.host.schemas.schema_faults import schema_fault


def deep(levels: int) -> str:
    return '{"a": ' * levels + "1" + "}" * levels


def response(result: str) -> bytes:
    return f'{{"jsonrpc": "2.0", "id": 7, "result": {result}}}'.encode()


def listing(*entries: str, key: str = "tools") -> bytes:
    return response(f'{{"{key}": [{", ".join(entries)}], "nextCursor": "x"}}')


@pytest.mark.parametrize("levels", [300, 5_000, 200_000])
def test_the_other_entries_and_members_are_kept(levels: int):
    good = '{"name": "good", "inputSchema": {"type": "object"}}'
    bad = f'{{"name": "bad", "inputSchema": {deep(levels)}}}'
    (found,) = read_line(listing(good, bad, good))
    assert isinstance(found, Response)
    assert found.id == 7
    assert found.result["nextCursor"] == "x"
    first, second, third = found.result["tools"]
    assert first == third == json.loads(good)
    assert second["name"] == "bad"
    assert schema_fault(second["inputSchema"]) == "nests deeper than 64 levels"


@pytest.mark.parametrize("entry", [deep(300), "[" * 300 + "]" * 300, f'{{"name": {deep(300)}}}'])
@pytest.mark.parametrize("key", ["tools", "resources", "resourceTemplates", "prompts"])
def test_every_listing_and_entry_of_any_kind(key: str, entry: str):
    found = read_deep_listing(listing('{"name": "good"}', entry, key=key))
    assert found is not None
    assert found["result"][key][0] == {"name": "good"}
    assert len(found["result"][key]) == 2


@pytest.mark.parametrize(
    "raw",
    [
        response(deep(300)),
        response(f'{{"content": [{deep(300)}]}}'),
        response(f'{{"tools": {deep(300)}}}'),
        response(f'{{"tools": [{deep(300)}], "_meta": {deep(300)}}}'),
        b'{"jsonrpc": "2.0", "id": 1, "params": ' + deep(300).encode() + b"}",
        listing(deep(300))[:-3],
        listing(deep(300)) + b" {}",
    ],
)
def test_what_is_no_listing_stays_refused(raw: bytes):
    assert read_deep_listing(raw) is None
    (found,) = read_line(raw)
    assert isinstance(found, Stray)


def test_a_listing_of_too_many_parts_stays_refused():
    assert read_deep_listing(listing(deep(300), "[" + "[]," * 250_000 + "[]]")) is None
