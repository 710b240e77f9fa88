"""A filter finds text in bodies as it is read, however it is escaped."""

from collections.abc import Sequence
from unicodedata import normalize

import pytest

from tests.cases import each_case
from tests.conftest import wait_until
from tui.core.traffic import Direction, Entry, Kind
from tui.runtime.recording import MemoryReader
from tui.traffic.filter.query import parse
from tui.traffic.filter.view import View
from tui.traffic.record.entry_columns import EntryColumns, column_row
from tui.traffic.record.recorder import RecentEntries


def passing(bodies: Sequence[bytes], text: str) -> list[int]:
    """Return the indices of the bodies that match a filter."""
    query = parse(text)
    assert query.is_sound, query.problems
    columns, ring = EntryColumns(), RecentEntries()
    for seq, body in enumerate(bodies, 1):
        entry = Entry(seq, seq, seq, "server", Direction.IN, Kind.RESPONSE, body=body)
        columns.extend([column_row(entry)])
        ring.add([entry])
    view = View(columns, query, reader=lambda: MemoryReader(ring))
    try:
        wait_until(view.advance)
        assert not view.problem, view.problem
        return list(view.indices(0, len(view)))
    finally:
        view.close(wait=True)


@each_case(
    ("text", "body"),
    [
        ("CafÉ", rb'{"name":"Caf\u00c9"}'),
        ("café", rb'{"name":"Caf\u00c9"}'),
        ("café", '{"name":"CAFÉ"}'.encode()),
        ("café", normalize("NFD", '{"name":"Café"}').encode()),
        (normalize("NFD", "café"), '{"name":"Café"}'.encode()),
        (r'"say \"hi\""', rb'{"text":"say \"hi\""}'),
        (r'"C:\\new"', rb'{"path":"C:\\new"}'),
        ('"https://mcp.io"', rb'{"url":"https:\/\/mcp.io"}'),
        ("STRASSE", '{"street":"Straße"}'.encode()),
        ("погода", '{"word":"ПОГОДА"}'.encode()),
        ("kelvin", '["\u212aelvin"]'.encode()),
        ("file", '["ﬁle"]'.encode()),
        ("天气", rb'[1, "\u5929\u6c14"]'),
        ("🙂", rb'"\ud83d\ude42"'),
        ("São", rb'{"text":"{\"city\": \"S\\u00e3o Paulo\"}"}'),
        ("hé", b'data: {"delta":"h\\u00e9"}\n\ndata: [DONE]\n\n'),
        ('"\\"id\\":7"', b'{"id":7}'),
        ("body:café", rb'{"name":"Caf\u00c9"}'),
        (r'body:"say \"hi\""', rb'{"text":"say \"hi\""}'),
        (r'/say "hi"/', rb'{"text":"say \"hi\""}'),
        ("/caf.\\b/", '{"name":"café"}'.encode()),
        ("/^.caf.{2}$/", '"café"'.encode()),
        ("/CAFÉ/i", '{"name":"café"}'.encode()),
        ("/café/", normalize("NFD", '{"name":"café"}').encode()),
        (normalize("NFD", "/café/"), '{"name":"café"}'.encode()),
        (r"/\u00e9/", '{"name":"café"}'.encode()),
        (r'/"id":\s*7/', b'{"id": 7}'),
    ],
)
def test_decoded_text_is_found(text: str, body: bytes):
    assert passing([body, b'{"name":"other"}'], text) == [0]
    assert passing([body, b'{"name":"other"}'], f"not {text}") == [1]


@each_case(
    ("text", "body"),
    [
        ("nfoo", rb'{"text":"bar\nfoo"}'),
        ("u00e9", rb'{"text":"caf\u00e9"}'),
        ("/CAFÉ/", '{"name":"café"}'.encode()),
        ("é", rb"warning: C:\u00e9.txt"),
        ("é", rb'{"code":"print(\"\\u00e9\")"}'),
        ("/\\t/", rb'[INFO] C:\temp "x"'),
    ],
)
def test_the_text_of_an_escape_sequence_is_not_matched(text: str, body: bytes):
    assert passing([body], text) == []
    assert passing([body], f"not {text}") == [0]


@pytest.mark.parametrize("text", [r'"C:\\temp"', r'"C:\\TEMP"', r"/C:\\temp/"])
def test_a_backslash_outside_of_json_is_literal(text: str):
    assert passing([rb"[INFO] C:\temp", rb'stderr: "C:\temp"'], text) == [0, 1]
