"""Keys pasted in the app: the first model of a new user, and another key after a rejection."""

from pathlib import Path

import pytest
from textual import events

from tests.conftest import until
from tests.endpoint import Endpoint, refuses, says
from tests.ui.real_stage import real_app
from tui.model.endpoints.profile import ModelProfile
from tui.runtime.model_keys import ModelKeys
from tui.ui.forms.model_fields import MODEL, SOURCE, URL
from tui.ui.forms.model_form import ModelForm

KEY = "sk-canary-1234567890"


def holders_of(home: Path, key: str = KEY) -> list[str]:
    """Return the names of the folders whose files contain a key."""
    files = [one for one in home.rglob("*") if one.is_file()]
    return [one.parent.name for one in files if key.encode() in one.read_bytes()]


def work(url: str = "http://127.0.0.1:9/v1") -> str:
    """Return a configuration with a profile for an endpoint."""
    return f'servers = {{}}\n[models.work]\nmodel = "m"\nbase_url = "{url}"\n'


@pytest.mark.parametrize(("choice", "folders"), [(1, ["model-keys"]), (2, [])])
async def test_a_new_user_gets_an_answer_with_a_pasted_key_that_is_written_nowhere_else(
    separate_home: Path, choice: int, folders: list[str]
) -> None:
    async with Endpoint([says("OK"), says("Hello there.")], models=["m"]) as endpoint:
        async with real_app(separate_home, "servers = {}\n", size=(80, 24)) as real:
            await real.press("f10")
            await real.shows("press ctrl+n")
            await real.press("ctrl+n", *"Other", "enter")
            await real.shows("ADD MODEL   Other endpoint")
            form = real.app.screen
            assert isinstance(form, ModelForm)
            form.pane.set_text(URL, endpoint.base_url)
            await real.press("tab", *["left"] * (3 - choice), "tab", *KEY, "tab", "m", "ctrl+s")
            await real.shows("switched to it")
            await real.press(*"hi", "enter")
            await real.shows("Hello there.")
            assert KEY not in real.text
    assert {one.headers["authorization"] for one in endpoint.requests} == {f"Bearer {KEY}"}
    assert holders_of(separate_home) == folders


async def test_a_rejected_key_is_replaced_by_a_command_and_the_question_asked_again(
    separate_home: Path,
) -> None:
    async with Endpoint([refuses(401, "bad key"), says("OK"), says("Hello there.")]) as endpoint:
        async with real_app(separate_home, work(endpoint.base_url)) as real:
            await real.press(*"hi", "enter")
            await real.shows("Paste a key: /key, or `mcptui config key work`")
            await real.press(*"/key", "enter")
            await real.shows("API KEY   work", "Sent to http://127.0.0.1")
            await real.press(*KEY, "ctrl+s")
            await real.shows("“work” uses the new key")
            await real.press(*"/retry", "enter")
            await real.shows("Hello there.")
    assert endpoint.requests[-1].headers["authorization"] == f"Bearer {KEY}"


async def test_a_key_that_is_stored_in_a_shell_meanwhile_is_used_by_the_next_question(
    separate_home: Path,
) -> None:
    async with Endpoint([refuses(401, "no key"), says("Hello there.")]) as endpoint:
        async with real_app(separate_home, work(endpoint.base_url)) as real:
            await real.press(*"hi", "enter")
            await real.shows("`mcptui config key work`")
            await ModelKeys().store(ModelProfile("work", endpoint.base_url, "m"), KEY)
            await real.press(*"/retry", "enter")
            await real.shows("Hello there.")
    assert endpoint.requests[-1].headers["authorization"] == f"Bearer {KEY}"


async def test_the_key_that_replaces_a_rejected_one_goes_into_its_field_wherever_the_focus_was(
    separate_home: Path,
) -> None:
    async with Endpoint([refuses(401, "bad key"), says("OK")]) as endpoint:
        async with real_app(separate_home, work(endpoint.base_url)) as real:
            await real.press(*"/key", "enter")
            await real.shows("API KEY   work")
            await real.press(*"wrong", "enter", "ctrl+s")
            await real.shows("Paste the key again.", "ctrl+s again to save anyway")
            real.app.post_message(events.Paste(KEY))
            await real.press("ctrl+s")
            await real.shows("“work” uses the new key")
    assert endpoint.requests[-1].headers["authorization"] == f"Bearer {KEY}"


async def test_a_key_pasted_beside_its_field_is_taken(separate_home: Path) -> None:
    async with real_app(separate_home, work()) as real:
        await real.press(*"/key", "enter")
        await real.shows("API KEY   work")
        await real.press("enter")
        await real.shows("←→ choose")
        real.app.post_message(events.Paste(KEY))
        await real.shows("•" * len(KEY))


async def test_a_refusal_without_a_key_leads_to_the_choice_of_one_and_names_no_profile_without_a_name(
    separate_home: Path,
) -> None:
    no_key = {"/v1/models": refuses(401, "no key")}
    async with Endpoint([says("OK")], pages=no_key) as endpoint:
        async with real_app(separate_home, "servers = {}\n", size=(80, 24)) as real:
            await real.press("f10", "ctrl+n", *"Other", "enter")
            await real.shows("ADD MODEL   Other endpoint")
            form = real.app.screen
            assert isinstance(form, ModelForm)
            form.pane.set_text(URL, endpoint.base_url)
            await real.press("down", "down")
            assert form.pane.current.path == MODEL
            await real.press("down")
            await real.shows("the new model (http://127.0.0.1", "Choose “store” or “this run only” above")
            assert form.pane.current.path == SOURCE


@pytest.mark.parametrize("blank", ["space", "ctrl+j"])
async def test_a_key_typed_behind_the_command_is_not_kept_in_the_history(
    separate_home: Path, blank: str
) -> None:
    async with real_app(separate_home, work()) as real:
        await real.press(*"/help", "enter", "escape")
        await real.press(*"/key", blank, *"plainkey", "enter")
        await real.shows("API KEY   work", "Paste the key in this dialog")
        await real.press("escape", "up")
        await real.shows("/help")
        await real.press("ctrl+z", "down", "ctrl+z")
        assert "plainkey" not in real.app.main.composer.text
    assert not holders_of(separate_home, "plainkey")


async def test_the_list_of_models_pastes_a_key_for_the_selected_profile(separate_home: Path) -> None:
    async with real_app(separate_home, work()) as real:
        await real.press("f10")
        await real.shows("work")
        await real.press("ctrl+k")
        await real.shows("API KEY   work")


@pytest.mark.parametrize("command", ["/quit", "/exit"])
async def test_a_command_quits(separate_home: Path, command: str) -> None:
    async with real_app(separate_home, "servers = {}\n") as real:
        await real.press(*command, "enter")
        await until(lambda: not real.app.is_running, what="quit")


async def test_a_command_that_quits_asks_while_a_turn_runs(separate_home: Path) -> None:
    async with Endpoint([says("slow", delay=30.0)]) as endpoint:
        async with real_app(separate_home, work(endpoint.base_url)) as real:
            await real.press(*"hi", "enter")
            await until(lambda: endpoint.requests, what="a running turn")
            await real.press(*"/quit", "enter")
            await real.shows("A turn is running. Stop it and quit?")
            await real.press("escape")
