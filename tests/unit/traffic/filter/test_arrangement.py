"""Sorting rows."""

import pytest

from tests.conftest import wait_until
from tests.unit.traffic.small_traffic import Traffic
from tui.core.traffic import Kind, Outcome
from tui.traffic.filter.arrangement import Arrangement, Order, SortColumn, next_order
from tui.traffic.filter.query import parse
from tui.traffic.filter.view import View

LATENCY = Order(SortColumn.LATENCY, descending=True)


def arranged(traffic: Traffic, filter: str = "", **options) -> Arrangement:
    made = Arrangement(View(traffic.columns, parse(filter)), traffic.columns, **options)
    settle(made)
    return made


def settle(made: Arrangement) -> None:
    for _ in range(1000):
        if made.advance(50) and not made.view.is_at_work:
            return
    raise AssertionError("it never ends")


def seqs(made: Arrangement) -> list[int]:
    return [made.seq(row) for row in range(len(made))]


@pytest.fixture
def traffic() -> Traffic:
    made = Traffic()
    made.call("", method="initialize", took_ms=900, size=50)  # 1 2
    made.call("", method="tools/list", took_ms=500, size=50)  # 3 4
    made.call("slow", took_ms=300, size=10)  # 5 6
    made.call("", method="initialize", source="notes")  # 7 8
    made.call("quick", took_ms=2, source="notes", size=20)  # 9 10
    made.call("broken", took_ms=40, outcome=Outcome.ERROR, size=30)  # 11 12
    return made


def test_the_slowest_call_comes_first_and_startup_requests_are_omitted(traffic: Traffic):
    assert seqs(arranged(traffic, order=LATENCY)) == [5, 11, 9]
    assert seqs(arranged(traffic, order=Order(SortColumn.LATENCY))) == [9, 11, 5]


def test_what_is_folded_is_left_out_of_other_orders_and_failures_are_not(traffic: Traffic):
    failed = traffic.call("", method="tools/list", outcome=Outcome.ERROR)
    made = arranged(traffic, order=Order(SortColumn.TIME), folds=True)
    assert seqs(made) == [5, 6, 9, 10, 11, 12, failed, failed + 1]
    assert made.folded == 6


def test_startup_requests_are_sorted_if_the_filter_matches_them(traffic: Traffic):
    assert seqs(arranged(traffic, "method:*", order=LATENCY))[:2] == [1, 3]


@pytest.mark.parametrize(
    ("kinds", "fields", "filter"),
    [
        ((Kind.REQUEST, Kind.RESPONSE), {"method": "elicitation/create"}, "method:*"),
        ((Kind.MODEL_REQUEST, Kind.MODEL_REPLY), {"method": "m", "source": "model:m"}, "server:model:*"),
    ],
    ids=["questions to the user", "model requests"],
)
def test_what_is_no_call_is_omitted_unless_the_filter_matches_it(kinds, fields, filter):
    traffic = Traffic()
    asked = traffic.add(kinds[0], **fields)
    traffic.add(kinds[1], pair=asked, outcome=Outcome.OK, after_ms=6_200, **fields)
    assert seqs(arranged(traffic, order=LATENCY)) == []
    assert seqs(arranged(traffic, filter, order=LATENCY)) == [asked]


@pytest.mark.parametrize(
    ("order", "first"),
    [
        (Order(SortColumn.TIME, descending=True), [12, 11, 10]),
        (Order(SortColumn.SIZE, descending=True), [1, 3, 11]),
        (Order(SortColumn.SERVER), [7, 8, 9]),
        (Order(SortColumn.KIND), [1, 3, 5]),
        (Order(SortColumn.METHOD), [1, 2, 7]),
    ],
)
def test_rows_are_sorted_by_a_column_and_then_by_time(traffic: Traffic, order: Order, first: list[int]):
    made = arranged(traffic, order=order)
    assert seqs(made)[:3] == first
    assert len(made) == 12
    assert [made.row_of(seq) for seq in seqs(made)] == list(range(12))


def test_thousands_of_rows_are_sorted_by_size():
    traffic = Traffic()
    for number in range(5_000):
        traffic.add(Kind.NOTIFICATION, method="m", size=number * 7919 % 5_000)
    made = Arrangement(View(traffic.columns), traffic.columns, Order(SortColumn.SIZE, descending=True))
    settle(made)
    sizes = [traffic.columns.size[made.index(row)] for row in range(len(made))]
    assert sizes == sorted(range(5_000), reverse=True)


def test_new_entries_are_inserted_in_sort_order(traffic: Traffic):
    made = arranged(traffic, order=LATENCY)
    traffic.call("slowest", took_ms=5_000)

    def sorted_again() -> bool:  # after a rest that depends on how long the first sort took
        made.advance(50)
        return seqs(made) == [13, 5, 11, 9]

    wait_until(sorted_again)


def test_the_key_of_a_column_sorts_then_reverses_then_restores_the_order_by_time():
    size = SortColumn.SIZE
    assert next_order(None, size) == Order(size, True)
    assert next_order(Order(size, True), size) == Order(size, False)
    assert next_order(Order(size, False), size) is None
    assert next_order(None, SortColumn.SERVER) == Order(SortColumn.SERVER, False)
    assert next_order(Order(SortColumn.TIME, True), SortColumn.TIME) is None
