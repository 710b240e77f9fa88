"""Calls while skills are loaded: which ask, whatever allows them, and with which reason."""

import pytest

from tests.unit.core.stand_ins import policy_of
from tui.core.context.skill_texts import SkillMark
from tui.core.permission.approval_policy import Mode, Verdict
from tui.core.permission.rules import Rules
from tui.core.tools import Tool

LOADED = (SkillMark("docs", "forms", "skill://forms/SKILL.md", "dynamic"),)
WRITE = Tool("notes", "add", digest="w1", trusted=True)


def test_a_rule_that_allows_is_not_what_asks():
    judgement = policy_of(Rules.parsed(allow=["notes/*"])).judge(WRITE, skills=LOADED)
    assert judgement.verdict is Verdict.ASK and judgement.by_skill and judgement.rule == ""


def test_a_rule_that_asks_is_still_named():
    judgement = policy_of(Rules.parsed(ask=["notes/*"])).judge(WRITE, skills=LOADED)
    assert judgement.by_skill and judgement.rule == "ask notes/*"


@pytest.mark.parametrize("rules", [Rules(), Rules.parsed(allow=["notes/*"])])
def test_reads_mode_denies_with_the_skill_as_the_reason(rules: Rules):
    judgement = policy_of(rules, Mode.READS).judge(WRITE, skills=LOADED)
    assert judgement.verdict is Verdict.DENY and "While the skill “forms”" in judgement.why


def test_a_mark_of_an_untrusted_server_asks_about_the_call_and_not_about_trust():
    judgement = policy_of().judge(Tool("notes", "list", read_only=True), skills=LOADED)
    assert judgement.verdict is Verdict.ASK and judgement.by_skill and not judgement.by_mark
