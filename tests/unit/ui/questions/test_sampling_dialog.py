"""A server asks for a reply of the model, on screen."""

import pytest

from tests.ui.app_stage import keys, shows
from tests.ui.question_stage import app_with_person, asked, ripe, shown
from tui.core.questions import Action, SamplingAnswer, SamplingQuestion, SamplingReview
from tui.ui.questions.sampling_dialog import SamplingDialog, request_facts

__all__ = ["ripe"]

pytestmark = pytest.mark.usefixtures("ripe")

PARAMS = {
    "messages": [{"role": "user", "content": {"type": "text", "text": "Say [b]hello[/b]"}}],
    "maxTokens": 100,
}
REPLY = {"role": "assistant", "content": {"type": "text", "text": "Hello"}, "model": "m"}


async def test_server_limit_and_every_word_of_the_request_are_shown() -> None:
    async with app_with_person() as (app, _, person):
        question = asked(person.sampling(SamplingQuestion("weather", PARAMS)))
        await shown(app, SamplingDialog)
        await shows(
            app, "The server “weather” requests a reply", "up to 100 tokens, 1 message", "Say [b]hello[/b]"
        )
        question.cancel()


async def test_a_window_of_ten_rows_shows_text_and_keys() -> None:
    async with app_with_person((40, 10)) as (app, _, person):
        question = asked(person.sampling(SamplingQuestion("weather", PARAMS)))
        await shown(app, SamplingDialog)
        await shows(app, "The server “weather” requests a", "Say [b]hello[/b]", "ctrl+s send", "esc cancel")
        question.cancel()


async def test_the_request_is_sent_as_it_was_changed() -> None:
    async with app_with_person() as (app, pilot, person):
        question = asked(person.sampling(SamplingQuestion("weather", PARAMS)))
        await shown(app, SamplingDialog)
        await keys(pilot, "!")
        await pilot.press("ctrl+s")
        answer = await question
        assert answer.action is Action.ACCEPT
        assert answer.params["messages"][0]["content"]["text"] == "Say [b]hello[/b]!"


async def test_the_reply_is_shown_before_the_server_has_it() -> None:
    async with app_with_person() as (app, pilot, person):
        question = asked(person.review(SamplingReview("weather", PARAMS, REPLY)))
        await shown(app, SamplingDialog)
        await shows(app, "for the server “weather”", "Hello", "send to the server")
        await pilot.press("ctrl+s")
        assert await question == SamplingAnswer(Action.ACCEPT, REPLY)


@pytest.mark.parametrize(("key", "action"), [("ctrl+x", Action.DECLINE), ("escape", Action.CANCEL)])
async def test_a_request_can_be_refused(key: str, action: Action) -> None:
    async with app_with_person() as (app, pilot, person):
        question = asked(person.sampling(SamplingQuestion("weather", PARAMS)))
        await shown(app, SamplingDialog)
        await pilot.press(key)
        assert (await question).action is action


def test_tools_and_wanted_context_are_named() -> None:
    facts = request_facts({**PARAMS, "tools": [{"name": "a"}, {"name": "b"}], "includeContext": "allServers"})
    assert facts[2:] == ["2 tools: a, b", "without the requested server context"]
