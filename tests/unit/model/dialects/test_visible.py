"""Which text is code, and the white space shown around removed blocks."""

import pytest

from tui.model.dialects.visible import CodeMarks, Visible

CODE = [
    ("plain ", False),
    ("in `code ", True),
    ("in `code` ", False),
    ("in ``a ` b ", True),
    ("in ``a ` b`` ", False),
    ("`open\n", False),
    ("```\n", True),
    ("```py\nx\n", True),
    ("```py\nx\n```\n", False),
    ("````\n```\n", True),
    ("~~~\n```\n~~~\n", False),
    ("~~~ a `b`\n", True),
    ("- ```\n  x\n", True),
    ("1. x\n   ```\n   y\n   ```\n", False),
    ("> ```\n> y\n", True),
    ("```x``` \n", False),
    ("text ```\n", False),
    ("```\r\nx\r\n```\r\n", False),
    ("```\nx\n``` not the end\n", True),
]


@pytest.mark.parametrize(("text", "inside"), CODE)
def test_code_is_recognized_however_the_text_is_split(text: str, inside: bool) -> None:
    whole, single = CodeMarks(), CodeMarks()
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
