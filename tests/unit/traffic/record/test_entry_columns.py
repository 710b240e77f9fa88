"""The columns are equal in whatever order and form the entries are added."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.traffic.small_traffic import Traffic, begun_at_end, fill
from tui.core.traffic import CHANGE_WORDS, Cause, Direction, Entry, Kind, Outcome, Severity
from tui.traffic.record.entry_columns import EntryColumns, column_row

COLUMNS = (
    "mono kind direction source method tool size pair root ident call turn step outcome severity marked"
    " changed touched"
).split()

numbers = st.integers(0, 12)
parts = st.tuples(
    st.integers(0, 2**40),
    st.sampled_from([0, 2_000_000]),
    st.sampled_from(["a", "b", "model:m"]),
    st.sampled_from(Direction),
    st.sampled_from(Kind),
    st.sampled_from(["", "tools/call", "exit", "stop", "fault", "server/discover"]),
    numbers,
    numbers,
    st.sampled_from(Outcome),
    st.none() | st.builds(Cause, numbers, st.integers(0, 300), st.sampled_from(["", "call-1", "call-2"])),
)


def entry(seq: int, part: tuple[Any, ...]) -> Entry:
    mono, offset, source, direction, kind, method, pair, root, outcome, cause = part
    return Entry(
        seq, mono, mono + offset, source, direction, kind, method, source, str(pair), mono, pair, root,
        outcome, cause,
    )  # fmt: skip


@given(made=st.lists(parts, max_size=12), first=st.integers(1, 4), cut=st.integers(0, 12))
@settings(deadline=None)
def test_adding_rows_gives_the_same_columns_as_adding_entries(made: list[Any], first: int, cut: int):
    entries = [entry(seq, part) for seq, part in enumerate(made, start=first)]
    one, other = EntryColumns(), EntryColumns()
    for each in entries:
        one.extend([column_row(each)])
    other.extend([column_row(each) for each in entries[:cut]])
    other.extend([column_row(each) for each in entries[cut:]])
    assert len(one) == len(other) == len(entries) and one.first == other.first
    for name in COLUMNS:
        assert getattr(one, name) == getattr(other, name), name
    for names in ("sources", "methods", "tools"):
        assert getattr(one, names).texts == getattr(other, names).texts
    assert one.pending() == other.pending()
    for index in range(len(entries)):
        assert one.wall_ns(index) == other.wall_ns(index)


@pytest.mark.parametrize(("place", "value"), [(5, 999), (1, "x"), (9, -1)])
def test_invalid_rows_add_nothing(place: int, value: Any):
    columns = EntryColumns()
    good = list(column_row(entry(1, (5, 0, "a", Direction.OUT, Kind.REQUEST, "", 0, 0, Outcome.NONE, None))))
    bad = [*good]
    bad[place] = value
    with pytest.raises((OverflowError, TypeError, ValueError)):
        columns.extend([tuple(good), tuple(bad)])
    assert len(columns) == len(columns.mono) == len(columns.marked) == 0


def test_an_entry_whose_partner_is_missing_has_none():
    columns = EntryColumns()
    columns.extend(
        [column_row(entry(1, (5, 0, "a", Direction.IN, Kind.RESPONSE, "", 9, 9, Outcome.OK, None)))]
    )
    assert (columns.partner(0), columns.root[0]) == (-1, 0)


def test_numbers_are_correct_after_entries_were_dropped_unread():
    def asked(seq: int, pair: int = 0, kind: Kind = Kind.REQUEST) -> Entry:
        return entry(seq, (seq, 0, "a", Direction.OUT, kind, "", pair, 4, Outcome.OK, None))

    columns = EntryColumns()
    entries = [asked(4), asked(5, pair=4, kind=Kind.RESPONSE), asked(20), asked(21, 20, Kind.RESPONSE)]
    entries += [asked(40), asked(41, 10, Kind.RESPONSE), asked(42, 40, Kind.RESPONSE)]
    columns.extend([column_row(each) for each in entries])
    assert [columns.seq(index) for index in range(7)] == [4, 5, 20, 21, 40, 41, 42]
    assert [columns.index(seq) for seq in (3, 4, 5, 6, 19, 20, 21, 39, 42, 43)] == [
        -1, 0, 1, -1, -1, 2, 3, -1, 6, -1,
    ]  # fmt: skip
    assert [columns.position(seq) for seq in (1, 5, 6, 20, 22, 42, 99)] == [0, 1, 2, 2, 4, 6, 7]
    assert list(columns.pair) == [2, 1, 4, 3, 7, 0, 5]
    assert list(columns.root) == [1] * 7
    assert columns.gone == 39


@given(cuts=st.sets(st.integers(1, 40), max_size=5), first=st.integers(1, 4), size=st.integers(1, 40))
@settings(deadline=None)
def test_each_number_is_found_after_any_entries_were_dropped(cuts: set[int], first: int, size: int):
    seqs = [seq for seq in range(first, first + size) if seq not in cuts]
    columns = EntryColumns()
    columns.extend(
        [
            column_row(entry(seq, (0, 0, "", Direction.OUT, Kind.STDERR, "", 0, 0, Outcome.NONE, None)))
            for seq in seqs
        ]
    )
    assert [columns.seq(index) for index in range(len(columns))] == seqs
    for seq in range(first + size + 2):
        assert columns.index(seq) == (seqs.index(seq) if seq in seqs else -1)
        assert columns.position(seq) == sum(each < seq for each in seqs)
    assert list(columns.seqs(range(len(seqs)))) == seqs


@given(
    made=st.lists(parts, min_size=2, max_size=14),
    first=st.integers(1, 4),
    cut=st.integers(1, 13),
    portion=st.integers(1, 5),
)
@settings(deadline=None)
def test_loading_from_the_end_gives_the_same_columns_as_loading_in_order(
    made: list[Any], first: int, cut: int, portion: int
):
    rows = [column_row(entry(seq, part)) for seq, part in enumerate(made, start=first)]
    cut = min(cut, len(rows) - 1)
    one, other = EntryColumns(), EntryColumns()
    one.extend(rows)
    other.begin_at_end(first, rows[cut:])
    assert (len(other), other.loaded, other.hole) == (len(rows), len(rows) - cut, (0, cut))
    assert all(not 0 < pair <= cut for pair in (*other.pair[cut:], *other.root[cut:]))
    assert [other.wall_ns(index) - one.wall_ns(index) for index in range(cut, len(rows))] == [0] * (
        len(rows) - cut
    )
    while other.hole != (0, 0):
        start, end = other.hole
        other.fill(rows[start : min(end, start + portion)])
    for name in COLUMNS:
        if name not in ("touched", "source", "method", "tool"):
            assert getattr(one, name) == getattr(other, name), name
    for name in ("source", "method", "tool"):
        mine, yours = (
            [getattr(each, name + "s").texts[n] for n in getattr(each, name)] for each in (one, other)
        )
        assert mine == yours
    assert one.pending() == other.pending()
    assert [one.wall_ns(index) for index in range(len(rows))] == [
        other.wall_ns(index) for index in range(len(rows))
    ]
    one.extend([column_row(entry(first + len(rows), made[0]))])
    other.extend([column_row(entry(first + len(rows), made[0]))])
    assert (one.pair, one.outcome, one.pending()) == (other.pair, other.outcome, other.pending())


def test_a_partner_not_loaded_yet_is_known_but_the_latency_is_not():
    traffic = Traffic()
    for _ in range(3):
        traffic.call()
    columns = begun_at_end(traffic, 1)
    assert (columns.partner(5), columns.origin(5), columns.is_uncertain(5)) == (4, 4, True)
    assert columns.latency_ns(5) == -1
    fill(columns, traffic, 1)
    assert (columns.partner(0), columns.is_uncertain(0)) == (-1, True)
    fill(columns, traffic, 99)
    assert [columns.partner(index) for index in (0, 5)] == [1, 4]
    assert not any(map(columns.is_uncertain, range(6)))


def test_a_change_of_an_entry_not_loaded_yet_is_kept_without_a_new_revision():
    traffic = Traffic()
    traffic.call()
    columns = begun_at_end(traffic, 1)
    columns.mark(0, True)
    columns.set_severities([(Severity.WARNING, [1])])
    assert columns.revision == 0
    fill(columns, traffic, 1)
    assert (columns.marked[0], columns.severity[0]) == (1, Severity.WARNING)


def test_rows_out_of_order_are_refused():
    parts = (5, 0, "a", Direction.OUT, Kind.STDERR, "", 0, 0, Outcome.NONE, None)
    rows = [column_row(entry(seq, parts)) for seq in range(1, 9)]
    columns = EntryColumns()
    columns.begin_at_end(1, rows[6:])
    for wrong in (rows[1:3], rows[:7], [rows[0], rows[2]]):
        with pytest.raises(ValueError, match="The next is 1"):
            columns.fill(wrong)
    assert (columns.hole, columns.loaded, columns.ready) == ((0, 6), 2, 0)
    columns.fill(rows[:6])
    assert (columns.loaded, columns.ready) == (8, 8)


@pytest.mark.parametrize("pair", [0, 1])
@pytest.mark.parametrize(
    ("method", "outcome", "expected"),
    [
        ("exit", Outcome.NONE, Outcome.LOST),
        ("spawn", Outcome.NONE, Outcome.LOST),
        ("exit", Outcome.CANCELLED, Outcome.CANCELLED),
        ("stop", Outcome.CANCELLED, Outcome.CANCELLED),
        ("stop", Outcome.NONE, Outcome.PENDING),
    ],
)
def test_the_end_of_a_source_ends_requests_that_are_loaded_after_it(
    method: str, outcome: Outcome, expected: Outcome, pair: int
):
    asked = (0, 0, "a", Direction.OUT, Kind.REQUEST, "", 0, 0, Outcome.NONE, None)
    end = (0, 0, "a", Direction.NONE, Kind.EVENT, method, pair, 0, outcome, None)
    rows = [column_row(entry(seq, part)) for seq, part in enumerate([asked, asked, end], start=1)]
    columns = EntryColumns()
    columns.begin_at_end(1, rows[1:])
    columns.fill(rows[:1])
    assert list(columns.outcome[:2]) == [expected, expected]


def test_a_response_that_was_changed_on_its_way_has_a_mark():
    traffic = Traffic()
    asked = traffic.ask()
    answer = traffic.answer(asked)
    traffic.add(Kind.EVENT, method="discarded", pair=asked, direction=Direction.NONE)
    columns = traffic.columns
    assert [CHANGE_WORDS[number] for number in columns.changed] == ["", "dropped", ""]
    assert columns.touched[-1] == columns.index(answer)
