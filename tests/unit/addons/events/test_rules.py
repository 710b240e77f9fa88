from dataclasses import replace

from tests.cases import each_case
from tui.addons.events.rules import DAY, HOUR, ActedTurn, ActingState, EventRule, acting_entry, read_acting

RULE = EventRule("github/push", "Anything odd?", turns_per_hour=2, turns_per_day=3)


def acted(*times, cost=None):
    return ActingState([RULE.digest], [ActedTurn(RULE.digest, at, "t", 1, "answered", cost) for at in times])


@each_case(
    ("on", "matches"),
    [("github/push", True), ("github/*", True), ("*/push", True), ("github/pull", False), ("github", False)],
)
def test_a_rule_names_server_and_event(on, matches):
    assert replace(RULE, on=on).matches("github", "push") is matches


@each_case(
    "change",
    [
        {"on": "*"},
        {"prompt": "x"},
        {"profile": "y"},
        {"turns_per_hour": 3},
        {"turns_per_day": 9},
        {"cost_per_day": 1},
    ],
)
def test_a_changed_rule_is_not_confirmed(change):
    state = ActingState()
    state.confirm(RULE)
    assert RULE.digest in state.confirmed
    assert replace(RULE, **change).digest not in state.confirmed


def test_a_confirmation_can_be_withdrawn():
    state = ActingState()
    state.confirm(RULE)
    state.withdraw(RULE)
    assert state.confirmed == []


def test_turns_are_limited_per_hour_and_day():
    assert acted(0, 0).why_not_now(RULE, HOUR - 1) == "limit per hour reached"
    assert acted(0, 0).why_not_now(RULE, HOUR + 1) == ""
    assert acted(0, 0, HOUR).why_not_now(RULE, 3 * HOUR) == "limit per day reached"
    assert acted(0, 0, HOUR).why_not_now(RULE, DAY + 1) == ""


def test_the_cost_is_limited_per_day():
    rule = replace(RULE, cost_per_day=1.0)
    state = ActingState([], [ActedTurn(rule.digest, 0, "t", 1, "answered", 0.75)])
    assert state.cost_left(rule, HOUR * 2) == 0.25 and state.why_not_now(rule, HOUR * 2) == ""
    state.add(ActedTurn(rule.digest, 1, "t", 1, "answered", 0.25))
    assert state.why_not_now(rule, HOUR * 2) == "cost limit reached"


def test_turns_of_another_rule_do_not_count():
    assert acted(0, 0).why_not_now(replace(RULE, prompt="other"), 1) == ""


def test_the_state_is_read_as_it_was_written():
    state = acted(1.0, cost=0.5)
    assert read_acting(acting_entry(state)) == state
    assert read_acting({"confirmed": [7], "turns": [None, {"at": "x"}]}) == ActingState()


def test_a_rule_says_everything_that_it_is_confirmed_for():
    said = dict(replace(RULE, profile="small", cost_per_day=2.5).facts())
    assert said == {
        "on": "github/push",
        "question": "Anything odd?",
        "model": "small",
        "limits": "2 turns an hour, 3 a day",
        "cost": "at most 2.5 a day",
    }


def test_all_turns_of_a_day_are_remembered_for_the_limits():
    rule, state = replace(RULE, turns_per_hour=1_000, turns_per_day=1_000), ActingState()
    for number in range(1_000):
        state.add(ActedTurn(rule.digest, number, "t", 1))
    assert read_acting(acting_entry(state)).why_not_now(rule, HOUR * 2) == "limit per day reached"
    state.add(ActedTurn(rule.digest, 3 * DAY, "t", 1))
    assert len(state.turns) == 101
