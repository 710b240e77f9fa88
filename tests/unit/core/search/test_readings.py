"""A search compares texts as a person reads them."""

import json
from threading import Event
from unicodedata import decomposition, normalize

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import each_case
from tui.core.matching import is_boundary, spans
from tui.core.search import readings as search_text
from tui.core.search.readings import (
    MOST_PLACES,
    begins_message,
    holds_json,
    places,
    readable_text,
    readings,
    unescaped,
)
from tui.core.text import fold

SIGNS = st.sampled_from('aEsSßẞﬁKéÉ\u0301\u0323\u0345\u0308İıΐΣς각가\u1161\u11a8\u0e33天🙂\ud83d "\\')
TEXTS = st.text(st.one_of(SIGNS, st.characters(exclude_categories=[])), max_size=12)


@each_case(
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


@each_case(
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


@each_case(
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


@each_case("raw", [b"", b"\\", b'"\\', b'"\\u', b'{"\\\\\\', b"[" * 20_000 + b'"\\n"', b'"\\n' * 9])
def test_any_bytes_can_be_searched(raw: bytes):
    assert readings(raw)


# ---- positions in a text --------------------------------------------------------------------------------


PIECES = ["a", "E", "é", "e\u0301", "ß", "🙂"]
ESCAPES = [r"\u00E9", r"\u0065\u0301", r"\ud83d\ude42", r"\n", r"\\", "n", '"']


@each_case(
    ("body", "text", "found"),
    [
        (b'{"a":"Beijing, BEIJING"}', "beijing", [6, 15]),
        (rb'{"a":"Caf\u00c9 caf\u00e9"}', "É", [9, 19]),
        ('{"a":"Café"}'.encode(), "CAFE\u0301", [6]),
        (normalize("NFD", '["é", "é"]').encode(), "é", [2, 9]),
        (rb'{"a":"say \"hi\""}', 'say "hi"', [6]),
        (rb'{"a":"{\"b\":\"S\\u00e3o\"}"}', "são", [15]),
        (rb'{"a":"\ud83d\ude42"}', "🙂", [6]),
        (rb"C:\new", r"\NEW", [2]),
        (b"\xff\xfe caf\xc3\xa9", "é", [6]),
        (b"aaaa", "aa", [0, 2]),
        (b"abc", "", []),
    ],
)
def test_a_search_matches_as_the_filter_does(body: bytes, text: str, found: list[int]):
    assert places(body, text) == found


@given(
    pieces=st.lists(st.sampled_from(PIECES + ESCAPES), max_size=20),
    text=st.lists(st.sampled_from(PIECES), min_size=1, max_size=2).map("".join),
    step=st.integers(12, 30),
    start=st.sampled_from(["", "{"]),
)
@settings(max_examples=60, deadline=None)
def test_a_match_across_two_search_steps_is_found(pieces: list[str], text: str, step: int, start: str):
    body = start + "".join(pieces)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search_text, "STEP", step)
        found = places(body.encode(), text)
    texts = [body]
    if holds_json(body):
        texts += [unescaped(body), unescaped(unescaped(body))]
    assert bool(found) == any(fold(text) in fold(each) for each in texts)
    if not holds_json(body):
        assert found == [len(body[:at].encode()) for at, _ in spans(body, fold(text))]


def test_any_bytes_are_searched_up_to_a_number_of_matches_or_until_the_search_is_stopped():
    for letter in "aä":
        assert len(places(letter.encode() * 3 * MOST_PLACES, letter)) == MOST_PLACES
    assert places(b"\x80" * 100_000 + b"end", "END") == [100_000]
    stop = Event()
    stop.set()
    assert places(b"aaaa", "a", stop) == []


@each_case(
    ("text", "sought", "found"),
    [
        ("abcABC", "BC", ["bc", "BC"]),
        ("Cafe\u0301 CAFÉ", "é", ["e\u0301", "É"]),
        ("Straße", "s", ["S", "ß"]),
        ("Straße", "SS", ["ß"]),
        ("İstanbul", "stan", ["stan"]),
        ("aaa", "aa", ["aa"]),
        ("abc", "", []),
        ("cafe\u0301", "cafe", []),
    ],
)
def test_matches_are_located(text: str, sought: str, found: list[str]):
    assert [text[start:end] for start, end in spans(text, fold(sought))] == found


@given(TEXTS, TEXTS, TEXTS)
def test_every_match_contains_the_folded_search_text(before: str, sought: str, behind: str):
    text = before + sought + behind
    folded = fold(sought)
    found = [text[start:end] for start, end in spans(text, folded)]
    assert bool(found) == (bool(folded) and folded in fold(text))
    assert all(folded in fold(each) for each in found)


@given(TEXTS, TEXTS)
def test_a_text_can_be_folded_in_pieces_that_end_at_a_boundary(one: str, other: str):
    if other and is_boundary(other[0]):
        assert fold(one + other) == fold(one) + fold(other)


def test_a_combining_character_is_not_a_boundary():
    pairs = [decomposition(chr(code)).split() for code in range(0x110000)]
    seconds = {chr(int(pair[1], 16)) for pair in pairs if len(pair) == 2 and not pair[0].startswith("<")}
    hangul = {normalize("NFD", chr(code))[at] for code in range(0xAC00, 0xD7A4) for at in (1, -1)}
    assert [char for char in seconds | hangul if is_boundary(char)] == []
