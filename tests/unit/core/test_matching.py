"""What a typed text finds, and what a misspelled name suggests."""

from itertools import count

import pytest

from tests.cases import each_case
from tui.core.matching import has_words, nearest_name, nearness, similar_names, word_spans

NAMES = ["args", "command", "API_KEY"]
NOTES = "Notes sur le cafe\u0301, STRASSE"
FOUND = {"": [], "sur note": ["sur", "Note"], "CAFÉ straße": ["cafe\u0301", "STRASSE"], "sur\xa0xyz": None}


@pytest.mark.parametrize(("typed", "found"), FOUND.items())
def test_words_match_in_any_order_case_and_composition(typed: str, found: list[str] | None) -> None:
    assert has_words(NOTES, typed) is (found is not None)
    assert found is None or [NOTES[start:end] for start, end in word_spans(NOTES, typed)] == found


@each_case(
    ("word", "name"), [("comand", "command"), ("api-kye", "API_KEY"), ("co", "command"), ("z", ""), ("", "")]
)
def test_a_misspelled_or_abbreviated_name_is_found_in_any_case(word: str, name: str) -> None:
    assert nearest_name(word, NAMES) == name


def test_long_words_and_endless_names_are_truncated() -> None:
    assert similar_names("ab" * 1_000_000, ["ab" * 32]) == ["ab" * 32]
    assert similar_names("x", map(str, count())) == []


def test_the_same_words_in_another_order_are_nearest() -> None:
    assert nearest_name("count_orders", ["create_order", "count_others", "order_count"]) == "order_count"


@pytest.mark.parametrize("typed", ["天气", "预报", "北京 天气"])
def test_chinese_is_found_without_spaces_between_words(typed: str) -> None:
    assert has_words("查询北京天气预报", typed)
    assert nearness("查询北京天气预报", typed)
    assert not has_words("查询北京天气预报", "上海")


def test_the_found_chinese_words_are_highlighted() -> None:
    assert list(word_spans("查询北京天气", "天气 北京")) == [(4, 6), (2, 4)]
