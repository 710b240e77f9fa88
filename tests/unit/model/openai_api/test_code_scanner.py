"""Which places of a reply are code, so that a closing tag there does not end thinking."""

from tests.cases import each_case
from tests.endpoint import chunk
from tests.streams import output_of
from tui.model.openai_api.accumulator import Accumulator

CODE = [
    ("plain ", False),
    ("in `code ", True),
    ("in `code` ", False),
    ("in ``a ` b ", True),
    ("`open\n", False),
    ("```\n", True),
    ("```py\nx\n", True),
    ("```py\nx\n```\n", False),
    ("````\n```\n", True),
    ("~~~\n```\n~~~\n", False),
    ("- ```\n  x\n", True),
    ("1. x\n   ```\n   y\n   ```\n", False),
    ("> ```\n> y\n", True),
    ("```\r\nx\r\n```\r\n", False),
    ("```\nx\n``` not the end\n", True),
    (f"x\n{' ' * 240}~~~\n", False),
]


LINES = [
    ("    ", True),
    ("   ", False),
    ("\t", True),
    ("  \t", True),
    ("So:\n    ", False),
    ("So:\n\n    ", True),
    ("So:\n \t\n    ", True),
    ("So:\n\n    one\n    ", True),
    ("So:\n\n    one\n\ntext\n    ", False),
    ("So:\n\n    in the middle of a line ", True),
    ("# Head\n    ", True),
    ("Head\n===\n    ", True),
    ("#no head\n    ", False),
    ("```\nx\n```\n    ", True),
    ("- one\n    ", False),
    ("- one\n\n    ", False),
    ("- one\n\n      ", True),
    ("- one\n  - two\n\n       ", False),
    ("- one\n  - two\n\n        ", True),
    ("10. one\n\n    ", False),
    ("10. one\n\n        ", True),
    ("- one\n\ntext\n\n    ", True),
    ("-     ", True),
    ("-    ", False),
    ("- - ", False),
    ("> ", False),
    (">     ", True),
    ("> So:\n>\n>     ", True),
    ("> So:\n>     ", False),
    ("> So:\n\n    ", True),
    ("So:\n>     ", True),
    ("1986\\. A year\n\n    ", True),
]
"""Of indented code, as in CommonMark."""


@each_case(("text", "inside"), [*CODE, *LINES])
def test_a_closing_tag_is_text_in_code_however_the_text_is_split(text: str, inside: bool) -> None:
    said = f"{text}</think>."
    for size in (1, 150, len(said)):
        pieces = [chunk(content=said[at : at + size]) for at in range(0, len(said), size)]
        heard = output_of(Accumulator(), [*pieces, chunk("stop")])
        assert (heard.text == said) is inside
