"""What a misspelled name suggests."""

from itertools import count

import pytest

from tui.core.matching import nearest_name, similar_names

NAMES = ["args", "command", "API_KEY"]


@pytest.mark.parametrize(
    ("word", "name"), [("comand", "command"), ("api-kye", "API_KEY"), ("co", "command"), ("z", ""), ("", "")]
)
def test_a_misspelled_or_abbreviated_name_is_found_in_any_case(word: str, name: str) -> None:
    assert nearest_name(word, NAMES) == name


def test_long_words_and_endless_names_are_truncated() -> None:
    assert similar_names("ab" * 1_000_000, ["ab" * 32]) == ["ab" * 32]
    assert similar_names("x", map(str, count())) == []
