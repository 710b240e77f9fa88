"""The active filter, without the screen."""

import pytest

from tests.conftest import until, wait_until
from tests.ui.traffic_stage import WALL_NS, Recorded, some
from tui.core.traffic import Kind
from tui.traffic.filter import view as view_module
from tui.traffic.filter.arrangement import Order, SortColumn
from tui.traffic.filter.query import parse
from tui.traffic.record.entry_columns import Recording
from tui.ui.traffic.filtering import Filtering
from tui.ui.widgets.rows import text_of


def passing(recording: Recording, expression: str) -> int:
    filtering = Filtering(recording)
    view = filtering.filter(parse(expression))
    wait_until(view.advance)
    filtering.close()
    return len(view)


def test_since_counts_from_the_end_of_a_recording():
    recorded = some()
    ended = WALL_NS + recorded.now_ns
    assert passing(recorded.recording(live=False, ended_ns=ended), "since:5m") == len(recorded.entries)
    assert passing(recorded.recording(live=False, ended_ns=ended), "since:2ms") < len(recorded.entries)


def test_since_counts_from_now_in_live_traffic():
    assert passing(some().recording(), "since:5m") == 0


async def test_filtering_continues_between_two_ticks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view_module, "CHUNK", 1)
    worked: list[bool] = []
    filtering = Filtering(some().recording(), lambda: worked.append(filtering.view.is_done))
    view = filtering.filter(parse("kind:request"))
    assert not view.advance(0)
    filtering.advance()
    await until(lambda: worked)
    assert worked == [True]
    filtering.close()


def test_the_title_names_the_sort_column_and_for_latency_that_only_calls_are_listed() -> None:
    filtering = Filtering(some().recording(live=False))
    for column, words in (
        (SortColumn.LATENCY, "calls sorted by latency"),
        (SortColumn.SIZE, "by size"),
    ):
        filtering.order = Order(column)
        wait_until(filtering.arranged().advance)
        assert text_of(filtering.order_row).endswith(words)
    filtering.close()


def test_an_empty_list_of_calls_says_how_to_see_all_entries() -> None:
    recorded = Recorded()
    recorded.add(Kind.EVENT, method="spawn")
    filtering = Filtering(recorded.recording())
    wait_until(filtering.view.advance)
    filtering.order = Order(SortColumn.LATENCY, True)
    for query in ("", "kind:event"):
        filtering.filter(parse(query))
        wait_until(filtering.arranged().advance)
        assert "latency" in " ".join(filtering.why_empty(filtering.query, ""))
    filtering.close()
