"""Counts and keys around the list."""

import pytest

from tui.ui.keys.action_table import Context
from tui.ui.keys.key_overrides import KeyOverrides
from tui.ui.traffic.bars import keys_of, shown_of


@pytest.mark.parametrize(
    ("shown", "total", "words"),
    [(1, 1, "1 entry"), (0, 0, "0 entries"), (1204, 1204, "1 204 entries"), (3, 1204, "3 of 1 204")],
)
def test_a_count_is_written_with_all_its_digits(shown: int, total: int, words: str) -> None:
    assert shown_of(shown, total) == words


def test_the_key_for_all_keys_comes_sixth() -> None:
    keys = keys_of(Context.TRAFFIC, KeyOverrides())
    assert keys[5][2].id == "app.help"
    assert [action.id for _, _, action in keys].count("app.help") == 1
