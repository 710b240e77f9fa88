"""Stages between a session and its server, and the lines that pass them."""

from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tui.core.traffic import Direction
from tui.host.frames.stage import Lines, PassOn, enter, release

OUT, IN = Direction.OUT, Direction.IN


class End:
    source, exchange = "s", 3

    def __init__(self) -> None:
        self.passed: list[tuple[Direction, bytes]] = []

    def __call__(self, direction: Direction, raw: bytes, /) -> None:
        self.passed.append((direction, raw))

    def event(self, word: str, **what: Any) -> None: ...

    def lose(self) -> None: ...

    def hears(self, direction: Direction) -> bool:
        return True

    def refuse(self, status: int, headers: Mapping[str, str]) -> None: ...


class Named:
    """Adds its name to a message; `answers` sends it back instead; `holds` keeps it."""

    def __init__(self, name: bytes, *, answers: bool = False, holds: bool = False) -> None:
        self._name, self._answers, self._holds = name, answers, holds
        self._held: list[tuple[Direction, bytes, PassOn]] = []

    def take(self, direction: Direction, raw: bytes, pass_on: PassOn) -> None:
        assert (pass_on.source, pass_on.exchange) == ("s", 3)
        if self._holds:
            self._held.append((direction, raw, pass_on))
        elif self._answers and direction is OUT:
            pass_on(IN, raw + self._name)
        else:
            pass_on(direction, raw + self._name)

    def release(self, direction: Direction) -> None:
        for held in [one for one in self._held if one[0] is direction]:
            self._held.remove(held)
            held[2](direction, held[1] + self._name)


def passed(stages: Sequence[Named], *entered: tuple[Direction, bytes]) -> list[tuple[Direction, bytes]]:
    end = End()
    for direction, raw in entered:
        enter(stages, end, direction, raw)
    return end.passed


def test_messages_pass_the_stages_in_order_and_come_back_in_the_other():
    stages = [Named(b"1"), Named(b"2")]
    assert passed(stages, (OUT, b"a"), (IN, b"b")) == [(OUT, b"a12"), (IN, b"b21")]


def test_what_a_stage_answers_passes_only_those_before_it():
    stages = [Named(b"1"), Named(b"2", answers=True), Named(b"3")]
    assert passed(stages, (OUT, b"a")) == [(IN, b"a121")]


def test_what_is_released_passes_the_stages_after_it():
    stages, end = [Named(b"1", holds=True), Named(b"2", holds=True), Named(b"3")], End()
    enter(stages, end, OUT, b"a")
    enter(stages, end, IN, b"b")
    release(stages, OUT)
    assert end.passed == [(OUT, b"a123")]
    release(stages, IN)
    assert end.passed[1:] == [(IN, b"b321")]


@given(st.lists(st.binary(max_size=12)), st.integers(0, 20))
def test_lines_give_every_byte_however_it_is_split(chunks: list[bytes], limit: int):
    got = bytearray()
    lines = Lines(lambda raw: got.extend(raw + b"\n"), got.extend, limit)
    for chunk in chunks:
        lines.feed(chunk)
    assert bytes(got) + lines.finish() == b"".join(chunks)


def test_only_lines_within_the_limit_are_taken():
    taken, plain = list[bytes](), list[bytes]()
    lines = Lines(taken.append, plain.append, 4)
    lines.feed(b"one\ntoo long\ntwo\nre")
    lines.feed(b"st")
    assert (taken, b"".join(plain), lines.finish()) == ([b"one", b"two"], b"too long\n", b"rest")
