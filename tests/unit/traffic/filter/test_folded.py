"""Folding the housekeeping of each server into one row."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tests.unit.traffic.small_traffic import Traffic
from tui.core.traffic import Kind, Outcome, Severity
from tui.traffic.filter.folded import FoldedView, is_precise
from tui.traffic.filter.housekeeping import Housekeeping
from tui.traffic.filter.query import parse
from tui.traffic.filter.view import View


def folded(traffic: Traffic, filter: str = "", notes: dict[int, str] | None = None, live: bool = False):
    rule = Housekeeping(traffic.columns, notes, lambda: live)
    made = FoldedView(View(traffic.columns, parse(filter)), traffic.columns, rule)
    return settled(made)


def settled(made: FoldedView) -> FoldedView:
    while not made.advance(50):
        pass
    return made


def seqs(made: FoldedView) -> list[int]:
    return [made.seq(row) for row in range(len(made))]


@pytest.fixture
def traffic() -> Traffic:
    made = Traffic()
    made.call("", method="initialize", took_ms=900, size=50)  # 1 2
    made.call("", method="tools/list", took_ms=500, size=50)  # 3 4
    made.call("slow", took_ms=300, size=10)  # 5 6
    made.call("", method="initialize", source="notes")  # 7 8
    made.call("quick", took_ms=2, source="notes", size=20)  # 9 10
    return made


def test_housekeeping_is_folded_to_the_first_row_of_each_server(traffic: Traffic):
    made = folded(traffic)
    assert seqs(made) == [1, 5, 6, 7, 9, 10]
    fold = made.fold_at(0)
    assert fold is not None and (fold.entries, fold.octets) == (4, 100)
    assert made.fold_at(4) is None
    assert made.folded == 6


def test_new_entries_are_folded_too(traffic: Traffic):
    made = folded(traffic)
    traffic.call("", method="tools/list")
    traffic.call("late")
    assert seqs(settled(made))[-2:] == [13, 14]
    fold = made.fold_at(0)
    assert fold is not None and fold.entries == 6


def test_one_entry_alone_is_shown_as_it_is(traffic: Traffic):
    made = folded(traffic, "server:notes kind:request")
    assert seqs(made) == [7, 9]
    assert made.fold_at(6) is None and made.folded == 0


def test_a_request_without_a_response_is_folded_only_at_first(traffic: Traffic):
    asked = traffic.ask("", method="tools/list")
    live = folded(traffic, live=True)
    assert seqs(folded(traffic))[-1] == asked
    assert asked in seqs(live)  # its clock is far behind that of this process


def test_a_handshake_that_fails_later_is_unfolded(traffic: Traffic, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("time.monotonic_ns", lambda: traffic.now)
    asked = traffic.ask("", method="tools/list")
    made = folded(traffic, live=True)
    assert asked not in seqs(made)
    traffic.answer(asked, Outcome.ERROR)
    assert seqs(settled(made))[-2:] == [asked, asked + 1]


def test_a_handshake_that_hangs_is_unfolded_after_a_second(traffic: Traffic, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("time.monotonic_ns", lambda: traffic.now)
    asked = traffic.ask("", method="tools/list")
    made = folded(traffic, live=True)
    revision = made.revision
    traffic.now += 1_000_000_000
    assert seqs(settled(made))[-1] == asked and made.revision != revision


@pytest.mark.parametrize("mark", ["marked", "severity", "changed", "note"])
def test_what_is_marked_is_not_folded(traffic: Traffic, mark: str):
    notes: dict[int, str] = {3: "odd"} if mark == "note" else {}
    made = folded(traffic, notes=notes)
    if mark == "marked":
        traffic.columns.mark(2, True)
    elif mark == "severity":
        traffic.columns.set_severities([(Severity.ERROR, [3])])
    elif mark == "changed":
        traffic.columns.changed[2] = 1
        traffic.columns.touched.append(2)
    assert seqs(settled(made))[:3] == [1, 3, 5]


def test_the_first_row_of_a_fold_can_leave_it(traffic: Traffic):
    made = folded(traffic)
    traffic.columns.mark(0, True)
    assert seqs(settled(made))[:3] == [1, 2, 5]
    fold = made.fold_at(1)
    assert fold is not None and fold.entries == 3
    traffic.columns.mark(0, False)
    assert seqs(settled(made))[:2] == [1, 5]


def test_an_entry_is_unfolded_to_be_shown(traffic: Traffic):
    made = folded(traffic)
    assert made.row_of(4) < 0 and made.reveal(4) and not made.reveal(5)
    assert made.row_of(4) == 1
    assert seqs(settled(made))[:3] == [1, 4, 5]


@each_case(
    ("filter", "precise"),
    [
        ("server:notes", False),
        ("since:5m kind:request", False),
        ("not method:ping", False),
        ("method:*", True),
        ("status:pending", True),
        ("milk", True),
        ("server:notes /id/", True),
        ("server:notes or seq:7", True),
    ],
)
def test_a_filter_for_particular_entries_unfolds(filter: str, precise: bool):
    assert is_precise(parse(filter).root) is precise


_STEPS = st.lists(
    st.tuples(
        st.sampled_from(["call", "list", "list", "fail", "mark", "reveal", "look"]),
        st.sampled_from(["a", "b", "c"]),
        st.integers(0, 40),
    ),
    max_size=60,
)


@given(_STEPS, st.sampled_from(["", "server:a,b", "dir:out"]))
def test_rows_are_those_of_the_view_without_what_the_rule_folds(steps: list, filter: str):
    traffic = Traffic()
    made = folded(traffic, filter)
    revealed: set[int] = set()
    for step, source, number in steps:
        index = number % max(1, len(traffic.entries))
        match step:
            case "mark" if traffic.entries:
                traffic.columns.mark(index, not traffic.columns.marked[index])
            case "reveal" if traffic.entries and settled(made).reveal(index + 1):
                revealed.add(index + 1)
            case "look":
                settled(made)
            case "call" | "list" | "fail":
                method = "tools/call" if step == "call" else "tools/list"
                traffic.call(
                    method=method, source=source, outcome=Outcome.ERROR if step == "fail" else Outcome.OK
                )
    settled(made)
    expected, seen = [], set()
    for index in made.view.indices(0, len(made.view)):
        seq, source = index + 1, traffic.entries[index].source
        folds = Housekeeping(traffic.columns).folds(index) and seq not in revealed
        if not folds or source not in seen:
            expected.append(seq)
        if folds:
            seen.add(source)
    assert seqs(made) == expected
    assert [one + 1 for one in made.indices(1, 5)] == expected[1:5]
    assert all(made.row_of(seq) == row for row, seq in enumerate(expected))


def test_rows_that_are_loaded_later_are_folded_then():
    from tui.traffic.record.entry_columns import column_row

    whole = Traffic()
    for number in range(20):
        whole.call(method="tools/list" if number % 2 else "tools/call")
    rows = [column_row(entry) for entry in whole.entries]
    traffic = Traffic()
    traffic.columns.begin_at_end(1, rows[30:])
    made = folded(traffic)
    assert 30 < len(made) < 40
    traffic.columns.fill(rows[:30])
    assert len(settled(made)) == 21 and made.folded == 20


def test_a_recording_of_nothing_else_is_one_row():
    traffic = Traffic()
    for _ in range(9_000):
        traffic.add(Kind.NOTIFICATION, method="notifications/tools/list_changed")
    made = folded(traffic)
    assert seqs(made) == [1] and made.folded == 9_000
