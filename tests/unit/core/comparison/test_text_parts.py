"""Texts of several parts that vary are matched exactly, and in linear time."""

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import each_case
from tui.core.comparison.text_parts import GAP, ID, NUMBER, TIME, Gap, Piece, TextPart, fits_whole

PIECES = st.lists(st.sampled_from(["a", "-", "aa", " ", "1", GAP, ID, NUMBER]), max_size=6)


def _regex(piece: Piece) -> str:
    if isinstance(piece, Gap):
        return ".*"
    return f"(?:{piece.regex})" if isinstance(piece, TextPart) else re.escape(piece)


@settings(max_examples=30)
@given(PIECES, st.text(alphabet="a-1. ", max_size=12))
def test_a_text_fits_if_a_regular_expression_of_the_parts_does(pieces: list[Piece], text: str):
    wanted = re.fullmatch("".join(map(_regex, pieces)), text, re.DOTALL) is not None
    assert fits_whole(pieces, text) is wanted


@each_case("text", ["1,234", "12", "-1.5e-3", "+7", "1,234,567.89"])
def test_a_number_may_have_a_sign_groups_a_fraction_and_an_exponent(text: str):
    assert fits_whole([NUMBER], text)
    assert re.fullmatch(NUMBER.regex, text)


@each_case("text", ["", "1,23", "1.", ".5", "e5", "1 2", "--1"])
def test_other_texts_are_no_number(text: str):
    assert not fits_whole([NUMBER], text)


@pytest.mark.parametrize("text", ["2026-12-01", "2026/12/01 10:42", "20261201T101500Z", "10:42"])
def test_a_time_may_be_a_date_a_clock_or_both(text: str):
    assert fits_whole([TIME], text)


def test_an_id_may_have_letters_of_any_script():
    assert fits_whole(["«", ID, "»"], "«übung-7»")


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        (["ab" * 100, GAP] * 100, "ab" * 50_000),
        ([ID, "-"] * 50 + ["!"], "a-" * 50_000),
        ([GAP, "a" * 300, ID] * 10 + ["!"], "a" * 100_000),
        ([NUMBER, GAP] * 50 + ["!"], "1" * 100_000),
    ],
    ids=["gaps", "ids", "literals", "numbers"],
)
def test_many_parts_in_a_long_text_take_linear_time(pieces: list[Piece], text: str):
    began = time.process_time()
    fits_whole(pieces, text)
    assert time.process_time() - began < 2
