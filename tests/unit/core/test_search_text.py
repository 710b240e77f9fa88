"""A search compares texts as a person reads them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.core.search_text import begins_message, readable_text, readings

SIGNS = st.sampled_from('aEsSßẞﬁKéÉ\u0301\u0323\u0345\u0308İıΐΣς각가\u1161\u11a8\u0e33天🙂\ud83d "\\')
TEXTS = st.text(st.one_of(SIGNS, st.characters(exclude_categories=[])), max_size=12)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (rb'{"a":"\u00e9\n\"\\\/\ud83d\ude42"}', '{"a":"é\n"\\/🙂"}'),
        (rb'{"a":"\ud83d"}', '{"a":"\ud83d"}'),
        (rb'{"a":"{\"b\":\"\\u00e9\"}"}', '{"a":"{"b":"é"}"}'),
        (rb'{"a":"[\"{\\\"b\\\":\\\"\\\\u00e9\\\"}\"]"}', '{"a":"["{"b":"é"}"]"}'),
        (rb'{"a":"print(\"\\u00e9\")"}', r'{"a":"print("\u00e9")"}'),
        (rb'{"a":"{\\u00e9"}', r'{"a":"{\u00e9"}'),
        (rb'{"a":"cut \u00e9 off \u00', '{"a":"cut é off \\u00'),
        (rb'{"a":"cut off \n' + b"\\", '{"a":"cut off \n\\'),
        (rb'{"a":"no \escape \n","b":"\n"}', '{"a":"no \\escape \n","b":"\n"}'),
        (rb'["closed"] C:\new "\n"', '["closed"] C:\\new "\n"'),
        (rb"C:\new", r"C:\new"),
        (rb'error in "C:\new"', r'error in "C:\new"'),
        (b'\xef\xbb\xbf "\\n"', '\ufeff "\n"'),
        (b'event: a\ndata: "\\n"\n\n', 'event: a\ndata: "\n"\n\n'),
        (b'{"a":"\xff\\n"}', '{"a":"\ufffd\n"}'),
    ],
)
def test_escapes_are_decoded_only_in_json_strings(body: bytes, text: str):
    assert readable_text(body.decode("utf-8", "replace")) == text


@pytest.mark.parametrize(
    "line",
    [
        r'[INFO] opened "C:\temp\new\notes.txt" ok',
        r'{main} "C:\temp\new"',
        r'"C:\temp\new" opened',
        r'"C:\temp\new"',
        r'["C:\temp\new"]',
        r'{"cut off": "C:\temp\new',
        r'data: "C:\temp\new"',
    ],
)
def test_a_line_that_only_starts_like_a_message_is_searched_raw_and_decoded(line: str):
    assert list(readings(line.encode())) == [line, readable_text(line)]


@pytest.mark.parametrize(
    "message", [r'{"a":"C:\\temp\n"}', r'[{"a":"\u00e9"}]', 'event: a\ndata: {"a":"\\n"}\n\n']
)
def test_a_message_is_searched_only_decoded(message: str):
    assert list(readings(message.encode())) == [readable_text(message)] != [message]


@pytest.mark.parametrize(
    ("head", "begins"),
    [
        ('{"a":"cut o', True),
        ('{"a":"cut \\u00', True),
        ('[{"a":1},', True),
        ("data: anything", True),
        ('{"a":1}', True),
        ('[INFO] opened "C', False),
        ('{main} it is not JSON "C', False),
        ('{"a":1} and more than that', False),
        ('["C', False),
        ('{"a":' + "[" * 100_000, False),
    ],
)
def test_the_start_of_a_message_is_distinguished_from_a_log_line(head: str, begins: bool):
    assert begins_message(head) == begins


@given(st.recursive(TEXTS, lambda inner: st.lists(inner, max_size=3), max_leaves=5))
def test_every_text_in_json_can_be_found(value: object):
    body = json.dumps(value).encode()
    texts = [value] if isinstance(value, str) else value
    while isinstance(texts, list) and any(isinstance(each, list) for each in texts):
        texts = [one for each in texts for one in (each if isinstance(each, list) else [each])]
    assert all(any(text in one for one in readings(body)) for text in texts)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "raw", [b"", b"\\", b'"\\', b'"\\u', b'{"\\\\\\', b"[" * 20_000 + b'"\\n"', b'"\\n' * 9]
)
def test_any_bytes_can_be_searched(raw: bytes):
    assert readings(raw)


# ---- positions in a text --------------------------------------------------------------------------------
