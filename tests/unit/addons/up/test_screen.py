"""The app shows and asks about attached commands, and refuses them."""

import asyncio
from pathlib import Path

from tests.configurations import server
from tests.conftest import until
from tests.ui.real_stage import RealApp, real_app
from tests.unit.addons.up.conftest import SAMPLES
from tests.unit.addons.up.stage import mcptui
from tui.ui.dialogs.question_dialog import QuestionDialog

TABLE = server("weather", SAMPLES / "weather.py")
CALL = ("call", "weather", "get_weather", "location=NYC")


async def opened(app: RealApp) -> None:
    await app.has_state("weather", "RUNNING")
    await until(lambda: app.runtime.door.is_open)


async def test_it_shows_which_commands_use_a_server_and_refuses_them(separate_home: Path):
    async with real_app(separate_home, TABLE) as app:
        await opened(app)
        assert "using weather" in (await mcptui(*CALL)).err
        await app.shows("mcptui call (pid ", "used by 1 command")
        await app.press("f3", "U")
        await app.shows("Commands are refused until you quit.", "  commands are refused")
        refused = await mcptui(*CALL)
        assert refused.code == 0 and "its user refuses commands" in refused.err
        await app.press("U")
        assert "using weather" in (await mcptui(*CALL)).err


async def test_it_asks_once_if_configured(separate_home: Path):
    async with real_app(separate_home, TABLE + '[up]\nattach = "ask"\n') as app:
        await opened(app)
        call = asyncio.create_task(mcptui(*CALL))
        await app.shows("wants to use the servers", "mcptui call (pid ")
        dialog = app.app.screen
        assert isinstance(dialog, QuestionDialog)
        await until(lambda: dialog.answer_delay.accepts_keys)
        await app.press("ctrl+s")
        done = await call
        assert "waiting for your answer in mcptui (pid " in done.err and "using weather" in done.err
        assert "using weather" in (await mcptui(*CALL)).err
