"""Fault rules: what can be written, and which matches they hit."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import each_case
from tui.addons.faults.rules import FAULTS, PRESETS, Amount, examples, parse_rules

SECOND = 1_000_000_000


def test_a_rule_has_filter_fault_rate_and_seed():
    (rule,) = parse_rules(["method:tools/call tool:create_* lose=answer 1/3 seed=7"])
    assert (rule.said, rule.rate, rule.seed) == ("lose=answer", (1, 3), 7)
    assert rule.fields == {"method", "tool"}


@each_case(
    ("text", "amount", "spread"),
    [
        ("delay=2s±0.5", 2 * SECOND, SECOND // 2),
        ("delay=2s+-0.5", 2 * SECOND, SECOND // 2),
        ("delay=300ms", 300_000_000, 0),
        ("error=-32603", -32603, 0),
        ("status=503", 503, 0),
        ("cut=100", 100, 0),
        ("slow=200B/s", 200, 0),
        ("big=5MB", 5_000_000, 0),
    ],
)
def test_amounts(text: str, amount: int, spread: int):
    (rule,) = parse_rules([text])
    assert (rule.amount, rule.spread) == (amount, spread)


@each_case(
    ("text", "why"),
    [
        ("tool:x", "has no fault"),
        ("delay=2s repeat", "several faults"),
        ("delay=2", "delay= takes a time, such as 2s or 2s±0.5, not “2”"),
        ("delay=2s±3s", "delay=2s±3s may be negative. Its spread is at most 2s."),
        ("delay=2s+-3", "may be negative"),
        ("tool:x dir:out lose=answer", "never matches: lose=answer happens to responses of the server"),
        ("method:tools/call dir:out big=1kB", "never matches"),
        ("delay", "delay= takes a time, such as 2s or 2s±0.5."),
        ("status=200", "status= takes a status from 400 to 599, such as 503, not “200”"),
        ("tool:x flakey 1/2", "has no fault. Did you mean flaky?"),
        ("lose=hope", "lose= takes answer, request or connection"),
        ("repeat=3", "repeat takes no value"),
        ("repaet=3", "Did you mean repeat=?"),
        ("repeat 0/3", "is not a rate"),
        ("repeat seed=x", "seed= takes an integer"),
        ("toool:x repeat", "Unknown field"),
        ("latency:>1s repeat", "is not known yet"),
        ("big=5GB", "big= takes"),
        ("", "has no fault"),
        ("repeat 1/3 1/2", "has several rates"),
        ("flaky seed=1 seed=2", "has several seeds"),
        ("kind:request lose=answer", "never matches: lose=answer happens to responses of the server"),
        ("status:error error=-32603", "never matches: error=-32603 happens to requests to the server"),
        ("tool:x -kind:response,error lose=answer", "never matches"),
    ],
)
def test_a_bad_rule_says_what_is_wrong(text: str, why: str):
    with pytest.raises(ValueError, match=why.replace("?", r"\?")):
        parse_rules([text])


@each_case(
    "text",
    [
        "kind:response lose=answer",
        "status:error garbage",
        "dir:out kind:response cut=10",
        "-kind:request repeat",
        "kind:request (tool:a OR tool:b) error=-32000",
        "kind:notification lose=request",
        "dir:out lose=answer",
        "dir:out method:sampling/* lose=answer",
        "dir:out -tool:x lose=answer",
    ],
)
def test_a_rule_whose_filter_can_match_is_accepted(text: str):
    assert parse_rules([text])


def test_a_fault_of_http_is_refused_over_stdio():
    assert parse_rules(["status=503", "expired-token"], transport="http")
    with pytest.raises(ValueError, match="status=503 needs HTTP"):
        parse_rules(["status=503"], transport="stdio")


def test_other_transports_have_no_faults():
    with pytest.raises(ValueError, match="not websocket"):
        parse_rules(["repeat"], transport="websocket")


@each_case("preset", PRESETS)
def test_a_preset_is_of_calls_unless_it_has_a_filter(preset: str):
    assert all(rule.fields == {"method"} for rule in parse_rules([preset]))
    scoped = parse_rules([f"tool:x {preset} 1/2 seed=3"])
    assert {(*rule.fields, rule.rate, rule.seed) for rule in scoped} == {("tool", (1, 2), 3)}


def test_every_example_is_a_rule():
    assert {*FAULTS, *PRESETS} <= {example.partition("=")[0] for example in examples()}
    assert all(parse_rules([example]) for example in examples())


EXAMPLES = {
    Amount.NONE: "",
    Amount.TIME: "=1s±200ms",
    Amount.SIZE: "=10",
    Amount.RATE: "=1kB/s",
    Amount.CODE: "=-32000",
    Amount.STATUS: "=404",
    Amount.WORD: "=request",
}


@given(
    name=st.sampled_from(sorted(FAULTS)),
    seed=st.integers(0, 1 << 60),
    rate=st.tuples(st.integers(1, 50), st.integers(50, 100)),
    match=st.integers(1, 1 << 30),
)
def test_the_same_seed_gives_the_same_faults(name: str, seed: int, rate: tuple[int, int], match: int):
    text = f"tool:a {name}{EXAMPLES[FAULTS[name].amount]} {rate[0]}/{rate[1]} seed={seed}"
    (one,), (other,) = parse_rules([text]), parse_rules([text])
    assert one.hits(match) == other.hits(match)
    assert one.delay_ns(match) == other.delay_ns(match)
    if one.amount and name == "delay":
        assert SECOND * 0.8 <= one.delay_ns(match) <= SECOND * 1.2


@given(seed=st.integers(0, 1 << 60), rate=st.sampled_from([(1, 3), (1, 10), (9, 10), (1, 1)]))
def test_the_rate_is_about_what_is_asked_for(seed: int, rate: tuple[int, int]):
    (rule,) = parse_rules([f"repeat {rate[0]}/{rate[1]} seed={seed}"])
    hits = sum(rule.hits(match) for match in range(1, 401))
    assert abs(hits - 400 * rate[0] / rate[1]) < 70


@settings(max_examples=30)
@given(st.text(max_size=40))
def test_any_text_is_a_rule_or_an_error(text: str):
    try:
        assert parse_rules([text])
    except ValueError as error:
        assert str(error)
