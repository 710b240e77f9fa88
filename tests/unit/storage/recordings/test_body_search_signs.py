"""Every body that contains the search text contains one of its signs."""

from tui.core.text import fold
from tui.storage.recordings.body_search import FOLDS_TO_LETTERS, signs


def test_every_character_that_folds_to_a_letter_is_known():
    letters = set("abcdefghijklmnopqrstuvwxyz0123456789 _")
    folding = [char for char in map(chr, range(0x80, 0x110000)) if not letters.isdisjoint(fold(char))]
    assert "".join(folding) == FOLDS_TO_LETTERS


def test_the_signs_of_a_text_are_its_letters_and_characters_that_fold_to_them():
    assert signs("Hop-7") == [b"hop"]
    assert {b"milk", "\u212a".encode(), b"\\u212a"} <= set(signs("milk"))


def test_a_text_without_ascii_letters_has_an_empty_sign():
    assert signs("{}-") == [b""]
