"""Signs with an ambiguous width."""

import unicodedata
from collections.abc import Iterator
from dataclasses import astuple

import pytest
from textual.geometry import Offset

from tui.core.text import cells_of, head_of
from tui.ui.platform.ambiguous import Substitutes, cells_at
from tui.ui.widgets.symbols import UNICODE


def _flat(value: object) -> str:
    return "".join(map(_flat, value)) if isinstance(value, tuple) else str(value)


SIGNS = _flat(astuple(UNICODE)) + "·…—–“”‘’│─┄╭╯┼×°"


@pytest.fixture(autouse=True)
def narrow_again() -> Iterator[None]:
    yield
    Substitutes().use(1, 1)


def test_no_sign_of_a_screen_keeps_an_ambiguous_width():
    substitutes = Substitutes()
    assert substitutes.use(2, 1)
    written = substitutes.of(SIGNS)
    assert [sign for sign in written if unicodedata.east_asian_width(sign) == "A"] == []
    assert [cells_of(sign) for sign in written] == [cells_of(sign) for sign in SIGNS]


def test_signs_are_kept_if_the_terminal_takes_one_cell():
    substitutes = Substitutes()
    assert not substitutes.use(1, 1)
    assert substitutes.of(SIGNS) == SIGNS
    assert substitutes.use(2, 2) and substitutes.use(1, 1)
    assert substitutes.of(SIGNS) == SIGNS


def test_letters_and_numbers_are_not_replaced_but_counted_as_two_cells():
    substitutes, text = Substitutes(), "Привет, αβγ, é, ①, 你好：ａ"
    before = cells_of(text)
    substitutes.use(2, 2)
    assert substitutes.of(text) == text
    ambiguous = sum(unicodedata.east_asian_width(sign) == "A" for sign in text)
    assert cells_of(text) == before + ambiguous and head_of(text, 4) == "Пр"
    substitutes.use(2, 1)
    assert cells_of(text) == before


@pytest.mark.parametrize(
    ("position", "cells"),
    [
        (Offset(3, 1), (1, 1)),
        (Offset(4, 1), (2, 1)),
        (Offset(5, 1), (1, 2)),
        (Offset(6, 1), (2, 2)),
        (Offset(3, 0), None),
        (Offset(1, 1), None),
    ],
)
def test_the_position_of_the_cursor_after_a_sign_is_its_width(position, cells):
    assert cells_at(position) == cells
