"""docs/keys.md is generated from the table of actions."""

import tomllib

from tests.unit.keys_page import PAGE, keys_page
from tui.settings.keymap import check_keys, flat_keys
from tui.ui.keys.action_table import ACTIONS
from tui.ui.keys.bindings import own_keys


def test_the_page_in_the_repository_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == keys_page(), "run python -m tests.unit.keys_page"


def test_every_action_is_on_the_page() -> None:
    page = keys_page()
    assert [found.id for found in ACTIONS if f"`{found.id}`" not in page] == []


def test_the_example_on_the_page_is_valid() -> None:
    example = tomllib.loads(keys_page().split("```toml\n")[1].split("```")[0])
    assert check_keys(flat_keys(example["ui"]["keys"]), own_keys())[1] == ()


def test_no_table_is_empty() -> None:
    assert "| --- |\n\n" not in keys_page()
