"""Turns begin with a request, and end when nothing happens any more."""

import pytest

from tests.unit.traffic.traffic_script import Script
from tui.addons.telemetry.span import Span
from tui.addons.telemetry.turns import DONE_NS, IDLE_NS, MAX_HELD, Turn, Turns
from tui.core.traffic import Cause, Entry


def request(turn: int = 1) -> Entry:
    script = Script()
    script.out("tools/call", {"name": "echo"}, Cause(turn, 1, "c"))
    return script.entries[0]


def span() -> Span:
    return Span("", "b" * 16, "", "n", 3, 1, 2)


def begun(turns: Turns, entry: Entry) -> Turn:
    turn = turns.begin(entry)
    assert turn is not None
    return turn


def test_spans_wait_until_the_trace_is_known():
    turn = begun(Turns(), request())
    assert turn.end(first := span(), 2) == []
    assert turn.set_trace("a" * 32) == [first] and first.trace == "a" * 32
    assert turn.end(second := span(), 3) == [second] and second.trace == "a" * 32
    assert turn.set_trace("c" * 32) == [] and turn.span.trace == "a" * 32


def test_not_more_than_so_many_wait():
    turn = begun(Turns(), request())
    found = [one for _ in range(MAX_HELD + 1) for one in turn.end(span(), 2)]
    assert len(found) == MAX_HELD + 1 and turn.span.trace


def test_a_turn_is_over_a_while_after_an_answer_and_long_after_anything_else():
    turns, entry = Turns(), request()
    turn = begun(turns, entry)
    assert turns.settle(entry.mono_ns + IDLE_NS + 1) == []
    turn.end(span(), entry.mono_ns)
    assert turns.settle(entry.mono_ns + DONE_NS + 1) == []
    turn.is_answered = True
    ended = turns.settle(entry.mono_ns + DONE_NS + 1)
    assert [one.name for one in ended] == ["n", "invoke_agent mcptui"]


def test_what_comes_after_the_end_of_a_turn_is_below_it():
    turns, entry = Turns(), request()
    begun(turns, entry)
    (root,) = turns.finish()
    late = begun(turns, entry)
    assert late.span is root
    assert late.end(span(), 2)[0].trace == root.trace
    assert turns.finish() == []


def test_the_oldest_of_too_many_turns_ends(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tui.addons.telemetry.turns.MAX_TURNS", 3)
    turns = Turns()
    found = []
    for number in range(5):
        turns.begin(request(number + 1))
        found += turns.bounded()
    assert [one.attributes["mcptui.turn"] for one in found] == [1, 2]


def test_what_belongs_to_no_turn_begins_none():
    assert Turns().begin(request(0)) is None
