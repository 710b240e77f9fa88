"""docs/keys.md is generated from the table of actions."""

import tomllib

import pytest

from tests.unit.keys_page import keys_page, page_of
from tests.unit.keys_page_texts import PAGES, PageTexts
from tui.settings.keymap import check_keys, flat_keys
from tui.ui.keys.action_table import ACTIONS
from tui.ui.keys.bindings import own_keys


@pytest.mark.parametrize("texts", PAGES, ids=lambda texts: texts.language or "en")
def test_the_page_in_the_repository_is_up_to_date(texts: PageTexts) -> None:
    written = page_of(texts).read_text(encoding="utf-8")
    assert written == keys_page(texts), "run python -m tests.unit.keys_page"


def test_every_action_is_on_the_page() -> None:
    page = keys_page()
    assert [found.id for found in ACTIONS if f"`{found.id}`" not in page] == []


def test_the_example_on_the_page_is_valid() -> None:
    example = tomllib.loads(keys_page().split("```toml\n")[1].split("```")[0])
    assert check_keys(flat_keys(example["ui"]["keys"]), own_keys())[1] == ()


def test_no_table_is_empty() -> None:
    assert "| --- |\n\n" not in keys_page()
