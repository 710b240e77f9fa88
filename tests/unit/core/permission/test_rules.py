"""The grammar of rules, and which rule decides a call."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tui.core.permission.rules import (
    MAX_RULE,
    Condition,
    PastCall,
    Rule,
    RuleCheck,
    RuleError,
    Rules,
    Verdict,
    parse_rule,
)
from tui.core.ports import DecisionKind, DecisionRecord
from tui.core.tools import Tool

NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="/"), min_size=1, max_size=12)
PARTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="."), min_size=1, max_size=8)
PATTERNS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
CONDITIONS = st.builds(Condition, st.lists(PARTS, min_size=1, max_size=3).map(".".join), PATTERNS)
RULES = st.builds(Rule, st.sampled_from(Verdict), NAMES, NAMES, st.lists(CONDITIONS, max_size=3).map(tuple))
SMALL = st.builds(
    Rule,
    st.sampled_from(Verdict),
    st.sampled_from(["*", "a", "b"]),
    st.sampled_from(["*", "x", "y*"]),
    st.lists(st.builds(Condition, st.sampled_from(["p", "*"]), st.sampled_from(["*", "1"])), max_size=1).map(
        tuple
    ),
)
CALLS = st.tuples(
    st.sampled_from(["a", "b"]),
    st.sampled_from(["x", "yes"]),
    st.dictionaries(st.sampled_from(["p", "q"]), st.sampled_from(["1", "2"])),
)


def test_a_rule_consists_of_an_action_a_tool_and_conditions():
    assert parse_rule("ask files/* path=/etc/* mode=w") == Rule(
        Verdict.ASK, "files", "*", (Condition("path", "/etc/*"), Condition("mode", "w"))
    )


@each_case(
    ("text", "problem"),
    [
        ("", "must start with allow, ask or deny"),
        ("notes/*", "must start with allow, ask or deny"),
        ("forbid notes/*", "must start with allow, ask or deny"),
        ("allow", "must be a pattern of server/tool"),
        ("allow notes", "must be a pattern of server/tool"),
        ("allow /x", "must be a pattern of server/tool"),
        ("allow notes/", "must be a pattern of server/tool"),
        ("allow my server/x", "must be a pattern of server/tool"),
        ("allow notes/* path", "`path` must be ARGUMENT=PATTERN"),
        ("allow notes/* =x", "`=x` must be ARGUMENT=PATTERN"),
        ("allow notes/* a..b=x", "`a..b` is not the path of an argument"),
        ('allow notes/* path="x', "without its closing"),
        ("allow notes/" + "x" * MAX_RULE, f"at most {MAX_RULE} characters"),
    ],
)
def test_an_invalid_rule_is_rejected_with_the_expected_syntax(text: str, problem: str):
    with pytest.raises(RuleError, match=re.escape(problem)):
        parse_rule(text)
    with pytest.raises(RuleError, match="says deny, but is in the list `allow`"):
        parse_rule("deny notes/*", Verdict.ALLOW)


def test_quotes_keep_spaces_and_equals_signs():
    rule = parse_rule(r'deny "my server"/send text="a \"b\" = c" "x=y"=1 dir=C:\new "d"="C:\\n"')
    assert (rule.server, rule.tool) == ("my server", "send")
    assert [(one.argument, one.pattern) for one in rule.conditions] == [
        ("text", 'a "b" = c'),
        ("x=y", "1"),
        ("dir", r"C:\new"),
        ("d", r"C:\n"),
    ]


@given(RULES)
def test_a_rule_survives_a_round_trip(rule: Rule):
    assert parse_rule(str(rule)) == rule
    assert parse_rule(rule.pattern, rule.action) == rule


@given(st.text(max_size=60))
def test_any_text_is_a_rule_or_an_error(text: str):
    try:
        rule = parse_rule(text)
    except RuleError as error:
        assert str(error)
    else:
        assert parse_rule(str(rule)) == rule


def test_deny_overrides_ask_and_ask_overrides_allow_however_specific():
    texts = ["allow files/read path=/srv/a", "ask files/* path=/srv/*", "deny */read path=/srv/a"]
    rules = Rules.parsed(texts)
    assert str(rules.deciding("files", "read", {"path": "/srv/a"})) == "deny */read path=/srv/a"
    assert str(rules.deciding("files", "read", {"path": "/srv/b"})) == "ask files/* path=/srv/*"
    assert rules.deciding("files", "read", {"path": "/b"}) is None


@given(st.lists(SMALL, max_size=6), SMALL, CALLS)
def test_adding_a_deny_or_ask_rule_never_makes_the_verdict_less_strict(found, new, call):
    strictness = {None: 1, Verdict.ALLOW: 0, Verdict.ASK: 2, Verdict.DENY: 3}

    def of(rules):
        decides = Rules(tuple(rules)).deciding(*call)
        return strictness[decides.action if decides else None]

    if new.action is Verdict.ALLOW:
        assert of([*found, new]) >= 2 if of(found) >= 2 else True
    else:
        assert of([*found, new]) >= of(found)


@given(st.lists(SMALL, max_size=6), CALLS)
def test_the_order_of_rules_does_not_change_the_verdict(found, call):
    first, second = (Rules(tuple(rules)).deciding(*call) for rules in (found, found[::-1]))
    assert (first and first.action) == (second and second.action)


def test_a_tool_is_offered_unless_a_rule_without_conditions_denies_it():
    tools = [Tool("notes", "add"), Tool("notes", "delete_all"), Tool("files", "write")]
    rules = Rules.parsed(["deny */delete_*", "deny files/write path=/etc/*", "allow notes/delete_all"])
    assert [tool.name for tool in rules.offered(tools)] == ["add", "write"]
    assert str(rules.denying(tools[1])) == "deny */delete_*"
    assert Rules().offered(tools) is tools


def test_a_tool_with_a_slash_in_its_name_does_not_evade_a_deny_rule():
    rules = Rules.parsed(deny=["*/delete_*"], allow=["*/get_*"])
    assert rules.deciding("notes", "old/delete_all", {}) is not None
    assert rules.deciding("notes", "old/get_all", {}) is None


def test_each_configured_rule_knows_the_list_that_it_comes_from():
    rules = Rules.parsed(["allow a/*"], allow=["b/*"], ask=["c/*"], deny=["d/*"]).rules
    assert [(str(rule), rule.origin) for rule in rules] == [
        ("allow a/*", "rules"),
        ("deny d/*", "deny"),
        ("ask c/*", "ask"),
        ("allow b/*", "allow"),
    ]


def decided(by: str, *, asked: bool = False) -> DecisionRecord:
    return DecisionRecord(DecisionKind.CALL, "files", "read", True, by, "model", asked=asked)


ASKED, BY_RULE, BY_DEFAULT = decided("key (once)", asked=True), decided("rule allow */*"), decided("default")


def checked(rules: list[str], *calls: PastCall) -> RuleCheck:
    check = RuleCheck(Rules.parsed(rules))
    for call in calls:
        check.add(call)
    return check


@each_case(
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
    assert PastCall("a", "b", {}, 1.0, by_model=False).before == "ran, called by hand"


def test_verdicts_are_counted_without_unreadable_calls():
    calls = [PastCall("files", "read", {"path": path}, 1.0) for path in ("/etc/a", "/b", "/c")]
    calls.append(PastCall("x", "y", None, 1.0))
    check = checked(["ask files/* path=/etc/*", "allow files/* path=/b"], *calls)
    assert check.verdicts == {Verdict.ASK: 1, Verdict.ALLOW: 1, None: 1}
    assert (check.calls, check.unreadable) == (3, 1)


def test_rules_that_match_nothing_or_are_overridden_are_named():
    check = checked(
        ["allow files/read", "deny files/*", "ask notes/*"], PastCall("files", "read", {"path": "/a"}, 1.0)
    )
    assert [str(rule) for rule in check.unmatched] == ["ask notes/*"]
    assert [str(rule) for rule in check.overridden] == ["allow files/read"]
    check = checked(["deny a/*", "deny a/*"], PastCall("a", "b", {}, 1.0))
    assert [rule.number for rule in check.overridden] == [2]
