"""The white space shown around removed blocks."""

from tests.cases import each_case
from tui.model.dialects.dialect_parser import Visible


@each_case(
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


@each_case(
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
    assert visible.code.inside is code
