"""Whatever reads foreign text ends in time on the text that is worst for it."""

import pytest

from tests.worst_texts import ForeignReader, cpu_seconds, readers, worst_text

SIZE, MOST_SECONDS, PART = 128 * 1024, 5, 4
"""A quadratic search for one character takes 8 s for so much, a linear reader at most 2 s.

What reads a fourth so fast that all would take less even if the time grew with the cube is not given all."""


@pytest.mark.parametrize("reader", list(readers()), ids=lambda reader: reader.name)
def test_the_worst_128_kb_take_less_than_five_seconds(reader: ForeignReader):
    for piece in reader.pieces:
        part, text = worst_text(piece, SIZE // PART), worst_text(piece, SIZE)
        if cpu_seconds(lambda part=part: reader.read(part)) * PART**3 >= MOST_SECONDS:
            assert cpu_seconds(lambda text=text: reader.read(text)) < MOST_SECONDS, piece
