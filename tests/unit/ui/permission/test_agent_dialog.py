"""The question whether an agent may act."""

import pytest

from tests.ui.app_stage import shows
from tests.ui.question_stage import dialog_alone, painted, ripe
from tui.core.questions import Action, AgentQuestion, QuestionAnswer

__all__ = ["ripe"]

pytestmark = pytest.mark.usefixtures("ripe")

QUESTION = AgentQuestion("claude-code", "files", "delete", {"path": "/tmp/[b]a\u202e"})


async def test_the_agent_the_tool_and_all_arguments_are_shown_as_text():
    async with dialog_alone(QUESTION) as (app, _, _):
        await shows(app, "that says it is “claude-code” call “delete” of the server “files”?")
        await shows(app, '"path": "/tmp/[b]a[U+202E]"', "mcptui cannot verify which program asks.")
        await shows(app, "ctrl+s yes, once", "ctrl+w until mcptui quits", "ctrl+x no")


@pytest.mark.parametrize(
    ("key", "answer"),
    [
        ("ctrl+s", QuestionAnswer(Action.ACCEPT)),
        ("ctrl+w", QuestionAnswer(Action.ACCEPT, lasts=True)),
        ("ctrl+x", QuestionAnswer(Action.DECLINE)),
        ("escape", QuestionAnswer(Action.CANCEL)),
    ],
)
async def test_each_key_answers(key: str, answer: QuestionAnswer):
    async with dialog_alone(QUESTION) as (app, pilot, given):
        await painted(app, whole=True)
        await pilot.press(key)
        assert await given == answer


async def test_a_lasting_yes_counts_only_once_all_was_on_screen():
    long = AgentQuestion("claude-code", "files", "write", {f"a{number}": number for number in range(80)})
    async with dialog_alone(long) as (app, pilot, given):
        await shows(app, "not shown yet")
        await pilot.press("ctrl+w")
        await shows(app, "Read all of it first.")
        assert not given.done()


async def test_an_act_of_mcptui_is_named_in_words():
    async with dialog_alone(AgentQuestion("a", "", "restart a server", {"server": "x"}, "Why.")) as (
        app,
        _,
        _,
    ):
        await shows(app, "May an agent that says it is “a” restart a server?", "! Why.")
