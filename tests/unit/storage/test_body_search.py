"""Bodies are searched in the order they come, until somebody says stop."""

import threading
from collections.abc import Iterator
from contextlib import closing
from threading import Event

import pytest

from tests.conftest import wait_until
from tui.core.traffic import BodyTerm
from tui.storage.body_search import LARGE, RUN_BYTES, BodyFinder, BodySearch
from tui.storage.regex_process import RegexProcess

ENDLESS = BodyTerm(rb"\w+\w+\w+@", regex=True)
EASY = BodyTerm(rb"b[0-9]c", regex=True)


def no_part(seq: int, start: int, length: int) -> bytes:
    raise AssertionError("no body is large")


def test_what_was_found_before_the_stop_is_kept():
    stop = Event()

    def bodies() -> Iterator[tuple[int, bytes]]:
        for seq in range(1, 1000):
            if seq == 500:
                stop.set()
            yield seq, b"term" + b"." * (RUN_BYTES // 100)

    search = BodySearch([BodyTerm(b"TERM")], no_part, stop, RegexProcess(stop))
    search.run(bodies())
    (found,) = search.found()
    assert found == set(range(1, len(found) + 1)) and 300 < len(found) <= 500


def test_an_empty_term_is_in_every_body():
    with closing(BodyFinder(no_part)) as finder:
        terms = [BodyTerm(b""), BodyTerm(b"", regex=True)]
        assert finder.search(terms, lambda: [(1, b"a"), (2, b"b")]) == [{1, 2}, {1, 2}]


def test_a_large_body_is_read_in_parts_and_only_as_far_as_nobody_stops():
    read: list[int] = []
    stop = Event()

    def part(seq: int, start: int, length: int) -> bytes:
        read.append(start)
        if len(read) == 2:
            stop.set()
        return b"." * length

    search = BodySearch([BodyTerm(b"x")], part, stop, RegexProcess(stop))
    search.run([(1, 9 * LARGE)])
    assert read == [0, LARGE] and search.found() == [frozenset()]


@pytest.fixture
def finder() -> Iterator[BodyFinder]:
    with closing(BodyFinder(no_part, lambda stop: RegexProcess(stop, body_seconds=0.2))) as made:
        yield made


def test_words_and_expressions_are_told_apart(finder: BodyFinder):
    terms = [EASY, BodyTerm(b"B1C"), BodyTerm(b"b.c"), BodyTerm(b"B1C", fold=False)]
    assert finder.search(terms, lambda: [(1, b"b1c"), (2, b"b.c")]) == [{1}, {1}, {2}, frozenset()]


def test_an_interrupt_that_comes_before_the_search_is_not_forgotten(finder: BodyFinder):
    finder.interrupt()
    assert finder.search([ENDLESS, BodyTerm(b"a")], lambda: [(1, b"a" * 200_000)]) == [frozenset()] * 2
    assert finder.search([BodyTerm(b"a")], lambda: [(1, b"a")]) == [{1}]


def test_an_interrupt_that_broke_off_nothing_can_be_forgotten(finder: BodyFinder):
    finder.interrupt()
    finder.rearm()
    assert finder.search([BodyTerm(b"a")], lambda: [(1, b"a")]) == [{1}]


def test_a_search_for_an_expression_is_broken_off_from_another_thread():
    found: list[object] = []
    with closing(BodyFinder(no_part)) as finder:
        bodies = [(1, b"ab1c@"), (2, b"a" * 200_000)]
        thread = threading.Thread(target=lambda: found.append(finder.search([EASY, ENDLESS], lambda: bodies)))
        thread.start()
        wait_until(lambda: finder._regexes.pid)
        finder.interrupt()
        thread.join(1)
        assert not thread.is_alive() and len(found) == 1


def test_the_problem_belongs_to_the_last_search(finder: BodyFinder):
    finder.search([ENDLESS], lambda: [(1, b"a" * 200_000)])
    assert finder.problem == "not searched, the regular expression takes too long: entry 1"
    finder.search([BodyTerm(b"a")], lambda: [(1, b"a")])
    assert not finder.problem


def test_of_a_large_body_that_takes_too_long_no_further_part_is_searched():
    read: list[int] = []

    def part(seq: int, start: int, length: int) -> bytes:
        read.append(start)
        return b"a" * length

    with closing(BodyFinder(part, lambda stop: RegexProcess(stop, body_seconds=0.2))) as finder:
        assert finder.search([ENDLESS], lambda: [(1, 3 * LARGE)]) == [frozenset()]
        assert finder.problem
