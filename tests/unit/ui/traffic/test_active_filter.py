"""The active filter, without the screen."""

from collections.abc import Callable

import pytest

from tests.conftest import until, wait_until
from tests.ui.traffic_stage import WALL_NS, some
from tui.traffic.filter import view as view_module
from tui.traffic.filter.arrangement import Order, SortColumn
from tui.traffic.filter.query import parse
from tui.traffic.record.open_recording import Recording
from tui.ui.traffic.active_filter import ActiveFilter
from tui.ui.traffic.entry_list import EntryList
from tui.ui.widgets.inputs import PromptLine
from tui.ui.widgets.rows import text_of


def made(recording: Recording, worked: Callable[[], None] = lambda: None) -> ActiveFilter:
    return ActiveFilter(EntryList(recording), PromptLine(), worked)


def passing(recording: Recording, expression: str) -> int:
    active_filter = made(recording)
    active_filter.apply(parse(expression))
    wait_until(active_filter.view.advance)
    active_filter.close()
    return len(active_filter.view)


def test_since_counts_from_the_end_of_a_recording():
    recorded = some()
    ended = WALL_NS + recorded.now
    assert passing(recorded.recording(live=False, ended_ns=ended), "since:5m") == len(recorded.entries)
    assert passing(recorded.recording(live=False, ended_ns=ended), "since:2ms") < len(recorded.entries)


def test_since_counts_from_now_in_live_traffic():
    assert passing(some().recording(), "since:5m") == 0


async def test_filtering_continues_between_two_ticks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view_module, "CHUNK", 1)
    worked: list[bool] = []
    active_filter = made(some().recording(), lambda: worked.append(active_filter.view.is_done))
    active_filter.view = active_filter._view(parse("kind:request"))
    assert not active_filter.view.advance(0)
    active_filter.advance()
    await until(lambda: worked)
    assert worked == [True]
    active_filter.close()


def test_the_title_names_the_sort_column_and_for_latency_that_only_calls_are_listed() -> None:
    active_filter = made(some().recording(live=False))
    for column, words in (
        (SortColumn.LATENCY, "calls sorted by latency"),
        (SortColumn.SIZE, "by size"),
    ):
        active_filter.order = Order(column)
        wait_until(active_filter.arranged().advance)
        assert words in text_of(active_filter.order_row("h"))
    active_filter.close()
