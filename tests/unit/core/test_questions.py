"""The default answers to questions from servers."""

from tui.core.questions import (
    MOST_ERRORS,
    Action,
    AddressQuestion,
    ConfigErrors,
    FormQuestion,
    Questioner,
    SamplingQuestion,
)


async def test_without_a_person_every_question_is_declined() -> None:
    nobody = Questioner()

    answers = [
        await nobody.ask(FormQuestion("weather", "Which city?", {"type": "object"})),
        await nobody.ask(AddressQuestion("weather", "https://a.example/", "Sign in", "sign in")),
        await nobody.ask(SamplingQuestion("weather", {"messages": []})),
        await nobody.ask(SamplingQuestion("weather", {"messages": []}, reply={"role": "assistant"})),
    ]

    assert {answer.action for answer in answers} == {Action.DECLINE}


def test_more_errors_than_fit_are_counted() -> None:
    lines = ConfigErrors([f"c.toml:{number} wrong" for number in range(MOST_ERRORS + 2)]).lines()
    assert lines[-2:] == ["c.toml:4 wrong", "and 2 more errors"]


def test_an_error_is_one_line_without_control_characters() -> None:
    (line,) = ConfigErrors(["c.toml:1 \x1b[2J\nwrong"]).lines()
    assert "\x1b" not in line and "\n" not in line
