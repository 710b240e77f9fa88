"""The table of turn cases, over the real app, with runs of the demo model."""

from pathlib import Path

import pytest

from tests.conftest import until
from tests.protocol.turn_stage import asks, turns
from tests.ui.real_stage import RealApp, real_app
from tui.addons.tests.screens.turn_table import TurnTable, open_turn_table
from tui.ui.chat.screen import ChatScreen
from tui.ui.traffic.screen import TrafficScreen

EMPTY = "[models]\n"
SUITE = """\
server = "weather"

[[turn]]
name = "greets"
question = "Hello"
calls = ["get_weather"]
"""
ASKED = 'call get_weather {"location": "Hangzhou"}'


async def run_cases(folder: Path) -> None:
    """Run one case that passes and one that fails twice."""
    (folder / "weather.mcp.toml").write_text(SUITE, "utf-8")
    async with turns(folder, EMPTY, demo=True) as stage:
        await stage.run(
            asks(ASKED, name="rain", calls=("get_weather location~hangzhou",)),
            asks("Hello", name="greets", calls=("get_weather",), runs=2),
        )


async def open_table(app: RealApp) -> None:
    open_turn_table(app.app)
    await until(lambda: "greets" in app.text, what="the table")


async def test_the_table_has_a_line_for_each_case_and_model_and_for_each_of_several_runs(
    separate_home: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(separate_home)
    await run_cases(separate_home)
    async with real_app(separate_home, EMPTY) as app:
        await open_table(app)
        text = app.text
        lines = [line.split() for line in text.splitlines()]
    assert "2 turn cases   1 model   1 failed" in text and "passed  tokens" in text
    assert any(line[2:8] == ["✓", "rain", "demo", "1", "of", "1"] for line in lines), text
    assert any(line[1:7] == ["✗", "greets", "demo", "0", "of", "2"] for line in lines), text
    assert "run 2  ✗ get_weather: not called" in text


async def test_enter_shows_the_conversation_of_a_run_esc_goes_back_and_o_opens_it_in_the_chat(
    separate_home: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(separate_home)
    await run_cases(separate_home)
    async with real_app(separate_home, EMPTY) as app:
        await open_table(app)
        await app.press("enter")
        await app.shows("TURN CASE   rain   demo   passed", "light rain", ASKED, "esc close")
        await app.press("C", "x")  # keys of the conversation in the chat
        await app.press("up", "up", "down", "enter")
        await app.shows("→ The weather")
        await app.press("escape")
        await app.shows("2 turn cases")
        assert not await app.runtime.conversations.sessions()
        await app.press("enter")
        await app.shows("TURN CASE   rain")
        await app.press("o")
        await until(lambda: "light rain" in app.text and isinstance(app.app.screen, ChatScreen), what="it")
        await app.shows(ASKED, "f9 has yours")
        sessions = await app.runtime.conversations.sessions()
    assert [one.title for one in sessions] == [ASKED]


async def test_f4_opens_the_messages_of_a_run(separate_home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(separate_home)
    await run_cases(separate_home)
    async with real_app(separate_home, EMPTY) as app:
        await open_table(app)
        await app.press("f4")
        await until(lambda: isinstance(app.app.screen, TrafficScreen) and "turn:1" in app.text, what="it")
        assert "turn:1" in app.text
        await app.press("escape")
        await until(lambda: isinstance(app.app.screen, TurnTable), what="the table again")


async def test_without_a_run_it_says_what_a_turn_case_is(separate_home: Path):
    async with real_app(separate_home, EMPTY) as app:
        open_turn_table(app.app)
        await until(lambda: "No turn case has run yet." in app.text, what="the table")
        await app.press("enter")
        assert isinstance(app.app.screen, TurnTable)


@pytest.mark.parametrize("key", ["t", "enter"])
async def test_the_list_of_tests_opens_the_table_at_the_selected_turn_case(
    separate_home: Path, monkeypatch: pytest.MonkeyPatch, key: str
):
    monkeypatch.chdir(separate_home)
    await run_cases(separate_home)
    async with real_app(separate_home, EMPTY) as app:
        await app.press("alt+t")
        await until(lambda: "greets" in app.text, what="the list")
        await app.press(key)
        await until(lambda: isinstance(app.app.screen, TurnTable) and "run 2" in app.text, what="the table")
        table = app.app.screen
        assert isinstance(table, TurnTable) and table.list.selected is not None
        assert table.list.selected.key is not None and table.list.selected.key[1] == "greets"
