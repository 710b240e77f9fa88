"""The dialogs for a form, and for an address, that a server requests."""

from typing import Any

import pytest

from tests.ui.app_stage import keys, screen_text, shows
from tests.ui.question_stage import dialog_alone, ripe
from tui.core.questions import Action, AddressQuestion, FormQuestion, QuestionAnswer
from tui.ui.forms.form_rows import FormHead
from tui.ui.keys.answer_pause import GRACE_SECONDS

__all__ = ["ripe"]

SCHEMA = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string", "minLength": 2},
        "color": {"oneOf": [{"const": "#f00", "title": "Red"}, {"const": "#00f", "title": "Blue"}]},
        "size": {"type": "integer", "default": 4},
        "days": {"type": "array", "items": {"enum": ["Mon", "Tue"]}},
    },
}
QUESTION = FormQuestion("weather", "Who are [b]you[/b]?", SCHEMA, round=2)

pytestmark = pytest.mark.usefixtures("ripe")


async def test_the_server_its_message_and_every_field_are_shown() -> None:
    async with dialog_alone(QUESTION) as (app, _, _question):
        await shows(
            app,
            "The server “weather” asks, round 2:",
            "Who are [b]you[/b]?",
            "name  text",
            "size",
            "4",
            "Mon",
            "decline",
        )


async def test_hidden_characters_of_the_message_are_visible() -> None:
    hidden = FormQuestion("weather", "Who\u202e are\x1b[2J you?", SCHEMA)
    async with dialog_alone(hidden) as (app, _, _question):
        await shows(app, "Who\ufffd are\u241b[2J you?")


async def test_typed_values_and_defaults_are_sent() -> None:
    async with dialog_alone(QUESTION) as (_app, pilot, question):
        await keys(pilot, "Ada")
        await pilot.press("ctrl+s")
        assert await question == QuestionAnswer(Action.ACCEPT, {"name": "Ada", "size": 4})


async def test_titles_are_shown_and_their_values_are_sent() -> None:
    async with dialog_alone(QUESTION) as (_app, pilot, question):
        await keys(pilot, "Ada")
        await pilot.press("down", "right", "down", "down", "down", "right", "ctrl+s")
        content = {"name": "Ada", "color": "#f00", "size": 4, "days": ["Mon"]}
        assert await question == QuestionAnswer(Action.ACCEPT, content)


async def test_an_invalid_form_shows_its_errors_and_is_not_sent() -> None:
    async with dialog_alone(QUESTION) as (app, pilot, question):
        await pilot.press("ctrl+s")
        await shows(app, "! name is required.")
        await keys(pilot, "A")
        await shows(app, "needs at least 2 characters")
        await pilot.press("ctrl+s")
        assert not question.done()


@pytest.mark.parametrize(("key", "action"), [("ctrl+x", Action.DECLINE), ("escape", Action.CANCEL)])
async def test_ctrl_x_declines_and_escape_cancels(key: str, action: Action) -> None:
    async with dialog_alone(QUESTION) as (_app, pilot, question):
        await pilot.press(key)
        assert (await question).action is action


async def test_keys_of_other_questions_do_not_answer_a_form() -> None:
    async with dialog_alone(FormQuestion("weather", "Go on?", {"type": "object"})) as (app, pilot, question):
        await pilot.press("ctrl+y", "ctrl+u")
        assert not question.done() and app.screen.is_current


async def test_a_key_pressed_within_the_grace_time_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tui.ui.keys.answer_pause.GRACE_SECONDS", 1000 * GRACE_SECONDS)
    async with dialog_alone(QUESTION) as (_app, pilot, question):
        await pilot.press("escape", "ctrl+x", "ctrl+s")
        assert not question.done()


async def test_a_form_without_fields_is_sent_with_enter() -> None:
    async with dialog_alone(FormQuestion("weather", "Go on?", {"type": "object"})) as (app, pilot, question):
        await shows(app, "Go on?", "Send  ctrl+s")
        await pilot.press("enter")
        assert await question == QuestionAnswer(Action.ACCEPT, {})


async def test_a_form_that_asks_for_a_secret_is_flagged() -> None:
    schema = {"properties": {"api_key": {"type": "string"}}}
    async with dialog_alone(FormQuestion("weather", "Your key?", schema)) as (app, _, _question):
        await shows(app, "! api_key: servers must not request secrets in a form.")


async def test_the_keys_of_a_long_form_are_visible_on_a_small_screen() -> None:
    fields = {f"field{number}": {"type": "string"} for number in range(40)}
    async with dialog_alone(FormQuestion("weather", "All of it", {"properties": fields}), (80, 24)) as (
        app,
        _,
        _question,
    ):
        await shows(app, "field0", "ctrl+x decline")
        assert "field39" not in screen_text(app)


async def test_a_slow_pattern_is_checked_before_the_form_is_sent() -> None:
    code = {"type": "string", "pattern": "^(a+)+$"}
    schema = {"type": "object", "properties": {"code": code}, "required": ["code"]}
    async with dialog_alone(FormQuestion("weather", "Code?", schema)) as (app, pilot, question):
        await keys(pilot, "a" * 40 + "b")
        await pilot.press("ctrl+s")
        await shows(app, "! code does not match ^(a+)+$.")
        assert not question.done()
        await pilot.press("backspace", "ctrl+s")
        assert (await question).content == {"code": "a" * 40}


async def test_a_terminal_of_ten_rows_shows_a_field_and_the_keys() -> None:
    async with dialog_alone(QUESTION, (40, 10)) as (app, _, _question):
        await shows(app, "weather", "name  text", "Send  ctrl+s", "esc cancel")


async def test_a_long_message_is_laid_out_once_not_at_each_key(monkeypatch: pytest.MonkeyPatch) -> None:
    laid_out: list[int] = []
    rows = FormHead.rows

    def counted(head: FormHead, columns: int, *, unfolded: bool) -> Any:
        laid_out.append(columns)
        return rows(head, columns, unfolded=unfolded)

    monkeypatch.setattr(FormHead, "rows", counted)
    async with dialog_alone(FormQuestion("weather", "\u200b" * 100_000, SCHEMA)) as (app, pilot, _question):
        await shows(app, "name  text")
        await keys(pilot, "Ada")
        await shows(app, "Ada")
        assert len(laid_out) == len(set(laid_out))


@pytest.fixture(autouse=True)
def browser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISPLAY", ":0")
    for name in ("SSH_CONNECTION", "SSH_TTY"):
        monkeypatch.delenv(name, raising=False)


def address(url: str = "https://auth.example/login?a=1", purpose: str = "elicitation") -> AddressQuestion:
    assert purpose in ("elicitation", "sign in")
    return AddressQuestion("weather", url, "Confirm it", "sign in" if purpose == "sign in" else "elicitation")


async def test_after_a_browser_failed_to_open_the_answer_is_pasted() -> None:
    again = AddressQuestion("weather", "https://auth.example/", "No browser.", "sign in", opens=False)
    async with dialog_alone(again) as (_app, pilot, waiting):
        await keys(pilot, "code")
        await pilot.press("enter")
        assert await waiting == QuestionAnswer(Action.ACCEPT, pasted="code")


async def test_the_whole_address_and_its_server_are_shown() -> None:
    async with dialog_alone(address()) as (app, _, _waiting):
        await shows(
            app, "The server “weather” asks you to open a URL", "Confirm it", "https://auth.example/login?a=1"
        )
        await shows(app, "ctrl+s open in the browser")


async def test_a_look_alike_host_is_flagged() -> None:
    async with dialog_alone(address("https://xn--pple-43d.com/")) as (app, _, _waiting):
        await shows(app, "! The host is encoded. It reads аpple.com.")


async def test_the_address_can_be_copied_instead() -> None:
    async with dialog_alone(address()) as (app, pilot, waiting):
        await pilot.press("ctrl+y")
        assert app.clipboard == "https://auth.example/login?a=1"
        assert not waiting.done()


async def test_over_ssh_the_address_is_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSH_CONNECTION", "10.0.0.1 1 10.0.0.2 22")
    async with dialog_alone(address()) as (app, pilot, waiting):
        await shows(app, "The browser is on another machine")
        await pilot.press("ctrl+s")
        assert await waiting == QuestionAnswer(Action.ACCEPT)
        assert app.clipboard == "https://auth.example/login?a=1"


async def test_over_ssh_the_code_of_a_sign_in_is_pasted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSH_CONNECTION", "10.0.0.1 1 10.0.0.2 22")
    async with dialog_alone(address(purpose="sign in")) as (app, pilot, waiting):
        await shows(app, "The server “weather” requires signing in")
        await keys(pilot, "code")
        await pilot.press("enter")
        assert await waiting == QuestionAnswer(Action.ACCEPT, pasted="code")


async def test_a_long_message_is_truncated_and_the_rest_is_counted() -> None:
    long = AddressQuestion("weather", "https://auth.example/", "word " * 20_000, "elicitation")
    async with dialog_alone(long, (100, 60)) as (app, _, _waiting):
        await shows(app, "… 98 k more characters", "https://auth.example/")
