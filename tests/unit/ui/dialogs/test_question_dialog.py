"""The frame of questions: the answers of its keys, what does not answer, its size and its last lines."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from textual.pilot import Pilot

from tests.conftest import until
from tests.ui.app_stage import shows
from tests.ui.question_stage import app_with_person, asked, in_dialog, painted, ripe
from tests.ui.stage import Stage
from tui.core.permission.consent import ConsentQuestion, ConsentsQuestion
from tui.core.permission.definitions import DefinitionChange
from tui.core.ports import TrustQuestion
from tui.core.questions import (
    Action,
    AddressQuestion,
    ConfigErrors,
    DefinitionsQuestion,
    QuestionAnswer,
    SamplingQuestion,
)
from tui.ui.dialogs.question_dialog import QuestionLine
from tui.ui.dialogs.read_pane import ReadPane
from tui.ui.keys import answer_pause
from tui.ui.keys.answer_pause import GRACE_SECONDS, AnswerDelay
from tui.ui.keys.bindings import KeyOverrides
from tui.ui.widgets.lines import LinePane

__all__ = ["ripe"]

CONSENT = ConsentQuestion("weather", "a registry", is_remote=False, facts=(("command", "npx weather"),))
DEFINITIONS = DefinitionsQuestion("calc", [DefinitionChange("calc", "add", "new", None, {"name": "add"})])
PARAMS = {"messages": [{"role": "user", "content": {"type": "text", "text": "Hi"}}], "maxTokens": 9}
ERRORS = [f"config.toml:{number} servers.a: wrong" for number in range(1, 9)]

ANSWERS = tuple(map(QuestionAnswer, (Action.ACCEPT, Action.DECLINE, Action.CANCEL)))
ASKS: dict[str, tuple[Any, object, object, object]] = {
    "consent": (CONSENT, *ANSWERS),
    "consents": (ConsentsQuestion([CONSENT, CONSENT]), *ANSWERS),
    "address": (AddressQuestion("weather", "https://a.example/", "Confirm it", "elicitation"), *ANSWERS),
    "definitions": (DEFINITIONS, *ANSWERS),
    "trust": (TrustQuestion("fetch", "get"), True, False, None),
    "sampling": (
        SamplingQuestion("weather", PARAMS),
        QuestionAnswer(Action.ACCEPT, PARAMS),
        *ANSWERS[1:],
    ),
    "errors": (ConfigErrors(ERRORS), *ANSWERS),
}


async def asked_in_turn(
    size: tuple[int, int] = (100, 30),
) -> AsyncIterator[tuple[str, Pilot[int], asyncio.Task[Any]]]:
    """Open the app, and in it the dialog of each question of `ASKS`."""
    async with app_with_person(size) as (app, pilot, person):
        for name, (question, *_) in ASKS.items():
            ask = person.trust if isinstance(question, TrustQuestion) else person.ask
            waiting = asked(ask(question))
            await until(lambda: app.screen is not app.main and app.screen.is_mounted, what=name)
            yield name, pilot, waiting
            waiting.cancel()
            await until(lambda: app.screen is app.main, what=f"{name} closed")


@pytest.mark.parametrize(("key", "number"), [("ctrl+s", 1), ("ctrl+x", 2), ("escape", 3)])
@pytest.mark.usefixtures("ripe")
async def test_keys_accept_decline_or_postpone(key: str, number: int) -> None:
    async for name, pilot, waiting in asked_in_turn():
        if pilot.app.screen.query(ReadPane):
            await painted(pilot.app, whole=True)
        await pilot.press(key)
        assert await waiting == ASKS[name][number], name


@pytest.mark.usefixtures("ripe")
async def test_enter_and_letters_do_not_answer() -> None:
    async for name, pilot, waiting in asked_in_turn():
        await pilot.press("y", "enter", *"a no q", "space")
        assert not waiting.done() and pilot.app.screen.is_current, name


async def test_the_first_keys_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_pause, "GRACE_SECONDS", 60.0)
    async for name, pilot, waiting in asked_in_turn():
        await pilot.press("escape", "ctrl+s", "ctrl+x")
        assert not waiting.done(), name


@pytest.mark.parametrize("size", [(1, 1), (30, 2), (60, 10)])
@pytest.mark.usefixtures("ripe")
async def test_it_can_be_answered_at_every_size(size: tuple[int, int]) -> None:
    async for name, pilot, waiting in asked_in_turn(size):
        await pilot.press("down", "escape")
        assert await waiting == ASKS[name][3], name


@pytest.mark.usefixtures("ripe")
async def test_the_errors_of_a_configuration_are_listed_up_to_a_limit() -> None:
    async with in_dialog(ASKS["errors"][0]) as (app, _, _waiting):
        await shows(app, "config.toml:1", "and 3 more errors", "ctrl+s edit again", "esc close")


def test_a_question_is_ripe_after_the_grace_time() -> None:
    now = 100.0
    answer_delay = AnswerDelay(lambda: now)
    assert not answer_delay.accepts_keys
    now += 2 * GRACE_SECONDS
    assert answer_delay.accepts_keys


async def test_the_line_shows_keys_a_message_and_the_number_of_waiting_questions() -> None:
    line = QuestionLine(KeyOverrides({}), ("ask.send", "ask.cancel"), {"ask.send": "open"})
    async with Stage(line).run_test(size=(80, 5)):
        line.show_waiting(2)
        assert "ctrl+s open    esc cancel    2 more questions waiting" in str(line.render())
        line.say("no [b]markup[/b]")
        line.show_waiting(0)
        shown = str(line.render())
        assert "! no [b]markup[/b]" in shown and "ctrl+s open" in shown and "waiting" not in shown


async def test_each_configured_key_of_an_answer_is_shown() -> None:
    keys = KeyOverrides([("ask.send", ["f11", "ctrl+y"]), ("ask.copy", "f3")])
    line = QuestionLine(keys, ("ask.send",), {})
    async with Stage(line).run_test(size=(80, 5)):
        assert "f11, ctrl+y send" in str(line.render())


async def test_lines_are_not_called_unread_before_the_first_paint(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    offer = QuestionLine.offer

    def noted(line: QuestionLine, actions: Any, unread: str) -> None:
        said.append(unread)
        offer(line, actions, unread)

    monkeypatch.setattr(QuestionLine, "offer", noted)
    monkeypatch.setattr(ReadPane, "render_lines", LinePane.render_lines)  # it is never painted
    async with in_dialog(CONSENT) as (app, _pilot, _waiting):
        await until(lambda: bool(said), what="the keys")
        assert app.screen.query_one(ReadPane).unread
    assert set(said) == {""}
