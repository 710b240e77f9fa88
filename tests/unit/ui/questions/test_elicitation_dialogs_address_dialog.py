"""The dialog for an address that a server asks to open."""

import pytest

from tests.ui.app_stage import keys, shows
from tests.ui.question_stage import on_screen, ripe
from tui.core.questions import Action, AddressAnswer, AddressQuestion

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
    async with on_screen(again) as (_app, pilot, waiting):
        await keys(pilot, "code")
        await pilot.press("enter")
        assert await waiting == AddressAnswer(Action.ACCEPT, "code")


async def test_the_whole_address_and_its_server_are_shown() -> None:
    async with on_screen(question()) as (app, _, _waiting):
        await shows(
            app, "The server “weather” asks you to open a URL", "Confirm it", "https://auth.example/login?a=1"
        )
        await shows(app, "ctrl+s open in the browser")


async def test_a_look_alike_host_is_flagged() -> None:
    async with on_screen(question("https://xn--pple-43d.com/")) as (app, _, _waiting):
        await shows(app, "! The host is encoded. It reads аpple.com.")


@pytest.mark.parametrize(
    ("key", "action"),
    [("ctrl+s", Action.ACCEPT), ("ctrl+x", Action.DECLINE), ("escape", Action.CANCEL)],
)
async def test_a_key_accepts_declines_or_cancels(key: str, action: Action) -> None:
    async with on_screen(question()) as (_app, pilot, waiting):
        await pilot.press(key)
        assert await waiting == AddressAnswer(action)


async def test_the_address_can_be_copied_instead() -> None:
    async with on_screen(question()) as (app, pilot, waiting):
        await pilot.press("ctrl+y")
        assert app.clipboard == "https://auth.example/login?a=1"
        assert not waiting.done()


async def test_over_ssh_the_address_is_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSH_CONNECTION", "10.0.0.1 1 10.0.0.2 22")
    async with on_screen(question()) as (app, pilot, waiting):
        await shows(app, "The browser is on another machine")
        await pilot.press("ctrl+s")
        assert await waiting == AddressAnswer(Action.ACCEPT)
        assert app.clipboard == "https://auth.example/login?a=1"


async def test_over_ssh_the_code_of_a_sign_in_is_pasted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSH_CONNECTION", "10.0.0.1 1 10.0.0.2 22")
    async with on_screen(question(purpose="sign in")) as (app, pilot, waiting):
        await shows(app, "The server “weather” requires signing in")
        await keys(pilot, "code")
        await pilot.press("enter")
        assert await waiting == AddressAnswer(Action.ACCEPT, "code")


async def test_a_long_message_is_truncated_and_the_rest_is_counted() -> None:
    long = AddressQuestion("weather", "https://auth.example/", "word " * 20_000, "elicitation")
    async with on_screen(long, (100, 60)) as (app, _, _waiting):
        await shows(app, "… 98 k more characters", "https://auth.example/")
