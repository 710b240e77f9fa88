"""A line of text with a cursor, and its visible part."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.cases import each_case
from tests.conftest import until
from tui.core.workbench import Completions
from tui.ui.forms.field_input import MOST_ROWS, LineEdit, ValueSuggestions
from tui.ui.widgets.rows import text_of

KEYS = ("left", "right", "home", "end", "ctrl+left", "ctrl+right", "backspace", "delete", "ctrl+w", "ctrl+u")


def test_words_are_deleted_one_by_one() -> None:
    edit = LineEdit.at_end("one two-three")
    edit.key("ctrl+w")
    assert edit.text == "one two-"
    edit.key("ctrl+w")
    assert edit.text == "one "
    edit.key("ctrl+left")
    edit.key("ctrl+right")
    assert edit.cursor == 3


@given(st.text(max_size=40), st.lists(st.sampled_from(KEYS) | st.text(min_size=1, max_size=3), max_size=20))
def test_the_cursor_never_leaves_the_text(text: str, keys: list[str]) -> None:
    edit = LineEdit.at_end(text)
    for key in keys:
        if not edit.key(key):
            edit.insert(key)
        assert 0 <= edit.cursor <= len(edit.text)


@given(st.text(max_size=80), st.integers(0, 80), st.integers(3, 40))
def test_the_visible_part_fits_and_has_no_control_characters(text: str, cursor: int, cells: int) -> None:
    edit = LineEdit(text, min(cursor, len(text)))
    shown = "".join(edit.window(cells))
    assert cell_len(shown) <= cells
    assert not any(ord(char) < 32 or 127 <= ord(char) < 160 for char in shown)


@each_case("sign", ["👨‍👩‍👧", "🇳🇴", "👍🏽", "❤️", "1️⃣", "e\u0301"])
def test_a_sign_of_several_code_points_is_edited_and_shown_as_one(sign: str) -> None:
    edit = LineEdit.at_end(f"a{sign}{sign}")
    edit.key("backspace")
    assert edit.text == f"a{sign}"
    edit.key("left")
    assert edit.cursor == 1
    assert edit.window(20) == ("a", sign, "")
    edit.key("delete")
    assert edit.text == "a"
    edit = LineEdit.at_end(sign * 40)
    before, under, after = edit.window(11)
    assert (before.replace(sign, ""), under, after) == ("", " ", "")


class Asked:
    """Answers with the values that start with the typed text, once `gate` is open."""

    def __init__(self, *values, more=False):
        self.values = values
        self.more = more
        self.questions = []
        self.gate = asyncio.Event()
        self.gate.set()

    async def __call__(self, name, typed, others):
        self.questions.append((name, typed, others))
        await self.gate.wait()
        return Completions(tuple(one for one in self.values if one.startswith(typed)), self.more)


def over(asked):
    suggestions = ValueSuggestions(lambda: None)
    suggestions.ask = asked
    return suggestions


def shown(suggestions):
    return [text_of(row).strip() for _, row in suggestions.rows(0, 80, ">")]


async def test_completions_are_requested_only_for_the_last_of_quickly_typed_texts():
    asked = Asked("alpha", "beta")
    suggestions = over(asked)
    for typed in ("", "a", "al"):
        suggestions.look("name", typed, {"x": "1"})
    await until(lambda: suggestions.is_open)
    assert asked.questions == [("name", "al", {"x": "1"})]
    assert shown(suggestions) == ["alpha"]


async def test_a_value_that_is_already_typed_is_not_suggested():
    suggestions = over(asked := Asked("alpha"))
    suggestions.look("name", "alpha", {})
    await until(lambda: asked.questions)
    await asyncio.sleep(0)
    assert not suggestions.is_open


async def test_earlier_values_that_do_not_match_the_typed_text_are_hidden_meanwhile():
    suggestions = over(asked := Asked("alpha", "beta"))
    suggestions.look("name", "", {})
    await until(lambda: suggestions.is_open)
    asked.gate.clear()
    suggestions.look("name", "b", {})
    assert (suggestions.best, shown(suggestions)) == ("beta", ["beta"])
    suggestions.look("name", "bx", {})
    assert suggestions.best is None
    suggestions.forget()


async def test_a_long_list_scrolls_with_the_marked_value_and_shows_that_there_are_more():
    suggestions = over(Asked(*(f"v{number}" for number in range(10)), more=True))
    suggestions.look("name", "v", {})
    await until(lambda: suggestions.is_open)
    assert len(shown(suggestions)) == MOST_ROWS + 1
    assert shown(suggestions)[-1] == "… more, type to narrow the list"
    suggestions.step(-1)
    assert suggestions.marked == "v9"
    assert shown(suggestions)[MOST_ROWS - 1] == "> v9"


async def test_focusing_another_field_closes_the_list_and_drops_a_late_answer():
    suggestions = over(asked := Asked("alpha"))
    suggestions.look("name", "", {})
    await until(lambda: suggestions.is_open)
    asked.gate.clear()
    suggestions.look("other", "", {})
    assert not suggestions.is_open
    await until(lambda: len(asked.questions) == 2)
    suggestions.forget()
    asked.gate.set()
    await asyncio.sleep(0)
    assert not suggestions.is_open
