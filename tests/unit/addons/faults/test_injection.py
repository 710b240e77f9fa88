"""Which messages of a connection have a fault, and what is made of them."""

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.addons.faults.broken_messages import changed, garbage, without
from tui.addons.faults.injection import Injection
from tui.addons.faults.rules import parse_rules
from tui.core.traffic import Direction

OUT, IN = Direction.OUT, Direction.IN
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "array"}},
    "required": ["city"],
}
TOOLS = [{"name": "a", "outputSchema": SCHEMA}, {"name": "b"}, {"name": "c"}]


def line(**message: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode()


def call(ident: int, tool: str = "a") -> bytes:
    return line(id=ident, method="tools/call", params={"name": tool})


def answer(ident: int, **result: Any) -> bytes:
    return line(id=ident, result=result or {"content": []})


def faults(injection: Injection, direction: Direction, raw: bytes, exchange: int = 0) -> list[str]:
    return [hit.rule.said for hit in injection.decide("s", direction, raw, exchange).hits]


def injection(*rules: str) -> Injection:
    return Injection(parse_rules(rules))


@given(order=st.permutations(range(20)), seed=st.integers(0, 1000))
def test_faults_are_the_same_in_whatever_order_a_server_answers(order: list[int], seed: int):
    made = injection(f"tool:a lose=answer 1/3 seed={seed}")
    for ident in range(20):
        assert not faults(made, OUT, call(ident))
    lost = {ident for ident in order if faults(made, IN, answer(ident))}
    (rule,) = parse_rules([f"tool:a lose=answer 1/3 seed={seed}"])
    assert lost == {ident for ident in range(20) if rule.hits(ident + 1)}


def test_only_what_matches_is_counted():
    made = injection("tool:b repeat")
    faults(made, OUT, call(1, "a"))
    faults(made, OUT, call(2, "b"))
    assert not faults(made, IN, answer(1))
    assert faults(made, IN, answer(2)) == ["repeat"]
    assert not faults(made, IN, b"not a message")


def test_a_filter_of_one_message_is_judged_when_that_comes():
    made = injection("status:error delay=1s", "dir:out method:tools/call cut=5")
    assert faults(made, OUT, call(1)) == ["cut=5"]
    assert faults(made, IN, line(id=1, error={"code": 1, "message": ""})) == ["delay=1s"]
    faults(made, OUT, call(2))
    assert not faults(made, IN, answer(2))


def test_a_request_is_hit_only_on_its_way_to_the_server():
    made = injection("error=-32603")
    assert faults(made, OUT, call(1)) == ["error=-32603"]
    assert not faults(made, IN, answer(1))
    assert not faults(made, IN, line(id=9, method="sampling/createMessage", params={}))


@pytest.mark.parametrize(
    ("rule", "hit"),
    [
        ("kind:request delay=1s", [True, True, False]),
        ("kind:request dir:in delay=1s", [False, True, False]),
        ("!kind:notification delay=1s", [False, True, True]),
        ("kind:request error=-32603", [True, False, False]),
    ],
)
def test_a_filter_that_no_response_matches_is_for_both_directions(rule: str, hit: list[bool]):
    made = injection(rule)
    messages = [(OUT, call(1)), (IN, line(id=1, method="ping")), (IN, answer(1))]
    assert [bool(faults(made, *message)) for message in messages] == hit


def test_over_http_the_same_id_may_be_used_twice_at_once():
    made = injection("tool:a lose=answer")
    faults(made, OUT, call(1, "a"), 1)
    faults(made, OUT, call(1, "b"), 2)
    assert faults(made, IN, answer(1), 1)
    assert not faults(made, IN, answer(1), 2)


@pytest.mark.parametrize(("rule", "gone"), [("tool:b vanish", {"b"}), ("tool:b,c vanish", {"b", "c"})])
def test_a_tool_vanishes_from_the_list(rule: str, gone: set[str]):
    made = injection(rule)
    faults(made, OUT, line(id=1, method="tools/list"))
    (hit,) = made.decide("s", IN, answer(1, tools=TOOLS)).hits
    left = json.loads(without(answer(1, tools=TOOLS), "tools/list", hit.gone))["result"]["tools"]
    assert {tool["name"] for tool in left} == {"a", "b", "c"} - gone


def test_without_a_name_one_tool_vanishes():
    made = injection("vanish seed=5")
    faults(made, OUT, line(id=1, method="tools/list"))
    (hit,) = made.decide("s", IN, answer(1, tools=TOOLS)).hits
    assert len(hit.gone) == 1


@pytest.mark.parametrize("value", [{"city": "x"}, {"days": [], "city": "x"}])
def test_a_result_violates_the_schema_of_its_tool(value: dict[str, Any]):
    made = injection("tool:a invalid-result")
    faults(made, OUT, line(id=1, method="tools/list"))
    faults(made, IN, answer(1, tools=TOOLS))
    faults(made, OUT, call(2))
    raw = answer(2, content=[], structuredContent=value)
    decided = made.decide("s", IN, raw)
    (hit,) = decided.hits
    got = json.loads(changed(raw, hit.rule, hit.match, decided.schema))["result"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(got["structuredContent"], SCHEMA)


@pytest.mark.parametrize("result", [{"content": [{"type": "text", "text": "x"}]}, {"tools": []}])
def test_a_message_is_made_as_large_as_asked_for_and_stays_valid(result: dict[str, Any]):
    (rule,) = parse_rules(["big=20k"])
    got = changed(answer(1, **result), rule, 1, None)
    assert abs(len(got) - 20_000) < 100
    assert json.loads(got)["id"] == 1


@given(st.integers(1, 10_000), st.integers(0, 1000))
def test_garbage_is_one_line_and_no_message(length: int, match: int):
    (rule,) = parse_rules(["garbage"])
    got = garbage(length, rule, match)
    assert b"\n" not in got
    with pytest.raises(ValueError):
        json.loads(got)
