"""Faults on their way: what is passed on, when, and what is recorded of it."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from tests.conftest import until
from tests.unit.addons.faults.test_injection import answer, call
from tui.addons.faults.fault_stage import FaultStage, LiveFaults, stages
from tui.addons.faults.rules import parse_rules
from tui.core.traffic import Direction

OUT, IN = Direction.OUT, Direction.IN


class End:
    source = "s"

    def __init__(self, exchange: int = 0) -> None:
        self.exchange = exchange
        self.passed: list[tuple[Direction, bytes]] = []
        self.events: list[dict[str, Any]] = []
        self.refused = 0
        self.is_lost = False

    def __call__(self, direction: Direction, raw: bytes, /) -> None:
        self.passed.append((direction, raw))

    def event(self, word: str, **what: Any) -> None:
        assert word in ("fault", "undelivered")
        self.events.append({"word": word, **what})

    def lose(self) -> None:
        self.is_lost = True

    def hears(self, direction: Direction) -> bool:
        return True

    def refuse(self, status: int, headers: Mapping[str, str]) -> None:
        self.refused = status


def through(end: End, *rules: str, calls: int = 1) -> FaultStage:
    """Send calls to a server that answers each, and return the stage."""
    stage = FaultStage(parse_rules(rules))
    for ident in range(1, calls + 1):
        stage.take(OUT, call(ident), end)
        stage.take(IN, answer(ident), end)
    return stage


def told(end: End) -> list[bytes]:
    return [raw for direction, raw in end.passed if direction is IN]


async def test_what_no_rule_matches_passes_at_once_and_unchanged():
    end = End()
    through(end, "tool:other garbage", calls=2)
    assert end.passed == [(OUT, call(1)), (IN, answer(1)), (OUT, call(2)), (IN, answer(2))]
    assert not end.events


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("lose=answer", []),
        ("repeat", [answer(1), answer(1)]),
        ("cut=9", [answer(1)[:9]]),
    ],
)
async def test_an_answer_is_lost_repeated_or_cut(rule: str, expected: list[bytes]):
    end = End()
    assert through(end, rule).injected == 1
    assert told(end) == expected
    assert [(one["fault"], one["id"], one["dir"]) for one in end.events] == [(rule, 1, "in")]
    assert end.events[0].get("sent") == (answer(1)[:9].decode() if rule == "cut=9" else None)


async def test_a_request_that_is_answered_with_an_error_is_not_sent():
    end = End()
    FaultStage(parse_rules(["error=-32000"])).take(OUT, call(7), end)
    ((direction, raw),) = end.passed
    assert (direction, json.loads(raw)["error"]["code"], json.loads(raw)["id"]) == (IN, -32000, 7)
    assert end.events[0]["was"] == json.loads(call(7))


async def test_a_request_is_refused_over_http_only():
    end = End()
    stage = FaultStage(parse_rules(["tool:a status=503", "tool:b expire"]))
    stage.take(OUT, call(1, "a"), end)
    assert end.passed.pop() == (OUT, call(1, "a"))
    end.exchange = 1
    stage.take(OUT, call(1, "a"), end)
    assert (end.refused, end.passed) == (503, [])
    stage.take(OUT, call(2, "b"), end)
    assert (end.refused, end.passed) == (401, [])


async def test_the_connection_is_broken_off_when_the_answer_comes():
    end = End()
    through(end, "lose=connection")
    assert end.is_lost
    assert end.passed == [(OUT, call(1))]


async def test_a_delayed_answer_is_overtaken():
    end = End()
    stage = through(end, "id:1 delay=20ms", calls=2)
    assert told(end) == [answer(2)]
    await until(lambda: told(end) == [answer(2), answer(1)])
    assert end.events[0]["seconds"] == 0.02
    assert stage.injected == 1


async def test_an_answer_comes_after_the_next_one():
    end = End()
    through(end, "id:1 reorder", calls=3)
    assert told(end) == [answer(2), answer(1), answer(3)]


async def test_a_slow_connection_delays_what_follows_too():
    end = End()
    through(end, "id:1 slow=2kB/s", calls=2)
    assert told(end) == []
    await until(lambda: told(end) == [answer(1), answer(2)])


async def test_what_waits_is_passed_on_at_the_end_in_order():
    end = End()
    stage = through(end, "id:1 delay=60s", "id:2 delay=50s", "id:3 reorder", "id:3 delay=55s", calls=3)
    assert not told(end)
    stage.release(OUT)
    assert not told(end)
    stage.release(IN)
    assert told(end) == [answer(2), answer(3), answer(1)]


async def test_stray_output_comes_before_the_answer():
    end = End()
    through(end, "stray-output")
    stray, said = told(end)
    assert said == answer(1)
    with pytest.raises(ValueError):
        json.loads(stray)


async def test_stages_refuse_rules_that_do_not_fit_the_transport():
    with pytest.raises(ValueError, match="needs HTTP"):
        stages(["status=503"], transport="stdio")


async def test_the_faults_of_a_run_change_for_all_its_connections():
    live, end = LiveFaults(), End()
    before = live.stage()
    live.set("tool:a repeat ; tool:b lose=answer")
    after = live.stage()
    assert [len(stage.rules) for stage in (before, after)] == [2, 2]
    live.set("id:1 delay=60s")
    after.take(OUT, call(1), end)
    after.take(IN, answer(1), end)
    live.set("")
    assert (before.is_idle, after.is_idle) == (True, False)  # one still waits
    after.release(IN)
    assert (told(end), after.is_idle) == ([answer(1)], True)


@pytest.mark.parametrize("exchange", [0, 1])
async def test_over_http_the_request_itself_is_first_because_its_response_is_that_of_the_client(
    exchange: int,
) -> None:
    end = End(exchange)
    through(end, "dir:out method:tools/call stray-output")
    assert (next(raw for way, raw in end.passed if way is OUT) == call(1)) is bool(exchange)


async def test_after_the_connection_broke_nothing_is_injected_and_nothing_arrives():
    end = End()
    stage = through(
        end, "method:tools/call delay=1h", "method:tools/call lose=connection 1/2 seed=1", calls=20
    )
    first = next(at for at, one in enumerate(end.events) if one["fault"] == "lose=connection")
    assert end.is_lost
    assert {one["word"] for one in end.events[first + 1 :]} == {"undelivered"}
    assert len(told(end)) == end.events[first]["id"] - 1  # what was delayed came before
    assert stage.injected == first + 1


async def test_over_http_only_the_connection_of_its_request_is_lost():
    end = End(exchange=1)
    through(end, "lose=connection", calls=2)
    assert [one["word"] for one in end.events] == ["fault", "fault"]


async def test_the_client_s_answers_can_be_lost():
    end, asked = End(), b'{"jsonrpc":"2.0","id":5,"method":"sampling/createMessage"}'
    stage = FaultStage(parse_rules(["dir:out lose=answer"]))
    stage.take(IN, asked, end)
    stage.take(OUT, answer(5), end)
    assert end.passed == [(IN, asked)]
