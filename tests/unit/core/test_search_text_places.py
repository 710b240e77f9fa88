"""The offsets of a text in a body."""

from threading import Event
from unicodedata import normalize

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tui.core import search_text
from tui.core.search_text import MOST_PLACES, holds_json, places, unescaped
from tui.core.text import fold, spans

PIECES = [
    "a",
    "E",
    "é",
    "e\u0301",
    "ß",
    "🙂",
    r"\u00E9",
    r"\u0065\u0301",
    r"\ud83d\ude42",
    r"\n",
    r"\\",
    "n",
    '"',
]


@pytest.mark.parametrize(
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
    pieces=st.lists(st.sampled_from(PIECES), max_size=20),
    text=st.lists(st.sampled_from(PIECES[:6]), min_size=1, max_size=2).map("".join),
    step=st.integers(12, 30),
    start=st.sampled_from(["", "{"]),
)
@settings(max_examples=300, deadline=None)
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


def test_the_number_of_matches_is_limited():
    assert (
        len(places(b"a" * 3 * MOST_PLACES, "a"))
        == len(places("ä".encode() * 3 * MOST_PLACES, "ä"))
        == MOST_PLACES
    )


def test_invalid_utf_8_is_searched():
    assert places(b"\x80" * 100_000 + b"end", "END") == [100_000]


def test_a_search_can_be_stopped():
    stop = Event()
    stop.set()
    assert places(b"aaaa", "a", stop) == []
