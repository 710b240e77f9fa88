"""Bodies are searched in the order they come, until somebody says stop."""

from collections.abc import Iterator
from threading import Event

from tui.core.traffic import BodyTerm
from tui.storage.body_search import LARGE, RUN_BYTES, BodySearch


def no_part(seq: int, start: int, length: int) -> bytes:
    raise AssertionError("no body is large")


def test_what_was_found_before_the_stop_is_kept():
    stop = Event()

    def bodies() -> Iterator[tuple[int, bytes]]:
        for seq in range(1, 1000):
            if seq == 500:
                stop.set()
            yield seq, b"term" + b"." * (RUN_BYTES // 100)

    search = BodySearch([BodyTerm(b"TERM")], no_part, stop)
    search.run(bodies())
    (found,) = search.found()
    assert found == set(range(1, len(found) + 1)) and 300 < len(found) <= 500


def test_an_empty_term_is_in_every_body():
    search = BodySearch([BodyTerm(b""), BodyTerm(b"", regex=True)], no_part, Event())
    search.run([(1, b"a"), (2, b"b")])
    assert search.found() == [{1, 2}, {1, 2}]


def test_a_large_body_is_read_in_parts_and_only_as_far_as_nobody_stops():
    read: list[int] = []
    stop = Event()

    def part(seq: int, start: int, length: int) -> bytes:
        read.append(start)
        if len(read) == 2:
            stop.set()
        return b"." * length

    search = BodySearch([BodyTerm(b"x")], part, stop)
    search.run([(1, 9 * LARGE)])
    assert read == [0, LARGE] and search.found() == [frozenset()]
