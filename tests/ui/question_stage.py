"""The app with a question of a server on screen."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest
from textual.pilot import Pilot

from tests.conftest import until
from tests.ui.app_stage import opened
from tests.ui.fakes import FakeRuntime
from tui.core.questions import Questioner
from tui.ui.app.app import McptuiApp
from tui.ui.questions import question_line


@pytest.fixture
def ripe(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys answer a question at once."""
    monkeypatch.setattr(question_line, "GRACE_SECONDS", 0.0)


@asynccontextmanager
async def app_with_person(
    size: tuple[int, int] = (100, 30),
) -> AsyncIterator[tuple[McptuiApp, Pilot[int], Questioner]]:
    async with opened(FakeRuntime(), size) as (app, pilot):
        assert app.main.parts is not None
        yield app, pilot, app.main.parts.approvals


async def shown(app: McptuiApp, dialog: type) -> None:
    await until(lambda: isinstance(app.screen, dialog) and app.screen.is_mounted, what=f"{dialog}")


def asked(question: Coroutine[Any, Any, Any]) -> "asyncio.Task[Any]":
    return asyncio.create_task(question)
