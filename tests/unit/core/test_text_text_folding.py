"""Comparing texts with Unicode case folding."""

from unicodedata import decomposition, normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.core.text import fold, is_boundary, spans

SIGNS = st.sampled_from('aEsSßẞﬁKéÉ\u0301\u0323\u0345\u0308İıΐΣς각가\u1161\u11a8\u0e33天🙂\ud83d "\\')
TEXTS = st.text(st.one_of(SIGNS, st.characters(exclude_categories=[])), max_size=12)


@pytest.mark.parametrize(
    ("one", "other"),
    [("Café", "CAFE\u0301"), ("Straße", "STRASSE"), ("ὈΔΥΣΣΕΎΣ", "ὀδυσσεύς"), ("\u212a", "k"), ("ﬁ", "FI")],
)
def test_case_and_composition_are_ignored(one: str, other: str):
    assert fold(one) == fold(other)


@pytest.mark.parametrize(("one", "other"), [("cafe", "café"), ("a", "ä"), ("ı", "i"), ("2", "²")])
def test_different_characters_fold_differently(one: str, other: str):
    assert fold(one) != fold(other)


@given(TEXTS)
def test_canonically_equivalent_texts_fold_to_the_same_text(text: str):
    assert fold(normalize("NFD", text)) == fold(normalize("NFC", text)) == fold(text) == fold(fold(text))


@pytest.mark.parametrize(
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
