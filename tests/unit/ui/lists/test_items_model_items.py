"""The rows of the models screen."""

import pytest

from tui.core.ports import ModelChoice
from tui.ui.lists.items import choice_item, fits, free_item, id_item
from tui.ui.widgets.rows import text_of, width_of
from tui.ui.widgets.symbols import UNICODE

EVIL = "\x1b[2J\u202e" + "x" * 500


def test_a_model_is_found_by_words_of_its_name_address_and_properties():
    choice = ModelChoice("local", "qwen3:8b", "http://127.0.0.1:11434", "found", facts=("text protocol",))
    assert fits(choice, "QWEN protocol") and fits(choice, "11434")
    assert not fits(choice, "qwen vision")


@pytest.mark.parametrize("width", [60, 76, 130])
def test_a_hostile_model_is_cleaned_and_fits_in_its_rows(width: int):
    choice = ModelChoice(EVIL, EVIL, EVIL, "found", facts=(EVIL,), problem=EVIL, learned=(EVIL,))
    for row in choice_item(choice, UNICODE).draw(width):
        assert not {"\x1b", "\u202e"} & set(text_of(row)) and width_of(row) <= width


def test_hostile_ids_and_typed_text_are_cleaned():
    for item in (id_item(EVIL, current=True, symbols=UNICODE), free_item(EVIL)):
        assert not {"\x1b", "\u202e"} & set(text_of(item.draw(80)[0]))
