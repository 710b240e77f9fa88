"""The dialog for a sampling request of a server."""

import threading

import pytest

from tests.conftest import until
from tests.ui.app_stage import keys, screen_text, shows
from tests.ui.question_stage import dialog_alone, in_dialog, painted, read_by, ripe
from tui.core.context import sampling_texts
from tui.core.context.sampling_texts import is_editable, request_facts
from tui.core.questions import Action, QuestionAnswer, SamplingQuestion
from tui.core.text import clean

__all__ = ["ripe"]

pytestmark = pytest.mark.usefixtures("ripe")

PARAMS = {
    "messages": [{"role": "user", "content": {"type": "text", "text": "Say [b]hello[/b]"}}],
    "maxTokens": 100,
}
REPLY = {"role": "assistant", "content": {"type": "text", "text": "Hello"}, "model": "m"}


async def test_the_server_the_limit_and_the_whole_request_are_shown() -> None:
    async with dialog_alone(SamplingQuestion("weather", PARAMS)) as (app, _, _question):
        await shows(
            app, "The server “weather” requests a reply", "up to 100 tokens, 1 message", "Say [b]hello[/b]"
        )


async def test_a_terminal_of_ten_rows_shows_text_and_keys() -> None:
    async with dialog_alone(SamplingQuestion("weather", PARAMS), (40, 10)) as (app, _, _question):
        await shows(app, "The server “weather” requests a", "Say [b]hello[/b]", "ctrl+s send", "esc cancel")


async def test_the_edited_request_is_sent() -> None:
    async with dialog_alone(SamplingQuestion("weather", PARAMS)) as (_app, pilot, question):
        await keys(pilot, "!")
        await pilot.press("ctrl+s")
        answer = await question
        assert answer.action is Action.ACCEPT
        assert answer.content["messages"][0]["content"]["text"] == "Say [b]hello[/b]!"


async def test_the_reply_is_shown_before_it_is_sent_to_the_server() -> None:
    async with dialog_alone(SamplingQuestion("weather", PARAMS, reply=REPLY)) as (app, pilot, question):
        await shows(app, "for the server “weather”", "Hello", "send to the server")
        await pilot.press("ctrl+s")
        assert await question == QuestionAnswer(Action.ACCEPT, REPLY)


def test_tools_and_the_requested_context_are_named() -> None:
    facts = request_facts({**PARAMS, "tools": [{"name": "a"}, {"name": "b"}], "includeContext": "allServers"})
    assert facts[2:] == ["2 tools: a, b", "without the requested server context"]


def long_request(text: str) -> SamplingQuestion:
    messages = [{"role": "user", "content": {"type": "text", "text": text}}]
    return SamplingQuestion("weather", {"messages": messages, "maxTokens": 100})


@pytest.mark.parametrize("text", ["\u200b" * 8_000, "漢" * 5_000, "abcd\n" * 800])
async def test_a_long_request_is_read_off_the_event_loop_and_sent_unchanged(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cleaned: list[int] = []

    def clean_here(text: str) -> str:
        if threading.current_thread() is threading.main_thread():
            cleaned.append(len(text))
        return clean(text)

    monkeypatch.setattr(sampling_texts, "clean", clean_here)
    asking = long_request(text)
    async with in_dialog(asking, (100, 60)) as (app, pilot, question):
        pane = await painted(app)
        await until(lambda: pane.size.height > 10, what="as tall as it fits")
        await read_by(app, pilot, "pagedown")
        await pilot.press("ctrl+s")
        assert await question == QuestionAnswer(Action.ACCEPT, asking.params)
    assert not cleaned


async def test_a_request_too_long_to_review_cannot_be_sent() -> None:
    async with dialog_alone(long_request("word " * 30_000)) as (app, pilot, question):
        await shows(app, "word word", "ctrl+x decline")
        await pilot.press("end")
        await shows(app, "more characters. This is too long to be read here, so it cannot be sent.")
        assert "ctrl+s" not in screen_text(app)
        await pilot.press("ctrl+s")
        assert not question.done()
        await pilot.press("ctrl+x")
        assert (await question).action is Action.DECLINE


def test_images_do_not_count_towards_the_length_of_a_request() -> None:
    picture = {"type": "image", "mimeType": "image/png", "data": "A" * 1_000_000}
    assert is_editable({"messages": [{"role": "user", "content": [picture]}]})
    assert not is_editable({"content": {"type": "text", "text": "\n" * 1_000}})
