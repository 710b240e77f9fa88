"""Numbers of entries in plain mode. `tests/terminal/test_plain.py` lists, reads and resends them."""

import pytest

from tests.cases import each_case
from tui.addons.plain.traffic import entry_number
from tui.core.errors import UsageError


def test_an_entry_is_named_by_its_number():
    assert entry_number("12", "/entry N") == 12


@each_case("text", ["", "x", "-1", "1 2", "٣", "9" * 30])
def test_anything_else_is_no_entry(text: str):
    with pytest.raises(UsageError, match="the number of an entry is required"):
        entry_number(text, "/entry N")
