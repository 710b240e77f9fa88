"""Keeping a whole turn, over the real app with a real server."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.configurations import model, server
from tests.conftest import until
from tests.endpoint import Endpoint, calls, says
from tests.ui.real_stage import RealApp, real_app
from tui.addons.tests.screens.keep_dialog import KeepDialog
from tui.addons.tests.screens.keep_turn import KeptTurn

PROTOCOL = Path(__file__).parents[1] / "protocol"
CODE = f"import sys; sys.path.insert(0, {str(PROTOCOL)!r}); import weather_server"
QUESTION = "What is the weather in Hangzhou?"
REPLIES = [calls(("weather__get_weather", {"location": "Hangzhou"})), says("Light rain.")]
CASE = f"""
[[turn]]
question = "{QUESTION}"
calls = ["get_weather location~Hangzhou"]
runs = 5
pass = 0.8
"""


@asynccontextmanager
async def asked(home: Path) -> AsyncIterator[RealApp]:
    """Open the app and ask a question."""
    weather = server("weather", home / "server.py", trusted=True)
    async with Endpoint(REPLIES) as endpoint, real_app(home, f"{model(endpoint)}\n{weather}") as app:
        await app.has_state("weather", "RUNNING")
        app.app.main.composer.insert(QUESTION)
        await app.press("enter")
        await until(lambda: "Light rain." in app.text and not app.app.main.parts.turns.running, what="answer")
        yield app


@pytest.fixture(autouse=True)
def _in_home(separate_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (separate_home / "pyproject.toml").touch()
    (separate_home / "server.py").write_text(CODE, "utf-8")
    monkeypatch.chdir(separate_home)


def is_of_a_turn(app: RealApp) -> bool:
    return isinstance(app.app.screen, KeepDialog) and isinstance(app.app.screen.kept, KeptTurn)


async def keep(app: RealApp) -> None:
    await until(lambda: is_of_a_turn(app), what="the dialog")
    await until(lambda: "get_weather location~Hangzhou" in app.text, what="the call")
    await app.press("ctrl+s")
    await until(lambda: "Kept in weather.mcp.toml" in app.text, what="kept")


async def test_c_on_an_answer_keeps_the_turn(separate_home: Path):
    async with asked(separate_home) as app:
        app.app.main.parts.regions.conversation.focus()
        await app.press("C")
        await keep(app)
    text = (separate_home / "weather.mcp.toml").read_text("utf-8")
    assert "[server]\ncommand = [" in text and text.endswith(CASE)


async def test_ctrl_g_on_a_kept_call_keeps_its_turn_instead(separate_home: Path):
    async with asked(separate_home) as app:
        app.app.main.parts.regions.conversation.focus()
        await app.press("up", "C")
        await until(lambda: isinstance(app.app.screen, KeepDialog), what="the dialog")
        await app.press("ctrl+g")
        await keep(app)
    assert (separate_home / "weather.mcp.toml").read_text("utf-8").endswith(CASE)


async def test_a_turn_is_not_kept_twice_and_its_calls_and_arguments_can_be_left_out(separate_home: Path):
    (separate_home / "weather.mcp.toml").write_text(f'server = "weather"\n{CASE}', "utf-8")
    async with asked(separate_home) as app:
        app.app.main.parts.regions.conversation.focus()
        await app.press("C")
        await until(lambda: is_of_a_turn(app), what="the dialog")
        await until(lambda: "already expects these calls" in app.text, what="that it is kept")
        await app.press("space")
        await until(lambda: "A turn case expects at least one call." in app.text, what="the problem")
        await app.press("space", "down", "space")
        await until(lambda: "○ location~Hangzhou" in app.text, what="the argument is left out")
        await app.press("ctrl+s")
        await until(lambda: "Kept in weather.mcp.toml" in app.text, what="kept")
    text = (separate_home / "weather.mcp.toml").read_text("utf-8")
    assert text.count("[[turn]]") == 2 and f'name = "{QUESTION} (2)"' in text
    assert 'calls = ["get_weather"]' in text
