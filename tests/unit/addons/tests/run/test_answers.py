"""Answers of a case to what its server asks meanwhile."""

from typing import Any

import pytest

from tui.addons.tests.run.answers import CaseAnswers, Script
from tui.core.permission.consent import ConsentQuestion
from tui.core.questions import Action, AddressQuestion, FormQuestion, QuestionAnswer, SamplingQuestion
from tui.host.session.server_requests import UNTIL_DONE

SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
FORM = FormQuestion("weather", "Name?", SCHEMA)
ADDRESS = AddressQuestion("weather", "https://example.com", "Open it", "elicitation")
SAMPLING = SamplingQuestion("weather", {"messages": []})


async def answered(question: Any, answers: dict[str, Any]) -> tuple[QuestionAnswer, Script]:
    asked = CaseAnswers()
    with asked.during("weather", answers) as script:
        return await asked.ask(question), script


async def test_a_form_gets_the_values_of_the_case():
    answer, script = await answered(FORM, {"form": {"name": "Ada"}})
    assert (answer.action, answer.content) == (Action.ACCEPT, {"name": "Ada"})
    assert (script.notes, script.mismatches) == ([], [])


@pytest.mark.parametrize("word", ["decline", "cancel"])
async def test_a_form_can_be_declined_or_cancelled(word: str):
    answer, _ = await answered(FORM, {"form": word})
    assert answer.action == word


async def test_values_that_do_not_fit_a_form_are_a_difference():
    _, script = await answered(FORM, {"form": {"nam": "Ada"}})
    assert [one.path for one in script.mismatches] == ["answers.form"]


async def test_several_answers_are_given_in_order_and_then_none():
    asked = CaseAnswers()
    with asked.during("weather", {"form": [{"name": "Ada"}, "cancel"]}) as script:
        actions = [(await asked.ask(FORM)).action for _ in range(3)]
    assert actions == [Action.ACCEPT, Action.CANCEL, Action.DECLINE]
    assert script.notes == ["declined: the server asked for a form, and `answers.form` number 3 is not set."]


@pytest.mark.parametrize("question", [FORM, ADDRESS, SAMPLING])
async def test_what_a_case_does_not_answer_is_declined_with_a_note(question: Any):
    answer, script = await answered(question, {})
    assert answer.action is Action.DECLINE
    assert len(script.notes) == 1 and "is not set" in script.notes[0]


async def test_an_accepted_url_is_not_opened():
    answer, _ = await answered(ADDRESS, {"url": "accept"})
    assert (answer.action, answer.opens) == (Action.ACCEPT, False)


async def test_the_dialog_after_a_url_takes_no_answer_of_a_form():
    finish = FormQuestion("weather", UNTIL_DONE, {"type": "object", "properties": {}})
    answer, script = await answered(finish, {"form": {"name": "Ada"}})
    assert (answer.action, answer.content, script.notes) == (Action.ACCEPT, {}, [])


async def test_a_sampling_request_gets_the_reply_of_the_case():
    asked = CaseAnswers()
    with asked.during("weather", {"sampling": "Sunny"}):
        first = await asked.ask(SAMPLING)
        reply = await asked.ask(SamplingQuestion("weather", {}, reply={"role": "assistant"}))
    assert first.action is Action.ACCEPT and not first.content
    assert reply.content["content"] == {"type": "text", "text": "Sunny"}


async def test_false_declines_a_sampling_request():
    answer, script = await answered(SAMPLING, {"sampling": False})
    assert (answer.action, script.notes) == (Action.DECLINE, [])


async def test_questions_of_another_server_are_declined():
    asked = CaseAnswers()
    with asked.during("other", {"form": {"name": "Ada"}}):
        assert (await asked.ask(FORM)).action is Action.DECLINE


async def test_consent_is_asked_of_the_user():
    question = ConsentQuestion("weather", "the test file x", False, [("command", "x")])

    async def agree(asked: ConsentQuestion) -> QuestionAnswer:
        assert asked.facts is question.facts and asked.outcomes[1].endswith("The next run asks again.")
        return QuestionAnswer(Action.ACCEPT)

    assert (await CaseAnswers(agree).ask(question)).action is Action.ACCEPT
    assert (await CaseAnswers().ask(question)).action is Action.CANCEL
