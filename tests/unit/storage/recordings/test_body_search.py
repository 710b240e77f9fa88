"""Bodies are searched in order until the search is stopped."""

import random
import re
import threading
import time
from collections.abc import Iterator
from functools import partial
from unicodedata import normalize

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tui.core.matching import composed
from tui.core.search.readings import begins_message, holds_json, readings, unescaped
from tui.core.text import fold
from tui.core.traffic import BodyTerm
from tui.storage.recordings import body_search
from tui.storage.recordings.body_search import FOLDS_TO_LETTERS, LARGE, TOGETHER, BodyFinder, signs

ENDLESS = BodyTerm(r"\w+\w+\w+@", regex=True)
EASY = BodyTerm(r"b[0-9]c", regex=True)


def no_part(seq: int, start: int, length: int) -> bytes:
    raise AssertionError("no body is large")


def test_matches_found_before_a_stop_are_kept():
    finder = BodyFinder(no_part)

    def bodies() -> Iterator[tuple[int, bytes]]:
        for seq in range(1, 1000):
            if seq == 500:
                finder.interrupt()
            yield seq, b"term"

    (found,) = finder.search([BodyTerm("TERM")], bodies())
    assert found == set(range(1, len(found) + 1)) and 499 - TOGETHER < len(found) <= 499


def test_an_empty_term_matches_every_body():
    terms = [BodyTerm(""), BodyTerm("", regex=True)]
    assert BodyFinder(no_part).search(terms, [(1, b"a"), (2, b"b")]) == [{1, 2}, {1, 2}]


def test_a_large_body_is_read_in_parts_until_stopped():
    read: list[int] = []

    def part(seq: int, start: int, length: int) -> bytes:
        read.append(start)
        if len(read) == 2:
            finder.interrupt()
        return b"." * length

    finder = BodyFinder(part)
    assert finder.search([BodyTerm("x")], [(1, 9 * LARGE)]) == [frozenset()]
    assert read == [0, LARGE]


@pytest.fixture
def finder() -> BodyFinder:
    return BodyFinder(no_part)


def test_words_and_regular_expressions_are_distinguished(finder: BodyFinder):
    terms = [EASY, BodyTerm("B1C"), BodyTerm("b.c"), BodyTerm("B1C", fold=False)]
    assert finder.search(terms, [(1, b"b1c"), (2, b"b.c")]) == [{1}, {1}, {2}, frozenset()]


def test_an_interrupt_before_the_search_takes_effect(finder: BodyFinder):
    finder.interrupt()
    assert finder.search([ENDLESS, BodyTerm("a")], [(1, b"a" * 200_000)]) == [frozenset()] * 2
    assert finder.search([BodyTerm("a")], [(1, b"a")]) == [{1}]


def test_an_interrupt_that_stopped_nothing_can_be_reset(finder: BodyFinder):
    finder.interrupt()
    finder.rearm()
    assert finder.search([BodyTerm("a")], [(1, b"a")]) == [{1}]


def test_a_regular_expression_search_can_be_stopped_from_another_thread(finder: BodyFinder):
    found: list[object] = []
    bodies = ((seq, b"a" * 1000) for seq in iter(int, 1))
    thread = threading.Thread(target=lambda: found.append(finder.search([EASY, ENDLESS], bodies)))
    thread.start()
    time.sleep(0.05)
    finder.interrupt()
    thread.join(5)
    assert found == [[frozenset()] * 2]


def test_a_pattern_that_hangs_in_python_is_searched_for_quickly(finder: BodyFinder):
    began = time.thread_time()
    bodies = [(1, b"abc@"), (2, b"a" * 1_000_000), (3, "\u00e4".encode() * 400_000), (4, b"xyz@")]
    assert finder.search([ENDLESS, BodyTerm("(a+)+@", regex=True)], bodies) == [{1, 4}, frozenset()]
    assert time.thread_time() - began < 1


def test_a_large_body_that_hangs_in_python_is_searched_to_its_end():
    read: list[int] = []

    def part(seq: int, start: int, length: int) -> bytes:
        read.append(start)
        return b"a" * length

    assert BodyFinder(part).search([ENDLESS], [(1, 3 * LARGE)]) == [frozenset()]
    assert read[-1] == 2 * LARGE


def test_other_threads_can_run_during_a_match(finder: BodyFinder):
    """The worst case for RE2: with too many states for its memory it visits all of them at each byte."""
    hard = BodyTerm("[ab]*a[ab]{200}c.{200}d", regex=True)
    text = bytes(random.Random(1).choices(b"ab", k=300_000))
    thread = threading.Thread(target=lambda: finder.search([hard], [(1, text)]))
    thread.start()
    longest = turns = 0.0
    start = time.monotonic()
    while thread.is_alive():
        began = time.monotonic()
        threading.Event().wait(0.001)
        longest, turns = max(longest, time.monotonic() - began), turns + 1
    assert turns > 20 and longest < (time.monotonic() - start) / 2


@pytest.mark.parametrize("pattern", ["(", "a(?=b)", r"(a)\1", r"\w{1000}"])
def test_an_unsupported_expression_raises_and_writes_nothing(
    finder: BodyFinder, pattern: str, capfd: pytest.CaptureFixture[str]
):
    with pytest.raises(re.error):
        finder.search([BodyTerm(pattern, regex=True)], [(1, b"a")])
    assert capfd.readouterr() == ("", "")


LINE = rb'[INFO] opened "C:\temp\new\notes.txt" ok'


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("needle", ["temp", "NOTES", "new", r'"C:\temp', r"\new\n", r"/\\temp\\new/"])
def test_a_log_line_is_found_by_the_text_that_is_shown(
    finder: BodyFinder, monkeypatch: pytest.MonkeyPatch, needle: str, large: bool
):
    term = BodyTerm(needle.strip("/"), regex=needle.startswith("/"))
    if not large:
        assert finder.search([term], [(1, LINE)]) == [{1}]
        return
    monkeypatch.setattr(body_search, "LARGE", 25)
    finder._read = lambda _, start, length: LINE[start : start + length]
    assert finder.search([term], [(1, len(LINE))]) == [{1}]


# ---- compared with reading each body ----------------------------------------------------------------------

SIGNS = [
    *'aAeEkKsSiI 07_"\\{}[]:,;`/n',
    *"\u00e9\u00c9\u00df\u1e9e\u017f\u212a\ufb01\ufb06\u0130\u0131\u03a3\u03c3\u03c2\u0390\u0419\u0439",
    *"\u0300\u0301\u0307\u0323\u0327\u0344\u0345\u037e\u1fef\u1e69\u1e63\u0227\u1ea1\u0958\u0915\u093c",
    *"\uac00\uac01\u1100\u1161\u11a8\uf900\u8c48\U0001f642\U0002f800\u4e3d",
]
WRITTEN = r"\u0041 \u00E9 \u0065\u0301 \u212A \u005c \\u0041 \ud83d\ude42 \n \\".split()
CUT = [r"\u00", r"\ud83d", r"\"", '{"', '":"', "\\"]
BODIES = st.tuples(
    st.sampled_from(["", '{"', '["', '"', "["]),
    st.lists(st.sampled_from(SIGNS + WRITTEN + CUT), max_size=8).map("".join),
).map("".join)


def piece_of(text: str, draw: st.DrawFn) -> str:
    """Return part of a text, or a character, in another composition and case."""
    start = draw(st.integers(0, len(text)))
    piece = text[start : start + draw(st.integers(1, 2))] or draw(st.sampled_from(SIGNS))
    change = draw(st.sampled_from([str, str.upper, str.casefold, partial(normalize, "NFD")]))
    return str(change(piece))


@st.composite
def searches(draw: st.DrawFn) -> tuple[list[bytes], str]:
    bodies = [body.encode() for body in draw(st.lists(BODIES, min_size=1, max_size=3))]
    return bodies, piece_of(draw(st.sampled_from(readings(bodies[0]))), draw)


@given(searches())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_body_that_contains_the_text_is_never_skipped(finder: BodyFinder, search: tuple[list[bytes], str]):
    bodies, needle = search
    terms = [BodyTerm(needle), BodyTerm(needle, fold=False)]
    found = finder.search(terms, list(enumerate(bodies, 1)))
    texts = [(seq, text) for seq, body in enumerate(bodies, 1) for text in readings(body)]
    assert found == [
        {seq for seq, text in texts if fold(needle) in fold(text)},
        {seq for seq, text in texts if composed(needle) in composed(text)},
    ]


@st.composite
def parted(draw: st.DrawFn) -> tuple[bytes, str, int]:
    few = ["e", "\u00e9", "\u0301", "\u0323", "n", '"', "\\", *WRITTEN, *CUT]
    body = draw(st.sampled_from(["", "{"])) + "".join(draw(st.lists(st.sampled_from(few), max_size=8)))
    return body.encode(), piece_of(unescaped(body), draw), draw(st.integers(1, 9))


@given(parted())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_splitting_a_large_body_neither_misses_nor_invents_matches(
    monkeypatch: pytest.MonkeyPatch, search: tuple[bytes, str, int]
):
    raw, needle, size = search
    monkeypatch.setattr(body_search, "LARGE", size)
    searching = BodyFinder(lambda _, start, length: raw[start : start + length])
    (found,) = searching.search([BodyTerm(needle)], [(1, len(raw))])
    texts = [raw.decode()]
    head = raw[:size].decode("utf-8", "ignore")
    if holds_json(head):
        raws = [] if begins_message(head) else texts
        texts = [*raws, unescaped(texts[0]), unescaped(unescaped(texts[0]))]
    assert found == ({1} if any(fold(needle) in fold(text) for text in texts) else set())


pieces = st.recursive(
    st.sampled_from([" ", *r"a B i is k1 _ . [a-k] [^a] \d \s \b \B ^ $ \n".split()]),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map("".join),
        st.tuples(inner, st.sampled_from(["?", "*", "+", "{2}", "{0,2}"])).map(
            lambda two: f"(?:{two[0]}){two[1]}"
        ),
        st.tuples(inner, inner).map(lambda two: f"(?:{two[0]}|{two[1]})"),
        inner.map(lambda one: f"(?i:{one})"),
    ),
    max_leaves=5,
)
small_bodies = st.lists(
    st.one_of(
        st.text("aAbiIsk1_ \n", max_size=6),
        st.text("aAi\u0131\u0130s\u017fk\u212ae\u0301", max_size=6),
        st.sampled_from(
            ['{"a": "\\u0061i"}', '{"a": "k1\\n"}', '"\\u0131s"', '{"b": "{\\"a\\": \\"\\\\u0069s\\"}"}']
        ),
    ),
    max_size=20,
)


@given(pattern=pieces, texts=small_bodies, ignore_case=st.booleans())
@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
def test_an_expression_matches_the_same_readings_of_each_body(
    pattern: str, texts: list[str], ignore_case: bool
):
    term = BodyTerm(pattern, True, ignore_case)
    try:
        search = body_search._matcher(term)
    except (re.error, OverflowError):
        return
    bodies = list(enumerate((text.encode() for text in texts), start=1))
    expected = {
        seq for seq, body in bodies if any(search(body_search._encoded(text)) for text in readings(body))
    }
    assert BodyFinder(no_part).search([term], bodies) == [expected]


def test_every_character_that_folds_to_a_letter_is_known():
    letters = set("abcdefghijklmnopqrstuvwxyz0123456789 _")
    folding = [char for char in map(chr, range(0x80, 0x110000)) if not letters.isdisjoint(fold(char))]
    assert "".join(folding) == FOLDS_TO_LETTERS


def test_the_signs_of_a_text_are_its_letters_and_characters_that_fold_to_them():
    assert signs("Hop-7") == [b"hop"]
    assert {b"milk", "\u212a".encode(), b"\\u212a"} <= set(signs("milk"))


def test_a_text_without_ascii_letters_has_an_empty_sign():
    assert signs("{}-") == [b""]
