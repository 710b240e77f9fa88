"""Signs with an ambiguous width."""

import unicodedata
from dataclasses import astuple

import pytest
from textual.geometry import Offset

from tui.core.text import cells_of
from tui.ui.platform.ambiguous import Substitutes, cells_at
from tui.ui.widgets.symbols import UNICODE


def _flat(value: object) -> str:
    return "".join(map(_flat, value)) if isinstance(value, tuple) else str(value)


SIGNS = _flat(astuple(UNICODE)) + "·…—–“”‘’│─┄╭╯┼×°"


def test_no_sign_of_a_screen_keeps_an_ambiguous_width():
    substitutes = Substitutes()
    assert substitutes.use(2)
    written = substitutes.of(SIGNS)
    assert [sign for sign in written if unicodedata.east_asian_width(sign) == "A"] == []
    assert [cells_of(sign) for sign in written] == [cells_of(sign) for sign in SIGNS]


def test_signs_are_kept_if_the_terminal_takes_one_cell():
    substitutes = Substitutes()
    assert not substitutes.use(1)
    assert substitutes.of(SIGNS) == SIGNS
    assert substitutes.use(2) and substitutes.use(1)
    assert substitutes.of(SIGNS) == SIGNS


def test_letters_are_never_replaced():
    substitutes = Substitutes()
    substitutes.use(2)
    assert substitutes.of("Привет, αβγ, 你好：ａ") == "Привет, αβγ, 你好：ａ"


@pytest.mark.parametrize(
    ("position", "cells"), [(Offset(1, 1), 1), (Offset(2, 1), 2), (Offset(1, 0), None), (Offset(0, 1), None)]
)
def test_the_position_of_the_cursor_after_a_sign_is_its_width(position, cells):
    assert cells_at(position) == cells
