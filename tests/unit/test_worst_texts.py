"""Whatever reads foreign text ends in time on the text that is worst for it."""

import pytest

from tests.worst_texts import ForeignReader, cpu_seconds, readers, worst_text

SIZE, MOST_SECONDS = 128 * 1024, 5
"""A quadratic search for one character takes 8 s for so much, a linear reader at most 2 s."""

PARTS = (6, 3, 2, 1)
"""Fractions that are read until one is so fast that all would be, even if the time grew with the square.

If it grew with the cube of the characters, a sixth would take an hour. A long piece occurs so rarely that a
sixth could be fast, so the cube is assumed for it. A sixth is longer than the windows of 16 kB."""


@pytest.mark.parametrize("reader", list(readers()), ids=lambda reader: reader.name)
def test_the_worst_128_kb_take_less_than_five_seconds(reader: ForeignReader):
    for piece in reader.pieces:
        growth = 2 if len(piece) <= 12 else 3
        texts = ((part, worst_text(piece, SIZE // part)) for part in PARTS)
        assert any(
            cpu_seconds(lambda text=text: reader.read(text)) * part**growth < MOST_SECONDS
            for part, text in texts
        ), piece
