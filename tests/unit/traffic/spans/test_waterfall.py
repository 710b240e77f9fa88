"""The waterfall: how the time of a turn was spent."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.traffic.traffic_script import Script
from tui.core.comparison.argument_words import argument_words
from tui.core.traffic import Cause, Direction, Entry, Kind, Outcome
from tui.traffic.spans.span_values import CallSpan, CallState, Span, StepSpan, StepState, TurnSpan
from tui.traffic.spans.waterfall import (
    TimeShare,
    Waterfall,
    cells_of_shares,
    of_entries,
    of_spans,
    percents,
)

MS = 1_000_000


def turn(ms: float | None) -> TurnSpan:
    return TurnSpan(1, "demo", 0, ms, traffic=1)


def step(number: int, start: int, ms: float | None, **more: object) -> StepSpan:
    return StepSpan(1, number, start * MS, ms=ms, **more)  # type: ignore[arg-type]


def call(known: str, start: int | None, ms: float | None, **more: object) -> CallSpan:
    state = CallState.RUNNING if ms is None else CallState.DONE
    fields: dict[str, object] = {"state": state, **more}
    started = None if start is None else start * MS
    given = (("city", '"Beijing"'),)
    return CallSpan(1, 1, known, "weather", "get", given, started_ns=started, ms=ms, **fields)  # type: ignore[arg-type]


def made(*spans: Span, now: int = 0) -> Waterfall:
    found = of_spans(spans, 1, now * MS)
    assert found is not None
    return found


def shares(waterfall: Waterfall) -> dict[str, int]:
    return {str(part): round(share * 100) for part, share in waterfall.shares}


WAITED = {"asked_ns": 20 * MS, "answered_ns": 80 * MS}


@pytest.mark.parametrize(
    ("spans", "expected", "critical"),
    [
        ([step(1, 0, 60), call("a", 60, 30), step(2, 90, 10)], {"model": 70, "tools": 30}, [True] * 3),
        (
            [step(1, 0, 20), call("a", 20, 70), call("b", 20, 30), step(2, 90, 10)],
            {"tools": 70, "model": 30},
            [True, False, True, True],
        ),
        (
            [step(1, 0, 20), call("a", 80, 20, **WAITED)],
            {"waiting for you": 60, "model": 20, "tools": 20},
            [True] * 3,
        ),
        ([step(1, 0, 20), step(2, 60, 40)], {"model": 60, "mcptui": 40}, [True] * 2),
    ],
    ids=["one after the other", "the longest of parallel tools", "waiting for the user", "idle time"],
)
def test_the_time_of_a_turn_is_shared_by_what_it_waited_for(
    spans: list[Span], expected: dict[str, int], critical: list[bool]
):
    found = made(turn(100), *spans)
    assert shares(found) == expected
    assert found.words == ", ".join(f"{name} {share} %" for name, share in expected.items())
    assert [bar.critical for bar in found.bars] == critical


def test_an_open_question_lasts_until_now():
    asked = call("a", None, None, state=CallState.ASKING, asked_ns=20 * MS)
    found = made(turn(None), step(1, 0, 20), asked, now=100)
    assert shares(found) == {"waiting for you": 80, "model": 20}
    assert found.bars[-1].running


def test_a_denied_call_has_only_a_bar_for_the_wait():
    denied = call("a", None, 0, state=CallState.DENIED, asked_ns=20 * MS, answered_ns=60 * MS)
    assert [bar.part for bar in made(turn(60), step(1, 0, 20), denied).bars] == [
        TimeShare.MODEL,
        TimeShare.YOU,
    ]


def test_running_bars_end_now():
    found = made(turn(None), step(1, 0, 20), call("a", 20, None), now=50)
    assert (found.ns, found.bars[-1].end_ns, found.bars[-1].running) == (50 * MS, 50 * MS, True)


def test_failed_steps_and_calls_are_marked():
    found = made(turn(30), step(1, 0, 10, state=StepState.FAILED), call("a", 10, 20, state=CallState.FAILED))
    assert [bar.failed for bar in found.bars] == [True, True]


def test_an_unknown_turn_has_no_waterfall_and_one_without_duration_no_shares():
    assert of_spans([turn(1)], 2, 0) is None
    assert of_entries([], 1) is None
    assert made(turn(0)).shares == ()


def test_the_shares_of_a_thousand_calls_add_up():
    found = made(turn(2_000), *(call(str(number), number, 5) for number in range(1_000)))
    assert sum(share for _, share in found.shares) == pytest.approx(1)


def recorded() -> list[Entry]:
    script = Script()
    ask, tool = Cause(3, 1), Cause(3, 1, "c1")
    entries = script.entries
    model = {"exchange": "1"}
    script.raw(Direction.OUT, b'{"model": "demo"}', Kind.MODEL_REQUEST, model, ask)
    script.wait(90)
    script.raw(Direction.IN, b"{}", Kind.MODEL_REPLY, model, ask)
    known = script.out("tools/call", {"name": "get"}, cause=tool)
    script.wait(40)
    script.error(known, -32603)
    script.out("tools/list", cause=Cause(4))
    return entries


def test_the_entries_of_a_recording_have_a_waterfall():
    found = of_entries(recorded(), 3)
    assert found is not None
    assert [(bar.label, bar.failed) for bar in found.bars] == [("demo", False), ("weather › get", True)]
    assert found.ns == 160 * MS


def test_an_unanswered_request_is_running_in_live_traffic_and_failed_in_a_recording():
    entries = recorded()[:3]
    live, old = of_entries(entries, 3, entries[-1].mono_ns + 50 * MS), of_entries(entries, 3)
    assert live is not None and old is not None
    assert (live.bars[-1].running, live.bars[-1].failed) == (True, False)
    assert (old.bars[-1].running, old.bars[-1].failed) == (False, True)
    rejects = entries[-1]._replace(kind=Kind.EVENT, pair=entries[-1].seq, outcome=Outcome.ERROR)
    rejected = of_entries([*entries, rejects._replace(kind=Kind.RESPONSE, outcome=Outcome.OK), rejects], 3)
    assert rejected is not None and rejected.bars[-1].failed


def test_a_turn_is_found_by_its_number_in_the_traffic():
    second = TurnSpan(1, "demo", 0, 600.0, traffic=4)
    found = of_spans([second, step(1, 0, 600.0)], 4, 0)
    assert found is not None and len(found.bars) == 1
    assert of_spans([second, step(1, 0, 600.0)], 1, 0) is None


def test_a_turn_read_from_saved_messages_has_no_waterfall_of_its_own():
    assert of_spans([TurnSpan(1, "demo", 0, traffic=4, past=True)], 4, 0) is None


_SHARES = st.lists(st.floats(0.0001, 1), min_size=1, max_size=4).map(
    lambda all: [one / sum(all) for one in all]
)


@given(_SHARES, st.integers(4, 200))
def test_every_share_has_a_cell_and_all_cells_are_the_width(shares: list[float], width: int):
    cells = cells_of_shares(shares, width)
    assert sum(cells) == width and min(cells) >= 1
    assert all(had <= share * width + len(shares) for had, share in zip(cells, shares, strict=True))


@given(_SHARES)
def test_percents_add_up_to_100_and_none_is_off_by_one(shares: list[float]):
    found = percents(shares)
    assert sum(found) == 100
    assert all(abs(one - share * 100) < 1.001 for one, share in zip(found, shares, strict=True))


def test_the_calls_of_a_bar_are_those_of_its_step():
    found = made(turn(100), step(1, 0, 20), call("a", 20, 30), call("b", 20, 40), step(2, 60, 40))
    first, *_, last = found.bars
    assert [one.call for one in found.calls_of(first)] == ["a", "b"]
    assert found.calls_of(last) == []


def test_the_arguments_of_a_call_are_its_previews() -> None:
    (bar,) = made(turn(100), call("1", 0, 50.0)).bars
    assert argument_words(bar.arguments, []) == '"Beijing"'
