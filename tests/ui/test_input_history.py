"""The input history: saved between runs, recalled, searched. Secrets are not saved."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from textual.pilot import Pilot

from tests.conftest import until
from tests.ui.app_stage import answered, opened, screen_text, send, shows
from tests.ui.fakes import FakeRuntime, says
from tests.ui.test_commands import keys
from tui.core.secrets.redact import Redactor
from tui.settings.locations import state_dir
from tui.ui.app.app import McptuiApp
from tui.ui.chat.outbox import HistoryEntry, add_to_history, load_history


def kept() -> list[str]:
    return [one.text for one in load_history(state_dir() / "input_history")]


@asynccontextmanager
async def recalling(*texts: str) -> AsyncIterator[tuple[McptuiApp, Pilot[int]]]:
    """Open the app with the history of an earlier run."""
    for text in texts:
        add_to_history(state_dir() / "input_history", HistoryEntry(text))
    async with opened(FakeRuntime()) as (app, pilot):
        await until(lambda: len(app.main.composer.earlier) == len(texts))
        yield app, pilot


async def test_messages_of_this_run_are_in_the_history_of_the_next():
    async with answered("buy milk", "Hello.") as (app, pilot, _):
        await send(pilot, "/model ollama")
        await until(lambda: kept() == ["buy milk", "/model ollama"])
    async with opened(FakeRuntime()) as (app, pilot):
        await until(lambda: len(app.main.composer.earlier) == 2)
        await pilot.press("up", "up")
        assert app.main.composer.text == "buy milk"


async def test_a_secret_is_not_saved_in_the_history():
    runtime = FakeRuntime(says("Hello."))
    runtime.redactor = Redactor({"TOKEN": "hunter2-hunter2"})
    async with opened(runtime) as (_, pilot):
        await send(pilot, "it is hunter2-hunter2 and sk-abcdefghijklmnop1234")
        await until(kept)
    assert kept() == ["it is [redacted:TOKEN] and [redacted:key]"]


async def test_a_paste_is_saved_in_full_and_an_attachment_as_its_name(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.md").write_text("x")
    async with opened(FakeRuntime(says("Hello."))) as (app, pilot):
        app.main.composer.insert(app.main.composer.pastes.keep("x\n" * 50))
        await keys(pilot, " @notes.md")
        await pilot.press("enter", "enter")
        await until(kept)
    assert kept() == ["x\n" * 50 + " [@notes.md] "]
    runtime = FakeRuntime(says("Again."))
    async with opened(runtime) as (app, pilot):
        await until(lambda: len(app.main.composer.earlier))
        await pilot.press("up", "enter")
        await shows(app, "Again.")
        assert [one.name for one in runtime.conversations.asked[0][1]] == ["notes.md"]


async def test_recalling_commands_opens_no_suggestions():
    async with recalling("first", "/model ollama", "/help") as (app, pilot):
        await pilot.press("up", "up", "up")
        assert app.main.composer.text == "first" and not app.main.regions.suggestions.display


async def test_a_search_matches_while_typing_and_enter_inserts_without_sending():
    async with recalling("buy milk", "drink milk", "eat bread") as (app, pilot):
        await pilot.press("ctrl+r")
        await shows(app, "history ›", "1 of 3")
        await keys(pilot, "mil")
        await shows(app, "1 of 2")
        assert app.main.composer.text == "drink milk"
        await pilot.press("ctrl+r")
        assert app.main.composer.text == "buy milk"
        await pilot.press("enter")
        assert app.main.composer.text == "buy milk" and app.main.parts.runtime.conversations.asked == []
        assert "history ›" not in screen_text(app)


async def test_a_search_without_matches_can_be_shortened_escape_restores_the_draft_another_key_acts():
    async with recalling("buy milk") as (app, pilot):
        app.main.composer.insert("draft")
        await pilot.press("ctrl+r", "b", "escape")
        assert app.main.composer.text == "draft"
        await pilot.press("ctrl+r", "b", "x")
        await shows(app, "no matches")
        await pilot.press("backspace")
        await shows(app, "1 of 1")
        await pilot.press("enter")
        assert app.main.composer.text == "buy milk"
        await pilot.press("ctrl+r", "m", "home", "x")
        assert app.main.composer.text == "xbuy milk"


async def test_an_unreadable_history_does_not_prevent_typing():
    path = state_dir() / "input_history"
    path.mkdir(parents=True)
    async with answered("hi", "Hello."):
        pass
