"""A view contains the matching entries in order while the recording grows and entries change."""

import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import each_case
from tests.conftest import wait_until
from tests.unit.traffic.small_traffic import Bodies, Traffic, begun_at_end, fill
from tui.core.traffic import Kind, Outcome, Severity
from tui.traffic.filter import view as module
from tui.traffic.filter.query import parse
from tui.traffic.filter.view import View


def seqs(view: View) -> list[int]:
    return [view.seq(row) for row in range(len(view))]


def finished(view: View) -> list[int]:
    """Return the seqs of a view when it is done."""
    wait_until(view.advance)
    return seqs(view)


@pytest.fixture
def traffic() -> Traffic:
    """Return ten calls: the odd entries are requests."""
    traffic = Traffic()
    for number in range(10):
        traffic.call(f"tool{number % 2}", took_ms=number, body=b"milk" if number % 3 == 0 else b"bread")
    return traffic


# ---- rows -------------------------------------------------------------------------------------------------


def test_without_a_filter_every_entry_is_a_row(traffic: Traffic):
    view = View(traffic.columns)
    assert len(view) == 0
    assert finished(view) == list(range(1, 21))
    assert list(view.indices(18, 99)) == [18, 19]


def test_matching_entries_are_rows_in_order(traffic: Traffic):
    view = View(traffic.columns, parse("tool:tool1 kind:request"))
    assert finished(view) == [3, 7, 11, 15, 19]
    assert list(view.indices(1, 3)) == [6, 10]
    assert view.index(0) == 2


def test_new_entries_are_checked_as_they_arrive(traffic: Traffic):
    view = View(traffic.columns, parse("kind:stderr"))
    assert finished(view) == []
    before = view.revision
    finished(view)
    assert view.revision == before
    traffic.add(Kind.STDERR)
    assert finished(view) == [21]
    assert view.revision > before


# ---- selection --------------------------------------------------------------------------------------------


def test_the_row_of_an_entry_or_the_nearest_row_is_found(traffic: Traffic):
    view = View(traffic.columns, parse("kind:response"))
    finished(view)
    assert [view.row_of(seq) for seq in (2, 3, 4, 99)] == [0, -1, 1, -1]
    assert [view.row_near(seq) for seq in (1, 2, 3, 99)] == [0, 0, 1, 10]


def test_the_next_match_wraps_around(traffic: Traffic):
    view = View(traffic.columns, parse("tool:tool1 kind:request"))
    finished(view)
    assert [view.next(seq) for seq in (3, 4, 19)] == [7, 7, 3]
    assert [view.next(seq, -1) for seq in (7, 3)] == [3, 19]
    assert View(traffic.columns, parse("kind:batch")).next(1) == 0


# ---- slices -----------------------------------------------------------------------------------------------


def test_the_newest_entries_are_checked_first_in_slices(traffic: Traffic, monkeypatch):
    monkeypatch.setattr(module, "CHUNK", 4)
    view = View(traffic.columns, parse("kind:request"))
    assert not view.advance(0)
    assert seqs(view) == [17, 19]
    assert view.progress == (4, 20)
    assert finished(view) == list(range(1, 20, 2))
    assert view.progress == (20, 20)


def test_cancelled_work_keeps_its_rows(traffic: Traffic, monkeypatch):
    monkeypatch.setattr(module, "CHUNK", 4)
    view = View(traffic.columns, parse("kind:request"))
    view.advance(0)
    view.cancel()
    assert view.is_done
    new = traffic.ask()
    assert finished(view) == [17, 19, new]


STEPS = st.lists(
    st.sampled_from(["ask", "answer", "fail", "end", "mark", "find", "advance"]), min_size=1, max_size=40
)


@settings(max_examples=40, deadline=None)
@given(STEPS, st.sampled_from(["status:pending,lost", "latency:>3ms or lint:error", "-marked:yes status:ok"]))
def test_an_updated_view_equals_a_new_one(steps: list[str], text: str):
    traffic, waiting = Traffic(), []
    view = View(traffic.columns, parse(text))
    for number, step in enumerate(steps):
        match step:
            case "ask":
                waiting.append(traffic.ask())
            case "answer" | "fail" if waiting:
                outcome = Outcome.OK if step == "answer" else Outcome.ERROR
                traffic.answer(waiting.pop(number % len(waiting)), outcome, after_ms=number)
            case "end":
                traffic.end()
            case "mark" if traffic.entries:
                traffic.columns.mark(number % len(traffic.entries), number % 3 > 0)
            case "find" if traffic.entries:
                traffic.columns.set_severities([(Severity.ERROR, [1 + number % len(traffic.entries)])])
            case _:
                view.advance(0)
    assert finished(view) == finished(View(traffic.columns, parse(text)))


# ---- bodies -----------------------------------------------------------------------------------------------


def test_bodies_are_read_in_a_thread_and_it_ends_with_the_view(traffic: Traffic):
    bodies = Bodies(traffic)
    view = View(traffic.columns, parse("milk kind:response"), reader=lambda: bodies)
    assert finished(view) == [2, 8, 14, 20]
    traffic.call("late", body=b"more milk")
    assert finished(view) == [2, 8, 14, 20, 22]
    view.close(wait=True)
    assert bodies.is_closed


@pytest.mark.parametrize(
    ("text", "rows", "asked"),
    [("milk seq:5..16", [8, 14], [(13, 16), (5, 12)]), ("milk server:notes", [], [])],
)
def test_only_bodies_that_could_match_are_read_newest_first(
    traffic: Traffic, monkeypatch, text: str, rows: list[int], asked: list[tuple[int, int]]
):
    monkeypatch.setattr(module, "FIRST_BLOCK", 8)
    bodies = Bodies(traffic)
    view = View(traffic.columns, parse(text), reader=lambda: bodies)
    assert finished(view) == rows
    view.close(wait=True)
    assert bodies.asked == asked


def test_without_a_reader_words_are_searched_in_names(traffic: Traffic):
    assert len(finished(View(traffic.columns, parse("tool1")))) == 10
    assert finished(View(traffic.columns, parse("milk"))) == []


def test_an_entry_whose_body_matched_is_checked_again_after_a_change(traffic: Traffic):
    view = View(traffic.columns, parse("status:pending milk"), reader=lambda: Bodies(traffic))
    request = traffic.ask(body=b"milk?")
    assert finished(view) == [request]
    traffic.answer(request)
    assert finished(view) == []
    view.close(wait=True)


def test_a_range_that_cannot_be_searched_has_no_matches_and_reports_why(traffic: Traffic, monkeypatch):
    monkeypatch.setattr(module, "FIRST_BLOCK", 10)
    bodies = Bodies(traffic)
    search = bodies.search

    def damaged(terms, first, last):
        if first > 10:
            raise LookupError("a damaged page")
        return search(terms, first, last)

    bodies.search = damaged  # type: ignore[method-assign]
    view = View(traffic.columns, parse("milk"), reader=lambda: bodies)
    assert (finished(view), view.problem) == ([2, 8], "a damaged page")
    view.close(wait=True)


def test_closing_interrupts_the_search_and_cancelled_ranges_have_no_rows(traffic: Traffic):
    bodies, begun, interrupted = Bodies(traffic), threading.Event(), threading.Event()

    def until_interrupted(terms, first, last):
        begun.set()
        assert interrupted.wait(10)
        return [frozenset({first})]

    bodies.search, bodies.interrupt = until_interrupted, interrupted.set  # type: ignore[method-assign]
    view = View(traffic.columns, parse("milk"), reader=lambda: bodies)
    assert not view.advance()
    assert begun.wait(10)
    view.close(wait=True)
    assert bodies.is_closed
    view.advance(0)
    assert seqs(view) == []


def with_a_gap() -> Traffic:
    """Return three calls, seqs 1 to 6, and three more from 51 on. The entries between them are missing."""
    traffic = Traffic()
    for _ in range(3):
        traffic.call("get", body=b"milk")
    traffic.skip(44)
    for _ in range(3):
        traffic.call("get", body=b"milk")
    return traffic


@each_case(
    ("text", "expected"),
    [
        ("", [1, 2, 3, 4, 5, 6, 51, 52, 53, 54, 55, 56]),
        ("seq:5..52", [5, 6, 51, 52]),
        ("seq:7..50", []),
        ("kind:response body:milk", [2, 4, 6, 52, 54, 56]),
        ("body:milk -seq:52", [2, 4, 6, 54, 56]),
        ("note:why", [2, 54]),
        ("pair:53", [53, 54]),
    ],
)
def test_a_filter_finds_entries_after_a_gap_by_their_own_numbers(text: str, expected: list[int]):
    traffic = with_a_gap()
    notes = {2: "why?", 30: "why?", 54: "why?"}
    view = View(traffic.columns, parse(text), reader=lambda: Bodies(traffic), notes=notes)
    try:
        assert finished(view) == expected
        assert [view.row_of(seq) for seq in expected] == list(range(len(expected)))
        assert view.row_of(30) == -1
    finally:
        view.close(wait=True)


def test_the_next_match_is_found_across_a_gap():
    view = View(with_a_gap().columns, parse("kind:request"))
    finished(view)
    assert (view.next(5), view.next(30), view.next(51, -1)) == (51, 51, 5)


def test_a_note_after_a_gap_is_checked_again():
    traffic = with_a_gap()
    notes: dict[int, str] = {}
    view = View(traffic.columns, parse("note:why"), notes=notes)
    assert finished(view) == []
    notes[55] = "why?"
    view.recheck([55])
    assert finished(view) == [55]


# ---- entries not loaded yet -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("kind:request", [15, 17, 19]),
        ("latency:>=0ms kind:response", [16, 18, 20]),
        ("not status:pending", [15, 16, 17, 18, 19, 20]),
    ],
)
def test_entries_become_rows_as_they_are_loaded(traffic: Traffic, text: str, before: list[int]):
    columns = begun_at_end(traffic, 6)
    view = View(columns, parse(text))
    assert finished(view) == before
    assert not view.is_done and not view.is_at_work
    assert view.progress == (6, 20)
    moves = view.moves
    fill(columns, traffic, 5)
    assert finished(view)[-len(before) :] == before
    assert view.moves > moves
    later = View(columns, parse(text))
    finished(later)
    fill(columns, traffic, 99)
    assert finished(view) == finished(later) == finished(View(traffic.columns, parse(text)))
    assert view.is_done


def test_a_request_counts_as_pending_only_once_all_entries_are_loaded(traffic: Traffic):
    traffic.ask("late")
    traffic.call("last")
    columns = begun_at_end(traffic, 2)
    view = View(columns, parse("status:pending"))
    assert finished(view) == []
    fill(columns, traffic, 7)
    assert finished(view) == []
    fill(columns, traffic, 99)
    assert finished(view) == [21]


def test_the_next_match_waits_for_the_entries_before_it(traffic: Traffic, monkeypatch):
    monkeypatch.setattr(module, "CHUNK", 2)
    view = View(traffic.columns, parse("kind:request"))
    assert not view.advance(0)
    assert seqs(view) == [19]
    assert (view.next(5), view.next(19), view.next(20, -1), view.next(17, -1)) == (0, 0, 19, 0)
    finished(view)
    assert (view.next(5), view.next(19)) == (7, 1)


def test_the_next_match_waits_for_bodies_before_it(traffic: Traffic, monkeypatch):
    monkeypatch.setattr(module, "FIRST_BLOCK", 10)
    bodies, going = Bodies(traffic), threading.Event()
    search = bodies.search

    def slow_for_old(terms, first, last):
        assert first > 10 or going.wait(10)
        return search(terms, first, last)

    bodies.search = slow_for_old  # type: ignore[method-assign]
    view = View(traffic.columns, parse("milk"), reader=lambda: bodies)
    wait_until(lambda: view.advance(0) or len(view))
    assert (view.next(1), view.next(15)) == (0, 20)
    going.set()
    finished(view)
    assert view.next(2) == 8
    view.close(wait=True)


def test_without_a_filter_entries_not_loaded_yet_are_rows(traffic: Traffic):
    columns = begun_at_end(traffic, 6)
    view = View(columns)
    assert finished(view) == list(range(1, 21))
    before = view.revision
    fill(columns, traffic, 5)
    assert finished(view) == list(range(1, 21))
    assert view.revision > before
