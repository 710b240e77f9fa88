"""The rows of the rules screen."""

import pytest

from tui.core.permission.rules import parse_rule
from tui.ui.lists.items import rule_item
from tui.ui.widgets.rows import text_of, width_of


@pytest.mark.parametrize("width", [22, 40, 100])
def test_a_hostile_rule_is_cleaned_and_fits_in_its_row(width: int):
    rule = parse_rule("deny a/\x1b[2J*" + "x" * 500)
    (row,) = rule_item("key", rule).draw(width)
    assert "\x1b" not in text_of(row) and width_of(row) <= width
