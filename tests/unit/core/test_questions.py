"""The default answers to questions from servers."""

from tui.core.questions import (
    Action,
    AddressQuestion,
    FormQuestion,
    Refuser,
    SamplingQuestion,
    SamplingReview,
)


async def test_without_a_person_every_question_is_declined() -> None:
    nobody = Refuser()

    answers = [
        await nobody.form(FormQuestion("weather", "Which city?", {"type": "object"})),
        await nobody.address(AddressQuestion("weather", "https://a.example/", "Sign in", "sign in")),
        await nobody.sampling(SamplingQuestion("weather", {"messages": []})),
        await nobody.review(SamplingReview("weather", {"messages": []}, {"role": "assistant"})),
    ]

    assert {answer.action for answer in answers} == {Action.DECLINE}
