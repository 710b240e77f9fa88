"""Past calls, compared with rules."""

import pytest

from tui.core.permission.rules import PastCall, RuleCheck, Rules, Verdict
from tui.core.ports import DecisionKind, DecisionRecord


def decided(by: str, *, asked: bool = False) -> DecisionRecord:
    return DecisionRecord(DecisionKind.CALL, "files", "read", True, by, "model", asked=asked)


ASKED, BY_RULE, BY_DEFAULT = decided("key (once)", asked=True), decided("rule allow */*"), decided("default")


def checked(rules: list[str], *calls: PastCall) -> RuleCheck:
    check = RuleCheck(Rules.parsed(rules))
    for call in calls:
        check.add(call)
    return check


@pytest.mark.parametrize(
    ("rule", "record", "change"),
    [
        ("deny", None, "ran → deny files/*"),
        ("deny", ASKED, "ran after approval → deny files/*"),
        ("ask", ASKED, ""),
        ("ask", None, "ran → ask files/*"),
        ("ask", BY_RULE, "ran by rule allow */* → ask files/*"),
        ("allow", ASKED, "ran after approval → allow files/*"),
        ("allow", BY_DEFAULT, ""),
        ("allow", None, ""),
        ("", BY_RULE, "ran by rule allow */* → no rule"),
        ("", BY_DEFAULT, ""),
    ],
)
def test_a_past_call_is_reported_if_the_rules_would_decide_differently(
    rule: str, record: DecisionRecord | None, change: str
):
    check = checked([f"{rule} files/*"] if rule else [], PastCall("files", "read", {}, 1.0, decided=record))
    assert [f"{call.before} → {after}" for call, after in check.changes] == ([change] if change else [])


def test_verdicts_are_counted_without_unreadable_calls():
    calls = [PastCall("files", "read", {"path": path}, 1.0) for path in ("/etc/a", "/b", "/c")]
    check = checked(
        ["ask files/* path=/etc/*", "allow files/* path=/b"], *calls, PastCall("x", "y", None, 1.0)
    )
    assert check.verdicts == {Verdict.ASK: 1, Verdict.ALLOW: 1, None: 1}
    assert (check.calls, check.unreadable) == (3, 1)


def test_rules_that_match_nothing_or_are_overridden_are_named():
    check = checked(
        ["allow files/read", "deny files/*", "ask notes/*"], PastCall("files", "read", {"path": "/a"}, 1.0)
    )
    assert [str(rule) for rule in check.unmatched] == ["ask notes/*"]
    assert [str(rule) for rule in check.overridden] == ["allow files/read"]


def test_a_duplicate_rule_is_overridden():
    check = checked(["deny a/*", "deny a/*"], PastCall("a", "b", {}, 1.0))
    assert [rule.number for rule in check.overridden] == [2]


def test_a_past_call_by_hand_is_described_as_such():
    assert PastCall("a", "b", {}, 1.0, by_model=False).before == "ran, called by hand"
