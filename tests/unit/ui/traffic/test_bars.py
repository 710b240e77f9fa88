"""Counts and keys around the list."""

import pytest

from tests.cases import each_case
from tests.ui.app_stage import screen_text
from tests.ui.stage import Stage, shown
from tests.unit.traffic.small_traffic import Traffic, begun_at_end, fill
from tui.traffic.record.open_recording import Recording
from tui.ui.traffic.bars import Headings, linting_of, loading_of, shown_of
from tui.ui.widgets.rows import text_of


@each_case(
    ("shown", "total", "loaded", "words"),
    [
        (1, 1, 1, "1 entry"),
        (0, 0, 0, "0 entries"),
        (1204, 1204, 1204, "1 204 entries"),
        (3, 1204, 1204, "3 of 1 204"),
        (3, 99_999, 1204, "3 of 1 204 loaded"),
    ],
)
def test_a_count_is_shown_with_all_its_digits(shown: int, total: int, loaded: int, words: str) -> None:
    assert shown_of(shown, total, loaded) == words


async def test_headings_are_redrawn_when_the_columns_change() -> None:
    rows = [(("wide", "dim"),), (("narrow", "dim"),)]
    headings = Headings(lambda: rows[0])
    async with Stage(headings).run_test() as pilot:
        assert shown(headings) == ["wide"]
        del rows[0]
        headings.look()
        await pilot.pause()
        assert "narrow" in screen_text(pilot.app)


def test_the_loaded_percentage_is_shown_until_all_is_loaded() -> None:
    traffic = Traffic()
    for _ in range(10):
        traffic.call()
    columns = begun_at_end(traffic, 2)
    assert text_of(loading_of(columns)).strip() == "loading 10 %"
    fill(columns, traffic, 99)
    assert loading_of(columns) == ()


@pytest.mark.parametrize(("first", "judged", "words"), [(1, 3, "linting 15 %"), (101, 110, "linting 50 %")])
def test_the_linted_percentage_is_shown_until_all_is_linted(first: int, judged: int, words: str) -> None:
    traffic = Traffic(first)
    for _ in range(10):
        traffic.call()
    columns = traffic.columns

    def said(judged: int) -> str:
        return text_of(linting_of(Recording(columns, lambda: None, judged=lambda: judged))).strip()

    assert said(judged) == words
    assert said(first + 19) == ""
    assert said(0) == "linting 0 %"
