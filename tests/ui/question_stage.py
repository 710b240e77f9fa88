"""The app with a question of a server on screen."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest
from textual.app import App
from textual.pilot import Pilot

from tests.conftest import until
from tests.ui.app_stage import opened, screen_text
from tests.ui.fakes import FakeRuntime
from tests.ui.stage import Stage
from tui.core.ports import TrustQuestion
from tui.core.questions import QuestionAnswer, Questioner
from tui.ui.app.app import McptuiApp
from tui.ui.dialogs.read_pane import ReadPane
from tui.ui.keys import answer_pause
from tui.ui.keys.bindings import KeyOverrides
from tui.ui.questions.question_dialogs import dialog_for


@pytest.fixture
def ripe(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys answer a question at once."""
    monkeypatch.setattr(answer_pause, "GRACE_SECONDS", 0.0)


@asynccontextmanager
async def app_with_person(
    size: tuple[int, int] = (100, 30),
) -> AsyncIterator[tuple[McptuiApp, Pilot[int], Questioner]]:
    async with opened(FakeRuntime(), size) as (app, pilot):
        assert app.main.parts is not None
        yield app, pilot, app.main.parts.approvals


@asynccontextmanager
async def in_dialog(
    question: Any, size: tuple[int, int] = (100, 30)
) -> AsyncIterator[tuple[McptuiApp, Pilot[int], asyncio.Task[Any]]]:
    """Open the app, and its dialog with a question. Yield the task, too."""
    async with app_with_person(size) as (app, pilot, person):
        ask = person.trust if isinstance(question, TrustQuestion) else person.ask
        waiting = asked(ask(question))
        await until(lambda: app.screen is not app.main and app.screen.is_mounted, what="a dialog")
        yield app, pilot, waiting
        waiting.cancel()


@asynccontextmanager
async def dialog_alone(
    question: Any, size: tuple[int, int] = (100, 30)
) -> AsyncIterator[tuple[Stage, Pilot[None], asyncio.Future[QuestionAnswer]]]:
    """Open a minimal app, and the dialog of a question over it. Yield its answer, too."""
    app = Stage()
    async with app.run_test(size=size, notifications=True) as pilot:
        answer = asyncio.get_running_loop().create_future()
        dialog = dialog_for(question, app, KeyOverrides({}), "demo")
        await app.push_screen(dialog, answer.set_result)
        yield app, pilot, answer


async def shown(app: App[Any], dialog: type) -> None:
    await until(lambda: isinstance(app.screen, dialog) and app.screen.is_mounted, what=f"{dialog}")


async def painted(app: App[Any], *, whole: bool = False) -> ReadPane:
    """Wait until the text of a question is on screen, in part or `whole`."""
    pane = app.screen.query_one(ReadPane)

    def seen() -> bool:
        screen_text(app)  # paints
        if not pane.is_ready:
            return False
        top, height = pane.scroll_offset.y, pane.size.height
        if whole:
            return not pane.unread
        return height > 0 and bool(pane.row_count()) and not pane._unread & set(range(top, top + height))

    await until(seen, what="painted")
    return pane


async def read_by(app: App[Any], pilot: Pilot[int], key: str) -> None:
    """Press a key until all of a question has been on screen."""
    pane = await painted(app)
    for _ in range(pane.row_count()):
        if not pane.unread:
            return
        await pilot.press(key)
        await painted(app)
    assert not pane.unread


def asked(question: Coroutine[Any, Any, Any]) -> "asyncio.Task[Any]":
    return asyncio.create_task(question)
