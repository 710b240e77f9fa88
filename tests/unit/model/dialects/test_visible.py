"""Which text is code, and the white space shown around removed blocks."""

import pytest

from tui.model.dialects.visible import Visible

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


@pytest.mark.parametrize(("text", "inside"), [*CODE, *LINES])
def test_code_is_recognized_however_the_text_is_split(text: str, inside: bool) -> None:
    whole, single = Visible(), Visible()
    whole.feed(text)
    for char in text:
        single.feed(char)
    assert whole.inside is single.inside is inside


@pytest.mark.parametrize(
    ("before", "behind", "shown"),
    [
        ("a", "b", "ab"),
        ("a ", " b", "a b"),
        ("a\n\n", "\nb", "a\n\nb"),
        ("a ", "\n\nb", "a\n\nb"),
        ("\n ", "\n b", "b"),
        ("a\n", "\n", "a"),
        ("", "", ""),
    ],
)
def test_around_a_removed_block_only_the_space_that_separates_its_neighbors_is_shown(
    before: str, behind: str, shown: str
) -> None:
    visible = Visible()
    text = visible.say(before)
    visible.block()
    assert text + visible.say(behind) + visible.end() == shown


def test_white_space_that_is_not_next_to_a_block_is_kept() -> None:
    visible = Visible()
    assert visible.say("\n a \n") + visible.say("b ") + visible.end() == "\n a \nb "


@pytest.mark.parametrize(
    ("before", "behind", "code"),
    [
        ("", "    ", False),
        ("So:\n\n", "    ", False),
        ("So:\n\n", "\n\n    ", False),
        ("So:", "\nOk.\n    ", False),
        ("So:", "\nOk.\n\n    ", True),
    ],
)
def test_after_a_removed_block_indentation_is_ignored_until_there_is_text(
    before: str, behind: str, code: bool
) -> None:
    visible = Visible()
    visible.say(before)
    visible.block()
    visible.say(behind)
    assert visible.inside is code
