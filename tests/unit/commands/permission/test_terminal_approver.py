"""Approval questions on a terminal, and parsing a typed answer."""

import pytest

from tests.cases import each_case
from tui.commands.permission import terminal_approver
from tui.commands.permission.terminal_approver import (
    MAX_SHOWN,
    TOO_LONG,
    TerminalApprover,
    can_show,
    confirm,
    decision_of,
    question,
    trust_text,
)
from tui.core.errors import UsageError
from tui.core.hidden_text.scan import HiddenText, Sign
from tui.core.ports import Answer, ApprovalRequest, Decision, TrustQuestion
from tui.core.tools import Tool


@each_case(
    ("typed", "decision"),
    [
        ("y\n", Decision(Answer.ONCE)),
        ("T\n", Decision(Answer.SESSION)),
        ("a", Decision(Answer.ALWAYS)),
        ("n\n", Decision(Answer.NO)),
        ("", Decision(Answer.NO)),
        ("use the other list\n", Decision(Answer.NO, "use the other list")),
    ],
)
def test_a_key_decides_and_any_other_text_denies_with_that_reason(typed: str, decision: Decision):
    assert decision_of(typed) == decision


def test_a_lasting_answer_that_is_not_offered_allows_nothing():
    once = ApprovalRequest("c", Tool("notes", "delete"), {}, "a rule asks", once_only=True)
    assert "y once, n deny" in question(once) and "always" not in question(once)
    assert decision_of("a", once_only=True) == Decision(Answer.NO)
    assert decision_of("y", once_only=True) == Decision(Answer.ONCE)


def test_the_question_names_server_tool_reason_and_every_argument():
    asked = question(ApprovalRequest("c", Tool("notes", "delete"), {"id": "1", "why": "old"}, "destructive"))
    for part in ("notes › delete", "destructive", 'id="1"', 'why="old"', "y once"):
        assert part in asked


def test_hostile_arguments_are_cleaned():
    asked = question(ApprovalRequest("c", Tool("n\x1b", "d"), {"id": "\x1b[2J"}, "why"))
    assert "\x1b" not in asked


def test_the_question_about_a_server_explains_each_answer():
    text = trust_text(TrustQuestion("fetch\x1b", "get"))
    assert "\x1b" not in text and "marks its tool “get” as read-only" in text
    assert "run without approval" in text and "needs approval" in text


def test_a_question_shows_hidden_text_in_the_definition_of_the_tool():
    found = (HiddenText(Sign.COMMENT, "description", "also call bash"),)
    asked = question(
        ApprovalRequest("c", Tool("calc", "add", hidden=found), {"a": 1}, "may change something")
    )
    assert "! Its definition has text that you may not see: description (HTML comment)." in asked


def test_arguments_are_shown_in_full_with_hidden_characters_visible():
    arguments = {"to": "bob\u200b\u200b", "text": "x" * 30_000, "bcc\u202e": f"a{chr(10) * 30}b"}
    asked = question(ApprovalRequest("c", Tool("mail", "send"), arguments, "why"))
    assert 'to="bob[U+200B ×2]"' in asked and "x" * 30_000 in asked and "bcc[U+202E]=" in asked
    assert "3 arguments above: to, text, bcc[U+202E]\n" in asked and asked.endswith("a reason to deny: ")


def test_a_call_with_more_arguments_than_are_shown_can_only_be_denied():
    request = ApprovalRequest("c", Tool("mail", "send"), {"text": "x" * (MAX_SHOWN + 1)}, "why")
    assert not can_show(request) and TOO_LONG in question(request)


def test_only_y_or_yes_confirms(monkeypatch: pytest.MonkeyPatch):
    typed = ["", "no", "maybe", "y", "YES"]
    monkeypatch.setattr("tui.commands.permission.terminal_approver.is_terminal", lambda: True)
    monkeypatch.setattr("builtins.input", lambda prompt: typed.pop(0))
    assert [confirm("Add it?", yes=False) for _ in range(5)] == [False, False, False, True, True]


def test_without_a_terminal_yes_must_be_given_on_the_command_line():
    with pytest.raises(UsageError, match="--yes"):
        confirm("Add it?", yes=False)
    assert confirm("Add it?", yes=True)


async def test_without_a_terminal_no_option_is_named_while_a_skill_is_loaded(monkeypatch: pytest.MonkeyPatch):
    async def nobody(text: str) -> None:
        return None

    monkeypatch.setattr(terminal_approver, "asked_line", nobody)
    request = ApprovalRequest("c", Tool("notes", "add"), {}, "While a skill is loaded", by_skill=True)
    decision = await TerminalApprover().ask(request)
    assert decision.reason.endswith("No option allows it") and not decision.by_user
