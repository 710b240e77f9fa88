"""Blocks of bodies are searched in order by one thread, and can be cancelled."""

import threading
import time

from tests.conftest import wait_until
from tests.unit.traffic.small_traffic import Bodies, Traffic
from tui.core.traffic import BodyTerm, Direction, Entry, Kind
from tui.runtime.recording import MemoryReader
from tui.traffic.filter.view import BodyMatches, BodySearchThread
from tui.traffic.record.recent_entries import RecentEntries

MILK = [BodyTerm("milk")]


def sample() -> Bodies:
    traffic = Traffic()
    for _ in range(4):
        traffic.call(body=b"milk")
    return Bodies(traffic)


def answers(search: BodySearchThread, count: int) -> list[BodyMatches]:
    found: list[BodyMatches] = []

    def enough() -> bool:
        while (answer := search.answer()) is not None:
            found.append(answer)
        return len(found) >= count

    wait_until(enough)
    return found


def test_no_thread_is_started_before_the_first_block():
    before = threading.active_count()
    search = BodySearchThread(sample, MILK)
    assert threading.active_count() == before
    search.close()


def test_answers_come_in_the_order_of_the_blocks():
    search = BodySearchThread(sample, MILK)
    search.ask(4, 8, 5, 8)
    search.ask(0, 4, 1, 4)
    assert search.asked == [(4, 8), (0, 4)]
    assert answers(search, 2) == [
        BodyMatches(4, 8, [frozenset({6, 8})]),
        BodyMatches(0, 4, [frozenset({2, 4})]),
    ]
    assert not search.asked
    search.close(wait=True)


def test_cancelled_blocks_get_no_answer():
    bodies, go_on = sample(), threading.Event()
    seek = bodies.search

    def slowly(*asked):
        go_on.wait(10)
        return seek(*asked)

    bodies.search = slowly
    search = BodySearchThread(lambda: bodies, MILK)
    search.ask(0, 4, 1, 4)
    search.ask(4, 6, 5, 6)
    assert search.cancel() == [(0, 4), (4, 6)]
    search.ask(6, 8, 7, 8)
    go_on.set()
    assert answers(search, 1) == [BodyMatches(6, 8, [frozenset({8})])]
    search.close(wait=True)


def test_closing_interrupts_the_search():
    bodies, interrupted, begun = sample(), threading.Event(), threading.Event()

    def until_interrupted(*_asked):
        begun.set()
        assert interrupted.wait(10)
        return [frozenset()]

    bodies.search, bodies.interrupt = until_interrupted, interrupted.set
    search = BodySearchThread(lambda: bodies, MILK)
    search.ask(0, 4, 1, 4)
    assert begun.wait(10)
    search.close(wait=True)
    assert bodies.is_closed
    search.ask(0, 4, 1, 4)
    assert search.answer() is None


def test_an_unreadable_block_has_no_matches_and_reports_why():
    bodies = sample()

    def fail(*_asked):
        raise OSError("the disk is gone")

    bodies.search = fail
    search = BodySearchThread(lambda: bodies, MILK)
    search.ask(0, 4, 1, 4)
    assert answers(search, 1) == [BodyMatches(0, 4, [frozenset()], "the disk is gone")]
    search.close(wait=True)


def test_a_regular_expression_that_is_too_large_is_reported():
    search = BodySearchThread(lambda: memory(b"a"), [BodyTerm(r"\w{1000}", regex=True)])
    search.ask(0, 1, 1, 1)
    (answer,) = answers(search, 1)
    assert answer.seqs == [frozenset()] and answer.problem.startswith("pattern too large")
    search.close(wait=True)


def test_cancelling_nothing_does_not_interrupt_the_next_block():
    search = BodySearchThread(lambda: memory(b"milk"), MILK)
    for start in (0, 1, 2):
        search.ask(start, start + 1, 1, 1)
        assert answers(search, 1) == [BodyMatches(start, start + 1, [frozenset({1})])]
        assert search.cancel() == []
    search.close(wait=True)


def test_a_regular_expression_with_catastrophic_backtracking_in_python_is_fast():
    search = BodySearchThread(lambda: memory(b"a" * 200_000), [BodyTerm(r"\w+\w+\w+@", regex=True)])
    began = time.process_time()
    search.ask(0, 1, 1, 1)
    assert answers(search, 1) == [BodyMatches(0, 1, [frozenset()])]
    search.close(wait=True)
    assert time.process_time() - began < 5


def memory(*bodies: bytes) -> MemoryReader:
    kept = RecentEntries()
    kept.add(
        [
            Entry(seq, seq, seq, "weather", Direction.IN, Kind.NOT_JSON, body=body)
            for seq, body in enumerate(bodies, start=1)
        ]
    )
    return MemoryReader(kept)


def test_an_unexpected_error_answers_its_block_and_the_next_one_is_searched():
    bodies, failures = sample(), [LookupError("a defect")]

    def rearm() -> None:
        if failures:
            raise failures.pop()

    bodies.rearm = rearm
    search = BodySearchThread(lambda: bodies, MILK)
    search.ask(0, 4, 1, 4)
    search.ask(4, 8, 5, 8)
    assert answers(search, 2) == [
        BodyMatches(0, 4, [frozenset()], "an internal error (LookupError)"),
        BodyMatches(4, 8, [frozenset({6, 8})]),
    ]
    search.close(wait=True)
