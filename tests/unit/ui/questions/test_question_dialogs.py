"""Questions of servers and approvals in one queue, shown one at a time."""

import asyncio

import pytest
from textual.widgets import TextArea

from tests.conftest import until
from tests.programs import printed_by
from tests.ui.app_stage import asking, keys, opened, screen_text, shows
from tests.ui.question_stage import app_with_person, asked, in_dialog, ripe, shown
from tui.core.ports import TrustQuestion
from tui.core.questions import Action, AddressQuestion, FormQuestion
from tui.ui.dialogs.help import HelpScreen
from tui.ui.dialogs.question_dialog import QuestionDialog
from tui.ui.dialogs.text_dialogs import SystemText
from tui.ui.keys import answer_pause
from tui.ui.questions.elicitation_dialogs import FormDialog

__all__ = ["ripe"]

pytestmark = pytest.mark.usefixtures("ripe")


def question(number: int) -> FormQuestion:
    return FormQuestion(f"server{number}", f"Question {number}", {"type": "object"})


async def test_one_question_is_shown_and_the_others_are_counted() -> None:
    async with app_with_person() as (app, pilot, person):
        waiting = [asked(person.ask(question(number))) for number in (1, 2, 3)]
        await shown(app, FormDialog)
        await shows(app, "Question 1", "2 more questions waiting")
        await pilot.press("ctrl+x")
        await shows(app, "Question 2", "1 more question waiting")
        assert (await waiting[0]).action is Action.DECLINE
        for task in waiting:
            task.cancel()


async def test_open_questions_can_be_withdrawn_after_the_app_has_exited() -> None:
    async with app_with_person() as (app, _, person):
        waiting = [asked(person.ask(question(number))) for number in range(5)]
        await shown(app, FormDialog)
    for task in waiting:
        task.cancel()
    async with asyncio.timeout(10):
        await asyncio.gather(*waiting, return_exceptions=True)
    assert all(task.cancelled() for task in waiting)


async def test_a_withdrawn_question_closes_with_every_screen_opened_over_it() -> None:
    async with in_dialog(question(1)) as (app, pilot, waiting):
        await pilot.press("f1")
        await shown(app, HelpScreen)
        waiting.cancel()
        await until(lambda: app.screen is app.main)
        await shows(app, "The server “server1” withdrew its request.")


async def test_a_withdrawn_question_of_mcptui_is_not_called_a_request_of_the_server() -> None:
    async with in_dialog(TrustQuestion("server1", "t")) as (app, _, waiting):
        waiting.cancel()
        await until(lambda: app.screen is app.main)
        await shows(app, "The question was withdrawn.")


async def test_keys_pressed_for_a_withdrawn_question_do_not_reach_the_screen_below(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with in_dialog(question(1)) as (app, pilot, waiting):
        monkeypatch.setattr(answer_pause, "GRACE_SECONDS", 60.0)
        waiting.cancel()
        await until(lambda: app.screen is app.main)
        await pilot.press("o", "f1", "enter")
        assert app.screen is app.main
        assert app.main.composer.text == ""


async def test_keys_work_again_a_moment_after_a_question_was_withdrawn() -> None:
    async with in_dialog(question(1)) as (app, pilot, waiting):
        waiting.cancel()
        await until(lambda: app.screen is app.main)
        await pilot.press("o")
        assert app.main.composer.text == "o"


async def test_keys_after_an_answer_are_not_ignored() -> None:
    async with in_dialog(question(1)) as (app, pilot, waiting):
        await pilot.press("ctrl+x")
        await until(lambda: app.screen is app.main)
        assert (await waiting).action is Action.DECLINE
        assert app.main.parts is not None
        assert not app.main.parts.approvals.ignores_keys


async def test_a_question_that_another_one_is_asked_before_is_not_called_withdrawn() -> None:
    async with app_with_person() as (app, _, person):
        form = asked(person.ask(question(1)))
        await shown(app, FormDialog)
        again = AddressQuestion("server", "https://example.com/in", "Paste it.", "sign in", again=True)
        pasting = asked(person.ask(again))
        await shown(app, QuestionDialog)
        assert "withdrew" not in screen_text(app)
        pasting.cancel()
        await shown(app, FormDialog)
        await shows(app, "Question 1")
        form.cancel()


async def test_a_question_waits_while_the_user_is_typing() -> None:
    async with app_with_person() as (app, pilot, person):
        await keys(pilot, "a message")
        waiting = asked(person.ask(question(1)))
        await until(lambda: app.main.parts is not None and app.main.parts.approvals.first is not None)
        await pilot.pause()
        assert app.screen is app.main
        assert app.main.parts is not None
        app.main.parts.approvals.typed_at = -1e9
        await shown(app, FormDialog)
        assert app.main.composer.text == "a message"
        waiting.cancel()


async def test_a_question_waits_while_the_user_is_typing_on_another_screen() -> None:
    async with app_with_person() as (app, pilot, person):
        await pilot.press("f12", *"be brief")
        waiting = asked(person.ask(question(1)))
        await until(lambda: app.main.parts is not None and app.main.parts.approvals.first is not None)
        await pilot.press(*", please")
        assert isinstance(app.screen, SystemText)
        assert app.main.parts is not None
        app.main.parts.approvals.typed_at = -1e9
        await shown(app, FormDialog)
        waiting.cancel()
        await until(lambda: isinstance(app.screen, SystemText))
        assert app.screen.query_one(TextArea).text == "be brief, please"


async def test_letters_typed_when_a_dialog_opens_are_not_its_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    async with app_with_person() as (app, pilot, person):
        monkeypatch.setattr(answer_pause, "GRACE_SECONDS", 60.0)
        schema = {"type": "object", "properties": {"city": {"type": "string"}}}
        waiting = asked(person.ask(FormQuestion("server", "Question", schema)))
        await shown(app, FormDialog)
        await shows(app, "city")
        await pilot.press(*"hello")
        monkeypatch.setattr(answer_pause, "GRACE_SECONDS", 0.0)
        await pilot.press(*"Wuhan")
        await shows(app, "Wuhan")
        assert "hello" not in screen_text(app)
        waiting.cancel()


async def test_an_approval_comes_before_a_later_question_from_a_server() -> None:
    async with opened(asking(), (100, 30)) as (app, pilot):
        await pilot.press("x", "enter")
        assert app.main.parts is not None
        parts = app.main.parts
        await until(lambda: parts.approvals.current)
        waiting = asked(parts.approvals.ask(question(1)))
        await until(lambda: parts.approvals.waiting == 1)
        await pilot.pause()
        assert app.screen is app.main
        parts.approvals.decide("no")
        parts.approvals.typed_at = -1e9
        await shown(app, FormDialog)
        waiting.cancel()
        await asyncio.wait({waiting})
        await until(lambda: app.screen is app.main and "Question 1" not in screen_text(app))


async def test_a_key_blocked_by_a_question_says_why() -> None:
    said = "Answer the question first, or press esc to cancel it."
    async with in_dialog(question(1)) as (app, pilot, _):
        for key in ("f2", "f3", "f4", "f10"):
            app.clear_notifications()
            await pilot.press(key)
            await until(lambda: any(said == one.message for one in app._notifications), what=key)
            assert isinstance(app.screen, FormDialog)


async def test_help_opens_over_a_question_and_hides_it() -> None:
    async with in_dialog(question(1)) as (app, pilot, _):
        await shows(app, "Question 1")
        await pilot.press("f1")
        await shown(app, HelpScreen)
        await shows(app, "Decline the request")
        assert "Question 1" not in screen_text(app)
        assert "ctrl+x decline" not in screen_text(app)
        await pilot.press("f1")
        await shown(app, FormDialog)


async def test_help_opens_over_a_question_that_was_opened_over_the_help() -> None:
    async with app_with_person() as (app, pilot, person):
        await pilot.press("f1")
        await shown(app, HelpScreen)
        waiting = asked(person.ask(question(1)))
        await shown(app, FormDialog)
        await pilot.press("f1")
        await shown(app, HelpScreen)
        await shows(app, "Decline the request")
        await pilot.press("f1")
        await shown(app, FormDialog)
        waiting.cancel()


def test_a_dialog_is_loaded_when_it_is_opened() -> None:
    shown = "[name for name in sys.modules if name.endswith(('_dialog', '.form_pane'))]"
    assert printed_by(f"import sys, tui.ui.questions.question_dialogs\nprint({shown})") == "[]"
