"""The dialog for an address that a server asks to open."""

import pytest

from tests.ui.app_stage import keys, shows
from tests.ui.question_stage import app_with_person, asked, ripe, shown
from tui.core.questions import Action, AddressAnswer, AddressQuestion
from tui.ui.dialogs.question_dialog import QuestionDialog

__all__ = ["ripe"]

pytestmark = pytest.mark.usefixtures("ripe")


@pytest.fixture(autouse=True)
def browser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISPLAY", ":0")
    for name in ("SSH_CONNECTION", "SSH_TTY"):
        monkeypatch.delenv(name, raising=False)


def question(url: str = "https://auth.example/login?a=1", purpose: str = "elicitation") -> AddressQuestion:
    assert purpose in ("elicitation", "sign in")
    return AddressQuestion("weather", url, "Confirm it", "sign in" if purpose == "sign in" else "elicitation")


async def test_after_a_browser_failed_to_open_the_answer_is_pasted() -> None:
    again = AddressQuestion("weather", "https://auth.example/", "No browser.", "sign in", opens=False)
    async with app_with_person() as (app, pilot, person):
        waiting = asked(person.address(again))
        await shown(app, QuestionDialog)
        await keys(pilot, "code")
        await pilot.press("enter")
        assert await waiting == AddressAnswer(Action.ACCEPT, "code")


async def test_the_whole_address_and_its_server_are_shown() -> None:
    async with app_with_person() as (app, _, person):
        waiting = asked(person.address(question()))
        await shown(app, QuestionDialog)
        await shows(
            app, "The server “weather” asks you to open a URL", "Confirm it", "https://auth.example/login?a=1"
        )
        await shows(app, "ctrl+s open in the browser")
        waiting.cancel()


async def test_a_look_alike_host_is_flagged() -> None:
    async with app_with_person() as (app, _, person):
        waiting = asked(person.address(question("https://xn--pple-43d.com/")))
        await shown(app, QuestionDialog)
        await shows(app, "! The host is encoded. It reads аpple.com.")
        waiting.cancel()


@pytest.mark.parametrize(
    ("key", "action"),
    [("ctrl+s", Action.ACCEPT), ("ctrl+x", Action.DECLINE), ("escape", Action.CANCEL)],
)
async def test_a_key_accepts_declines_or_cancels(key: str, action: Action) -> None:
    async with app_with_person() as (app, pilot, person):
        waiting = asked(person.address(question()))
        await shown(app, QuestionDialog)
        await pilot.press(key)
        assert await waiting == AddressAnswer(action)


async def test_the_address_can_be_copied_instead() -> None:
    async with app_with_person() as (app, pilot, person):
        waiting = asked(person.address(question()))
        await shown(app, QuestionDialog)
        await pilot.press("ctrl+y")
        assert app.clipboard == "https://auth.example/login?a=1"
        assert not waiting.done()
        waiting.cancel()


async def test_over_ssh_the_address_is_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSH_CONNECTION", "10.0.0.1 1 10.0.0.2 22")
    async with app_with_person() as (app, pilot, person):
        waiting = asked(person.address(question()))
        await shown(app, QuestionDialog)
        await shows(app, "The browser is on another machine")
        await pilot.press("ctrl+s")
        assert await waiting == AddressAnswer(Action.ACCEPT)
        assert app.clipboard == "https://auth.example/login?a=1"


async def test_over_ssh_the_code_of_a_sign_in_is_pasted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSH_CONNECTION", "10.0.0.1 1 10.0.0.2 22")
    async with app_with_person() as (app, pilot, person):
        waiting = asked(person.address(question(purpose="sign in")))
        await shown(app, QuestionDialog)
        await shows(app, "The server “weather” requires signing in")
        await keys(pilot, "code")
        await pilot.press("enter")
        assert await waiting == AddressAnswer(Action.ACCEPT, "code")


async def test_a_long_message_is_truncated_and_the_rest_is_counted() -> None:
    long = AddressQuestion("weather", "https://auth.example/", "word " * 20_000, "elicitation")
    async with app_with_person((100, 60)) as (app, _, person):
        waiting = asked(person.address(long))
        await shown(app, QuestionDialog)
        await shows(app, "… 98 k more characters", "https://auth.example/")
        waiting.cancel()
