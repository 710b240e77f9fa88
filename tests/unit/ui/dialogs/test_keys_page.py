"""docs/keys.md is generated from the table of actions."""

from pathlib import Path

from tui.ui.dialogs.keys_page import keys_page
from tui.ui.keys.action_table import ACTIONS

PAGE = Path(__file__).parents[4] / "docs" / "keys.md"


def test_the_page_in_the_repository_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == keys_page(), "run python -m tui.ui.dialogs.keys_page"


def test_every_action_is_on_the_page() -> None:
    page = keys_page()
    assert [found.id for found in ACTIONS if f"`{found.id}`" not in page] == []


def test_no_table_is_empty() -> None:
    assert "| --- |\n\n" not in keys_page()
