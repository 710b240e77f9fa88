"""Accepts only valid JSON, and only numbers that can be written as JSON again."""

import pytest

from tui.core.jsonrpc.reader import loads


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
def test_words_for_non_finite_numbers_are_rejected(word: str) -> None:
    with pytest.raises(ValueError, match=f"^{word} is not a JSON value$"):
        loads(f'{{"a": [{word}]}}')


@pytest.mark.parametrize("number", ["1e999", "-1E400", "1" * 400 + ".0"])
def test_a_number_out_of_range_is_rejected(number: str) -> None:
    with pytest.raises(ValueError, match=r"^[-1E0-9e.…]+ is out of range$"):
        loads(f'{{"a": [{number}]}}')


def test_other_json_is_read_as_usual() -> None:
    assert loads('{"a": [1.5, 10, "NaN", null, true]}') == {"a": [1.5, 10, "NaN", None, True]}
    assert loads(f"[{'9' * 400}]") == [int("9" * 400)]


def test_line_breaks_in_strings_are_accepted_on_request() -> None:
    with pytest.raises(ValueError, match="control character"):
        loads('["a\nb"]')
    assert loads('["a\nb"]', strict=False) == ["a\nb"]
