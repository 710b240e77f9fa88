"""Whether an agent may act."""

import asyncio

import pytest

from tui.addons.agent.consent import MOST_ASKED, Act, NotAllowed, Permission
from tui.core.permission.rules import Rules, parse_rule
from tui.core.ports import BY_DEFAULT, BY_KEY, BY_LIMIT, DecisionRecord
from tui.core.questions import Action, AgentQuestion, QuestionAnswer

ACT = Act("cursor", "files", "delete", {"path": "/a"})


class Log:
    def __init__(self) -> None:
        self.records: list[DecisionRecord] = []

    def add(self, record: DecisionRecord) -> None:
        self.records.append(record)


def permission(*rules: str, answer: QuestionAnswer | None = None, log: Log | None = None) -> Permission:
    async def ask(question: AgentQuestion) -> QuestionAnswer:
        if answer is None:
            return await asyncio.get_running_loop().create_future()
        return answer

    found = Rules.parsed(rules)
    return Permission(lambda: found, set(), log or Log(), "/c.toml", ask)


async def test_a_rule_that_asks_is_quoted_in_the_question():
    asked: list[AgentQuestion] = []

    async def ask(question: AgentQuestion) -> QuestionAnswer:
        asked.append(question)
        return QuestionAnswer(Action.ACCEPT)

    found = Rules.parsed(["allow files/*", "ask files/delete path=/*"])
    await Permission(lambda: found, set(), Log(), "/c.toml", ask).require(ACT)
    assert [one.why for one in asked] == ["The rule “ask files/delete path=/*” asks for approval."]


async def test_a_rule_that_asks_is_not_overruled_by_the_line_that_would_allow():
    nobody = QuestionAnswer(Action.CANCEL, by=BY_DEFAULT)
    with pytest.raises(NotAllowed) as found:
        await permission("ask files/*", "allow files/*", answer=nobody).require(ACT)
    assert found.value.next_step == "The rule “ask files/*” in /c.toml asks the user of a running mcptui."


async def test_an_allow_for_all_servers_does_not_allow_what_mcptui_does_itself():
    own = Act("cursor", "mcptui", "run_tests", is_own=True)
    with pytest.raises(NotAllowed, match="needs the user's consent"):
        await permission(
            "allow */*", "allow mcp*/*", answer=QuestionAnswer(Action.CANCEL, by=BY_DEFAULT)
        ).require(own)
    await permission("allow */*", "allow mcptui/run_*").require(own)


async def test_a_call_of_a_server_named_mcptui_is_asked_about_as_a_call_of_a_server():
    head = Act("cursor", "mcptui", "run_tests").question.head
    assert head.endswith("call “run_tests” of the server “mcptui”?")


@pytest.mark.parametrize(
    ("act", "by", "said"),
    [
        (Act("cursor", "files", "write", {"text": "x" * MOST_ASKED}), BY_KEY, "characters of arguments"),
        (ACT, BY_LIMIT, "without a question"),
    ],
)
async def test_what_the_user_cannot_be_asked_is_refused_at_once(act: Act, by: str, said: str):
    with pytest.raises(NotAllowed, match=said):
        await permission(answer=QuestionAnswer(Action.ACCEPT, by=by)).require(act)


async def test_no_answer_in_time_is_recorded_as_a_limit(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tui.addons.agent.consent.SECONDS", 0.01)
    log = Log()
    with pytest.raises(NotAllowed, match="did not answer"):
        await permission(log=log).require(ACT)
    assert [(one.allowed, one.by, one.asked_by) for one in log.records] == [
        (False, f"{BY_LIMIT} (no answer)", "agent cursor")
    ]


async def test_a_rule_that_denies_after_the_question_was_asked_wins():
    rules = [Rules()]

    async def ask(question: AgentQuestion) -> QuestionAnswer:
        rules[0] = Rules.parsed(["deny files/*"])
        return QuestionAnswer(Action.ACCEPT, lasts=True)

    granted: set[str] = set()
    log = Log()
    with pytest.raises(NotAllowed):
        await Permission(lambda: rules[0], granted, log, "/c.toml", ask).require(ACT)
    assert not granted and [one.allowed for one in log.records] == [False]


async def test_a_lasting_yes_is_for_this_agent_and_this_definition():
    yes = permission(answer=QuestionAnswer(Action.ACCEPT, lasts=True))
    await yes.require(ACT)
    yes.ask = None
    await yes.require(ACT)
    for other in (Act("claude", "files", "delete"), Act("cursor", "files", "delete", digest="new")):
        with pytest.raises(NotAllowed, match="consent"):
            await yes.require(other)


async def test_arguments_are_recorded_as_a_digest():
    log = Log()
    await permission("allow files/*", log=log).require(ACT)
    (record,) = log.records
    assert (record.subject, record.by, record.digest != "") == ("delete", "rule allow files/*", True)
    assert "/a" not in str(record)


async def test_a_no_is_recorded_as_the_users():
    log = Log()
    with pytest.raises(NotAllowed, match="by the user"):
        await permission(answer=QuestionAnswer(Action.DECLINE), log=log).require(ACT)
    assert [(one.allowed, one.by, one.asked) for one in log.records] == [(False, BY_KEY, True)]


@pytest.mark.parametrize("names", [("files", "delete"), ("my server", 'say "hi"'), ("a*", "get[x]?")])
def test_the_line_that_allows_an_act_allows_exactly_that(names: tuple[str, str]):
    import tomllib

    line = Act("cursor", *names).line("/c.toml").partition("/c.toml: ")[2]
    rule = parse_rule(tomllib.loads(line)["rules"][0])
    assert rule.matches(*names, {})
    assert not rule.matches("files", "other", {}) and not rule.matches("abc", "getx1", {})
