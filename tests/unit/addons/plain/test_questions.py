"""Questions of servers and of mcptui, answered by number."""

import pytest

from tests.unit.addons.plain.plain_stage import Stage
from tui.addons.plain.questions import PlainQuestions
from tui.core.permission.consent import ConsentQuestion, ConsentsQuestion
from tui.core.questions import (
    Action,
    AddressQuestion,
    AgentQuestion,
    AttachQuestion,
    FormQuestion,
    Question,
    QuestionAnswer,
    SamplingQuestion,
    SkillQuestion,
)

CONSENT = ConsentQuestion("weather", "the file c.toml", False, [("command", "python server.py")])
PARAMS = {"messages": [{"role": "user", "content": {"type": "text", "text": "Say hello"}}], "maxTokens": 50}
SIGN_IN = AddressQuestion("remote", "https://sign.example/in", "", "sign in", opens=False)
SKILL = SkillQuestion(
    "files", "report", "skill://report", "Writes reports.", "python files.py", [("SKILL.md", 10)]
)
YES, NO, LATER = QuestionAnswer(Action.ACCEPT), QuestionAnswer(Action.DECLINE), QuestionAnswer(Action.CANCEL)
FORM = FormQuestion(
    "s", "Who?", {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
)


@pytest.mark.parametrize(
    ("question", "typed", "answer"),
    [
        (CONSENT, ["1"], YES),
        (CONSENT, ["2"], NO),
        (CONSENT, ["3"], LATER),
        (CONSENT, [], LATER),
        (ConsentsQuestion([CONSENT, CONSENT]), ["1"], YES),
        (ConsentsQuestion([CONSENT, CONSENT]), ["3"], QuestionAnswer(Action.CANCEL, each=True)),
        (ConsentsQuestion([CONSENT, CONSENT]), [], QuestionAnswer(Action.CANCEL, each=True)),
        (SKILL, ["1"], YES),
        (AgentQuestion("a", "s", "delete", {"id": 1}), ["2"], QuestionAnswer(Action.ACCEPT, lasts=True)),
        (AgentQuestion("a", "s", "delete", {"id": 1}), ["3"], NO),
        (AttachQuestion("mcptui call"), ["1"], YES),
        (SamplingQuestion("s", PARAMS), ["1"], QuestionAnswer(Action.ACCEPT, PARAMS)),
        (SamplingQuestion("s", PARAMS), ["2"], NO),
        (SIGN_IN, ["1", " https://x/?code=1 "], QuestionAnswer(Action.ACCEPT, pasted="https://x/?code=1")),
        (SIGN_IN, ["2"], NO),
        (FORM, ["Ada", "1"], QuestionAnswer(Action.ACCEPT, {"name": "Ada"})),
        (FORM, ["Ada", "2", "Eve", "1"], QuestionAnswer(Action.ACCEPT, {"name": "Eve"})),
        (FORM, ["/decline"], NO),
        (FORM, ["Ada"], NO),
    ],
)
async def test_a_question_is_answered_by_numbers(
    question: Question, typed: list[str], answer: QuestionAnswer
):
    stage = Stage(*typed)
    assert await PlainQuestions(stage.asking, lambda: "m").ask(question) == answer
    assert all(line.startswith("question: ") for line in stage.lines)


async def test_a_consent_that_is_too_long_to_read_cannot_be_given():
    long = ConsentQuestion("s", "a file", False, [("command", "x" * 50_000)])
    assert await PlainQuestions(Stage("1").asking, lambda: "m").ask(long) == NO


async def test_an_address_shows_its_host_apart():
    stage = Stage("2")
    await PlainQuestions(stage.asking, lambda: "m").ask(
        AddressQuestion("s", "https://a.example/b?c", "", "elicitation")
    )
    assert "question: Its host: a.example" in stage.lines
