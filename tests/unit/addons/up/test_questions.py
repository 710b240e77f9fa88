"""Who answers what a server asks while commands use it."""

import asyncio
import contextvars
from dataclasses import replace

import pytest

from tui.addons.up.questions import MOST_NOES, MOST_WAITING, Asker, DoorQuestions
from tui.core.ports import BY_DEFAULT, BY_LIMIT
from tui.core.questions import (
    Action,
    AgentQuestion,
    DefinitionsQuestion,
    FormQuestion,
    Question,
    QuestionAnswer,
    Questioner,
    cause_of,
)

FORM = FormQuestion("files", "Name?", {})


class Answers(Questioner):
    """Answers everything with its own name."""

    def __init__(self, name: str) -> None:
        self.name = name

    async def ask(self, question: Question) -> QuestionAnswer:
        return QuestionAnswer(Action.ACCEPT, by=self.name)


def asker(name: str, said: list[str], *, server: str = "files", itself: bool = True) -> Asker:
    return Asker(server, Answers(name), itself, said.append, f"{name} (pid 2)")


async def by(door: DoorQuestions, question: Question = FORM) -> str:
    return (await door.ask(question)).by


async def test_the_options_of_the_command_that_uses_the_server_answer():
    door, said = DoorQuestions(Answers("user"), has_user=True, where="mcptui (pid 1)"), list[str]()
    assert await by(door) == "user"
    with door.asking(asker("command", said)):
        assert await by(door) == "command"
        assert await by(door, FormQuestion("other", "Name?", {})) == "user"
    assert await by(door) == "user" and said == []


async def test_the_user_of_the_app_answers_one_without_options_which_says_where():
    door, said = DoorQuestions(Answers("user"), has_user=True, where="mcptui (pid 1)"), list[str]()
    with door.asking(asker("command", said, itself=False)):
        assert await by(door) == "user"
    assert said == ["? files asks something. Answer it in mcptui (pid 1)"]


async def test_the_question_names_the_processes_that_use_the_server():
    asked = list[Question]()

    class User(Questioner):
        async def ask(self, question: Question) -> QuestionAnswer:
            asked.append(question)
            return QuestionAnswer(Action.ACCEPT)

    door = DoorQuestions(User(), has_user=True, where="")
    await door.ask(FORM)
    with door.asking_for("files", "mcptui agent for claude-code (pid 3)"):
        await door.ask(FORM)
        with door.asking(asker("mcptui call", [], itself=False)):
            found = contextvars.Context().run(asyncio.ensure_future, door.ask(replace(FORM, round=2)))
            await found
    assert [cause_of(one) for one in asked if isinstance(one, FormQuestion)] == [
        "",
        ", used by mcptui agent for claude-code (pid 3)",
        ", used by mcptui agent for claude-code (pid 3) or mcptui call (pid 2), round 2",
    ]


async def test_without_a_user_the_command_declines_by_itself():
    door = DoorQuestions(Answers("nobody"), has_user=False, where="")
    with door.asking(asker("command", [], itself=False)):
        assert await by(door) == "command"


async def test_if_it_is_not_known_whose_request_it_is_no_command_answers_and_all_say_so():
    door, said = DoorQuestions(Answers("holder"), has_user=False, where="mcptui up"), list[str]()
    outside = contextvars.copy_context()
    with door.asking(asker("first", said)), door.asking(asker("second", said)):
        assert await by(door) == "second"  # in its own task, as in the era without a handshake
        assert await asyncio.get_running_loop().create_task(by(door), context=outside) == "holder"
    assert said == ["? files asks something. It does not say which of 2 commands, so mcptui up answers"] * 2


async def test_what_is_asked_about_a_server_is_never_answered_by_a_command():
    door = DoorQuestions(Answers("user"), has_user=True, where="")
    with door.asking(asker("command", [])):
        assert await by(door, DefinitionsQuestion("files", ())) == "user"


AGENTS = AgentQuestion("cursor", "files", "delete", {})


class Waiting(Questioner):
    """Answers when it is told to."""

    def __init__(self) -> None:
        self.asked: list[asyncio.Future[QuestionAnswer]] = []

    async def ask(self, question: Question) -> QuestionAnswer:
        self.asked.append(asyncio.get_running_loop().create_future())
        return await self.asked[-1]


async def test_few_questions_of_agents_wait_at_a_time():
    user = Waiting()
    door = DoorQuestions(user, has_user=True, where="")
    tasks = [asyncio.create_task(door.ask(AGENTS)) for _ in range(MOST_WAITING)]
    await asyncio.sleep(0)
    assert await by(door, AGENTS) == BY_LIMIT and len(user.asked) == MOST_WAITING
    tasks[0].cancel()
    await asyncio.wait(tasks[:1])
    tasks.append(asyncio.create_task(door.ask(AGENTS)))
    await asyncio.sleep(0)
    assert len(user.asked) == MOST_WAITING + 1
    for task in tasks:
        task.cancel()


class No(Questioner):
    async def ask(self, question: Question) -> QuestionAnswer:
        return QuestionAnswer(Action.DECLINE)


async def test_agents_are_not_put_off_where_nobody_can_be_asked():
    door = DoorQuestions(Questioner(), has_user=False, where="")
    assert {await by(door, AGENTS) for _ in range(MOST_NOES + 1)} == {BY_DEFAULT}


async def test_agents_wait_a_while_after_several_noes_in_a_row(monkeypatch: pytest.MonkeyPatch):
    door = DoorQuestions(No(), has_user=True, where="")
    for _ in range(MOST_NOES):
        assert await by(door, AGENTS) != BY_LIMIT
    assert await by(door, AGENTS) == BY_LIMIT
    monkeypatch.setattr("tui.addons.up.questions.PAUSE_SECONDS", 0.0)
    assert await by(door, AGENTS) != BY_LIMIT
